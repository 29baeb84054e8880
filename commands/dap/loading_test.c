/* Tests of the events of progress. */
#include "commands/dap/loading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/base/progress.h"

enum { ROOM = 8192 };

static size_t read_all(int fd, char *text)
{
	ssize_t n = read(fd, text, ROOM - 1);

	assert_true(n > 0);
	text[n] = '\0';
	return (size_t)n;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s in %s", part, text);
}

static void test_events(void **state)
{
	struct dap d = { .progress.answering = 7 };
	char text[ROOM];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	sender_init(&d.sender, ends[1]);
	loading_listen(&d, 0);
	progress("reading tasks", 250, 1000);
	progress_end();
	progress_end();
	loading_ignore();
	progress("ignored", 1, 2);
	progress_end();
	read_all(ends[0], text);
	assert_has(text, "\"event\":\"progressStart\",\"body\":{\"progressId\":\"7.1\"");
	assert_has(text, "\"requestId\":7");
	assert_has(text, "\"cancellable\":true");
	assert_has(text, "\"message\":\"reading tasks: 250 of 1000\"");
	assert_has(text, "\"percentage\":25");
	assert_has(text, "\"event\":\"progressEnd\",\"body\":{\"progressId\":\"7.1\"}");
	assert_null(strstr(text, "ignored"));
	assert_null(interrupt_check());
	close(ends[0]);
	close(ends[1]);
}

/* A client that goes away in the middle: what it waited for is given up. */
static void test_client_gone(void **state)
{
	struct dap d = { 0 };
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	close(ends[1]);
	sender_init(&d.sender, ends[1]);
	loading_listen(&d, 0);
	progress("reading tasks", 1, 0);
	struct error *err CLEANUP(error_freep) = interrupt_check();
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_INTERRUPTED);
	interrupt_clear();
	progress_end();
	loading_ignore();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_client_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
