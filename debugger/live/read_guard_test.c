/* A read that never ends, in a process of its own. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/live/read_guard.h"

enum { OTHER_STATUS = 77 };

static void end_otherwise(void)
{
	_exit(OTHER_STATUS);
}

enum reader { READER_SLEEPS, READER_RUNS };

/* Runs for two seconds, more than any read may sleep during a stop, and ends in the right way. */
static void run_on(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < 2);
	_exit(0);
}

/* The exit status of a process that is in a read. */
static int status_of_read(enum reader reader, bool stopped, void (*end)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		close(STDERR_FILENO);
		read_guard_name(getpid());
		read_guard_start();
		read_guard_begin();
		read_guard_end();
		read_guard_stopped(stopped);
		read_guard_at_end(end);
		read_guard_begin();
		if (reader == READER_RUNS)
			run_on();
		for (;;)
			pause();
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_read_that_blocks_ends_asyncdbg(void **state)
{
	(void)state;
	assert_int_equal(status_of_read(READER_SLEEPS, true, NULL), 2);
	assert_int_equal(status_of_read(READER_SLEEPS, false, NULL), 2);
	assert_int_equal(status_of_read(READER_SLEEPS, true, end_otherwise), OTHER_STATUS);
}

/* On a busy machine a read waits for a CPU for longer than a blocked one may sleep. */
static void a_read_that_runs_is_let_run(void **state)
{
	(void)state;
	assert_int_equal(status_of_read(READER_RUNS, true, NULL), 0);
}

/* The reports of a process with breakpoints that is in a blocked read, which goes on waiting. */
static void a_read_beside_breakpoints_is_reported_once(void **state)
{
	char text[1024];
	size_t len = 0;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		read_guard_start();
		read_guard_stopped(true);
		read_guard_planted(true);
		read_guard_begin();
		for (;;)
			pause();
	}
	close(fds[1]);
	while (len < sizeof(text) - 1 && !memchr(text, '\n', len)) {
		ssize_t n = read(fds[0], text + len, sizeof(text) - 1 - len);

		assert_true(n > 0);
		len += (size_t)n;
	}
	text[len] = '\0';
	assert_non_null(strstr(text, "its breakpoints would stay"));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(read(fds[0], text, sizeof(text)), 0);
	close(fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_that_blocks_ends_asyncdbg),
		cmocka_unit_test(a_read_that_runs_is_let_run),
		cmocka_unit_test(a_read_beside_breakpoints_is_reported_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
