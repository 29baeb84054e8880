/* A read that never ends, in a process of its own. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/live/proc.h"
#include "debugger/live/read_guard.h"
#include "debugger/test/child.h"
#include "debugger/test/controlled.h"

enum { OTHER_STATUS = 77 };

static void end_otherwise(void)
{
	_exit(OTHER_STATUS);
}

enum reader { READER_SLEEPS, READER_RUNS };

/* How often the thread of the guard, the only other one, has slept: once for each tick. */
static long guard_sleeps(void)
{
	SCRATCH(tmp);
	DIR *threads = opendir("/proc/self/task");
	long n = 0;
	size_t len;

	for (struct dirent *e; threads && (e = readdir(threads));) {
		const char *name = arena_printf(&tmp, "task/%s/status", e->d_name);

		if (*e->d_name != '.' && atoi(e->d_name) != getpid())
			n = proc_status_number(proc_read(&tmp, getpid(), name, &len),
			                       "voluntary_ctxt_switches", 0);
	}
	closedir(threads);
	return n;
}

/* Runs for twice the ticks that a read may sleep during a stop, and ends in the right way. */
static void run_on(void)
{
	while (guard_sleeps() < 10)
		;
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

static unsigned char *code(void)
{
	return (unsigned char *)(uintptr_t)child_nothing;
}

/* Attaches to the child, with a breakpoint in its code, and then reads what nobody serves. */
static void read_under_control(pid_t pid)
{
	const struct tracer_break place = { .addr = (uintptr_t)code() };
	struct tracer_request r = { .kind = TRACER_BREAK, .breaks = { &place, 1 } };
	struct tracer *tr = attach(pid);

	if (tracer_request(tr, &r))
		_exit(OTHER_STATUS);
	read_guard_start();
	read_guard_begin();
	for (;;)
		pause();
}

/* A breakpoint that stayed in the code of the child, which starts threads there, would end it. */
static void a_process_under_control_runs_on(void **state)
{
	CHILD(c, NULL, child_churn);
	int status;

	(void)state;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(STDERR_FILENO);
		read_under_control(c.pid);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
	for (int i = 0; i < 20; i++)
		child_wait_progress(&c);
	assert_int_equal(waitpid(c.pid, &status, WNOHANG), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_that_blocks_ends_asyncdbg),
		cmocka_unit_test(a_read_that_runs_is_let_run),
		cmocka_unit_test(a_process_under_control_runs_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
