/* A read that never ends, in a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/live/read_guard.h"

enum { OTHER_STATUS = 77 };

static void end_otherwise(void)
{
	_exit(OTHER_STATUS);
}

/* The exit status of a process whose read blocks. */
static int blocked(bool stopped, void (*end)(void))
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
	assert_int_equal(blocked(true, NULL), 2);
	assert_int_equal(blocked(false, NULL), 2);
	assert_int_equal(blocked(true, end_otherwise), OTHER_STATUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_that_blocks_ends_asyncdbg),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
