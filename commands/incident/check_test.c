/* Tests of `check` on a live process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/shell/execute.h"
#include "commands/test/answer.h"

/* A child that does nothing. */
static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static void end_child(const pid_t *pid)
{
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
}

/* Under --exec commands share a snapshot; check must take a second one nevertheless. */
static void the_second_look_is_another_one(void **state)
{
	pid_t pid CLEANUP(end_child) = start_child();
	struct asyncdbg_options options = { .pid = pid };
	struct session s CLEANUP(session_close) = { 0 };
	enum status status = STATUS_OK;
	const struct snapshot *first;
	CAUGHT(c);

	(void)state;
	assert_null(session_open(&options, &s));
	assert_null(session_snapshot(&s, WANT_TASKS | WANT_RUNNING | WANT_HOLDINGS | WANT_STACKS,
	                             NULL, &first));
	asyncdbg_reuse_snapshot(s.handle, true);
	catch (&c, TEXT);
	execute_line(&s, c.out, "check --interval 10ms", &status);
	assert_ptr_not_equal(asyncdbg_last(s.handle), first);
	assert_true(asyncdbg_reuse_snapshot(s.handle, true));
	/* With --interval 0 there is only one snapshot. */
	first = asyncdbg_last(s.handle);
	execute_line(&s, c.out, "check --interval 0", &status);
	assert_ptr_equal(asyncdbg_last(s.handle), first);
	fflush(c.options.answers);
	assert_non_null(strstr(c.answers, "long-poll: it needs two looks"));
}

/* Tasks that wait are read at the second look alone; a single look has to read all tasks. */
static void the_first_look_is_at_what_runs(void **state)
{
	pid_t pid CLEANUP(end_child) = start_child();
	struct asyncdbg_options options = { .pid = pid };
	struct session s CLEANUP(session_close) = { 0 };
	enum status status = STATUS_OK;
	CAUGHT(c);

	(void)state;
	assert_int_equal(asyncdbg_check_wants(NULL, 1), ASYNCDBG_CHECK_WANTS);
	assert_null(session_open(&options, &s));
	assert_int_equal(asyncdbg_check_wants(s.handle, 0), ASYNCDBG_CHECK_WANTS);
	assert_int_equal(asyncdbg_check_wants(s.handle, 1), WANT_RUNNING);
	catch (&c, TEXT);
	execute_line(&s, c.out, "check --interval 10ms", &status);
	assert_int_equal(asyncdbg_last_wants(s.handle), ASYNCDBG_CHECK_WANTS);
}

/* When no runtime was found, no command reports that all is well or writes an empty document. */
static void no_verdict_on_what_is_not_understood(void **state)
{
	static const char *const lines[] = { "check --interval 0", "async deadlocks", "async graph",
		                             "async graph --dot -" };
	pid_t pid CLEANUP(end_child) = start_child();
	struct asyncdbg_options options = { .pid = pid };
	struct session s CLEANUP(session_close) = { 0 };
	const struct snapshot *snap;

	(void)state;
	assert_null(session_open(&options, &s));
	asyncdbg_reuse_snapshot(s.handle, true);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		enum status status = STATUS_OK;
		CAUGHT(c);

		assert_null(session_snapshot(
			&s, WANT_TASKS | WANT_RUNNING | WANT_HOLDINGS | WANT_STACKS, NULL, &snap));
		((struct snapshot *)(uintptr_t)snap)->others =
			"this program has async code, and no tokio";
		catch (&c, JSON);
		assert_false(execute_line(&s, c.out, lines[i], &status));
		assert_int_equal(status, STATUS_NOTHING);
		fflush(c.options.answers);
		fflush(c.options.messages);
		assert_string_equal(c.answers, "");
		assert_non_null(strstr(c.messages, "nothing can be said of its tasks"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_look_is_another_one),
		cmocka_unit_test(the_first_look_is_at_what_runs),
		cmocka_unit_test(no_verdict_on_what_is_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
