/* Tests of patient_file.c, with pipes that nobody reads. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/incident/patient_file.h"

static void fill(int fd)
{
	static const char zeros[4096];

	while (patient_file_write(fd, zeros, sizeof(zeros)) > 0)
		;
	assert_int_equal(errno, EAGAIN);
}

static void what_is_read_comes_at_once(void **state)
{
	char text[8];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	struct patient_file *p = patient_file_new(fds[1], 60);
	fputs("line\n", patient_file_stream(p));
	assert_int_equal(read(fds[0], text, sizeof(text)), 5);
	patient_file_end(p, 60);
	close(fds[0]);
	close(fds[1]);
}

/* Nothing waits, and nothing is lost for a reader that comes in time. */
static void what_is_not_read_is_kept(void **state)
{
	char bytes[4096], last[9] = "";
	size_t total = 0;
	int fds[2];
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	fill(fds[1]);
	struct patient_file *p = patient_file_new(fds[1], 0);
	for (int i = 0; i < 1000; i++)
		fprintf(patient_file_stream(p), "line %03d\n", i);
	pid_t reader = fork();
	if (reader == 0) {
		close(fds[1]);
		while ((n = read(fds[0], bytes, sizeof(bytes))) > 0) {
			total += (size_t)n;
			if (n >= 9)
				memcpy(last, bytes + n - 9, 8);
		}
		_exit(total >= 9000 && strcmp(last, "line 999") == 0 ? 0 : 1);
	}
	patient_file_end(p, 60);
	close(fds[1]);
	int status;
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
	close(fds[0]);
}

static void a_reader_that_has_gone_ends_it(void **state)
{
	int fds[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	fill(fds[1]);
	struct patient_file *p = patient_file_new(fds[1], 0);
	fputs("line\n", patient_file_stream(p));
	close(fds[0]);
	patient_file_end(p, 600);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_comes_at_once),
		cmocka_unit_test(what_is_not_read_is_kept),
		cmocka_unit_test(a_reader_that_has_gone_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
