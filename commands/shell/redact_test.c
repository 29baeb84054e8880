/* Tests of the user's list of secret names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/shell/redact.h"

static char path[] = "/tmp/redact_test_XXXXXX";

static void write_file(const char *text, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

static bool has(const struct secrets *s, const char *name)
{
	return secrets_has(s, name, strlen(name));
}

static void the_list_of_a_file(void **state)
{
	static const char text[] = "# ours\n\n  Cookie \t# of sessions\r\n-key\nssn";
	struct secrets s CLEANUP(secrets_free) = { 0 };
	SCRATCH(a);

	(void)state;
	write_file(text, sizeof(text) - 1);
	assert_null(redact_read(&a, path, &s));
	assert_true(has(&s, "session_cookie"));
	assert_true(has(&s, "ssn"));
	assert_true(has(&s, "token"));
	assert_false(has(&s, "api_key"));
}

static void without_a_file(void **state)
{
	struct secrets s CLEANUP(secrets_free) = { 0 };
	SCRATCH(a);

	(void)state;
	assert_null(redact_read(&a, "/nowhere/redact", &s));
	assert_true(has(&s, "api_key"));
}

/* An invalid list is an error, so that no value is shown by mistake. Reading it never blocks. */
static void what_is_no_list(void **state)
{
	static const char *const texts[] = { "two words\n", "key=1\n", "--key\n", "a\x01\n" };
	static char large[70000];
	struct secrets s CLEANUP(secrets_free) = { 0 };
	SCRATCH(a);

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_file(texts[i], strlen(texts[i]));
		struct error *err = redact_read(&a, path, &s);
		assert_non_null(err);
		assert_non_null(strstr(err->message, ":1: "));
		error_free(err);
	}
	memset(large, '\n', sizeof(large));
	write_file(large, sizeof(large));
	struct error *err = redact_read(&a, path, &s);
	assert_non_null(err);
	error_free(err);
	write_file("co\0okie\n", 8);
	assert_non_null(err = redact_read(&a, path, &s));
	error_free(err);
	assert_non_null(err = redact_read(&a, "/dev/null", &s));
	error_free(err);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_non_null(err = redact_read(&a, path, &s));
	error_free(err);
	assert_int_equal(s.words.n, 0);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd >= 0)
		close(fd);
	return fd < 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_of_a_file),
		cmocka_unit_test(without_a_file),
		cmocka_unit_test(what_is_no_list),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
