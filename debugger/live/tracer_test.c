/* Tests of the tracer: launched and attached programs, their events, and their state afterwards. */
#include "debugger/live/tracer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/target/target.h"
#include "debugger/test/child.h"
#include "debugger/test/program.h"

static const uint64_t long_enough = UINT64_C(60) * 1000000000;
static char events_path[PROGRAM_PATH + 16];

static void expect_ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

static void tracer_freep(struct tracer **tr)
{
	tracer_free(*tr);
}

static struct event next(struct tracer *tr)
{
	struct event e = { 0 };
	bool found = false;

	expect_ok(tracer_wait_event(tr, long_enough, &e, &found));
	assert_true(found);
	assert_int_equal(e.lost, 0);
	return e;
}

static pid_t launch(struct tracer *tr, const char *path, const char *what)
{
	char *argv[] = { (char *)(uintptr_t)path, (char *)(uintptr_t)what, NULL };
	struct tracer_request r = { .kind = TRACER_LAUNCH, .launch = { path, argv, 0 } };

	expect_ok(tracer_request(tr, &r));
	return r.launch.pid;
}

static void go(struct tracer *tr, enum tracer_request_kind kind)
{
	struct tracer_request r = { .kind = kind };

	expect_ok(tracer_request(tr, &r));
}

static void attach(struct tracer *tr, pid_t pid)
{
	struct tracer_request r = { .kind = TRACER_ATTACH, .attach = { pid } };

	expect_ok(tracer_request(tr, &r));
}

static void expect_error(struct tracer *tr, struct tracer_request r, const char *part)
{
	struct error *err CLEANUP(error_freep) = tracer_request(tr, &r);

	assert_non_null(err);
	if (!strstr(err->message, part))
		fail_msg("'%s' lacks '%s'", err->message, part);
}

static long traced_by(pid_t pid)
{
	char path[64], line[256];
	long tracer = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "TracerPid: %ld", &tracer);
	if (f)
		fclose(f);
	return tracer;
}

static void test_exit_and_exec(void **state)
{
	struct tracer *tr CLEANUP(tracer_freep) = tracer_new();
	pid_t pid = launch(tr, events_path, "exec");

	(void)state;
	assert_true(traced_by(pid) > 0);
	assert_int_equal(child_state(pid, pid), 't');
	struct event e = next(tr);
	assert_int_equal(e.kind, EVENT_EXEC);
	assert_int_equal(e.tid, pid);
	go(tr, TRACER_CONTINUE);
	/* The other thread ends at execve(). */
	while ((e = next(tr)).kind == EVENT_NEW_THREAD || e.kind == EVENT_THREAD_EXIT)
		;
	assert_int_equal(e.kind, EVENT_EXEC);
	assert_int_equal(e.tid, pid);
	e = next(tr);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 7);
	expect_error(tr, (struct tracer_request){ .kind = TRACER_CONTINUE }, "has ended");
}

static void expect_threads(const char *what, int number)
{
	struct tracer *tr CLEANUP(tracer_freep) = tracer_new();
	pid_t pid = launch(tr, events_path, what);
	int begun = 0, ended = 0;
	struct event e;

	go(tr, TRACER_CONTINUE);
	while ((e = next(tr)).kind != EVENT_EXIT) {
		begun += e.kind == EVENT_NEW_THREAD;
		ended += e.kind == EVENT_THREAD_EXIT;
		if (e.kind == EVENT_NEW_THREAD)
			assert_int_not_equal(e.child, pid);
	}
	assert_int_equal(e.status, 0);
	assert_int_equal(begun, number);
	assert_int_equal(ended, number);
}

static void test_threads(void **state)
{
	(void)state;
	expect_threads("threads", 100);
}

/*
 * A thread stops for the first time, continues and ends before the tracer has seen the clone event
 * of the thread that started it.
 */
static void test_threads_that_end_before_their_parents_event(void **state)
{
	const struct sched_param none = { 0 };
	cpu_set_t before, one;
	int processor = sched_getcpu();

	(void)state;
	assert_true(processor >= 0);
	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	expect_threads("urgent threads", 101);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void test_children(void **state)
{
	struct tracer *tr CLEANUP(tracer_freep) = tracer_new();
	pid_t pid = launch(tr, events_path, "children");
	static const enum event_kind kinds[] = { EVENT_EXEC,  EVENT_FORK,   EVENT_SIGNAL,
		                                 EVENT_VFORK, EVENT_SIGNAL, EVENT_CLONE };

	(void)state;
	go(tr, TRACER_CONTINUE);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct event e = next(tr);

		assert_int_equal(e.kind, kinds[i]);
		assert_int_equal(e.tid, pid);
		if (e.kind == EVENT_SIGNAL)
			assert_int_equal(e.signal, SIGCHLD);
		else if (e.kind != EVENT_EXEC)
			assert_int_equal(e.child > 0, 1);
	}
	/* The program has waited for its children: they ran and ended without us. */
	struct event e = next(tr);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 1 + 2 + 3);
}

static void test_signals(void **state)
{
	struct tracer *tr CLEANUP(tracer_freep) = tracer_new();
	struct event e;

	(void)state;
	launch(tr, events_path, "signals");
	go(tr, TRACER_CONTINUE);
	assert_int_equal(next(tr).kind, EVENT_EXEC);
	e = next(tr);
	assert_int_equal(e.kind, EVENT_SIGNAL);
	assert_int_equal(e.signal, SIGUSR1);
	/* The handler of the first signal raises the second one. */
	e = next(tr);
	assert_int_equal(e.signal, SIGUSR2);
	e = next(tr);
	assert_int_equal(e.kind, EVENT_SIGNAL);
	assert_int_equal(e.signal, SIGABRT);
	e = next(tr);
	assert_int_equal(e.kind, EVENT_KILLED);
	assert_int_equal(e.signal, SIGABRT);
}

static void test_programs_that_cannot_be_launched(void **state)
{
	struct tracer *tr CLEANUP(tracer_freep) = tracer_new();
	char *argv[] = { NULL, NULL };

	(void)state;
	expect_error(tr,
	             (struct tracer_request){ .kind = TRACER_LAUNCH,
	                                      .launch = { "/nonexistent", argv, 0 } },
	             "No such file");
	launch(tr, events_path, "threads");
	expect_error(tr,
	             (struct tracer_request){ .kind = TRACER_LAUNCH,
	                                      .launch = { events_path, argv, 0 } },
	             "already being traced");
}

static void test_requests_without_a_program(void **state)
{
	struct tracer *tr CLEANUP(tracer_freep) = tracer_new();

	(void)state;
	expect_error(tr, (struct tracer_request){ .kind = TRACER_WRITE_MEMORY }, "no program");
	expect_error(tr, (struct tracer_request){ .kind = TRACER_STEP }, "no program");
	expect_error(tr, (struct tracer_request){ .kind = TRACER_DETACH }, "no program");
}

static void test_kill(void **state)
{
	struct tracer *tr CLEANUP(tracer_freep) = tracer_new();

	(void)state;
	launch(tr, events_path, "wait");
	assert_int_equal(next(tr).kind, EVENT_EXEC);
	go(tr, TRACER_KILL);
	struct event e = next(tr);
	assert_int_equal(e.kind, EVENT_KILLED);
	assert_int_equal(e.signal, SIGKILL);
}

static void test_the_end_of_the_tracer_kills_what_it_launched(void **state)
{
	struct tracer *tr = tracer_new();
	pid_t pid = launch(tr, events_path, "wait");

	(void)state;
	go(tr, TRACER_CONTINUE);
	tracer_free(tr);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void test_a_launched_program_that_is_detached(void **state)
{
	struct tracer *tr = tracer_new();
	pid_t pid = launch(tr, events_path, "wait");

	(void)state;
	go(tr, TRACER_DETACH);
	tracer_free(tr);
	assert_int_equal(traced_by(pid), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_attach(void **state)
{
	CHILD(c, NULL, child_churn);
	struct tracer *tr = tracer_new();
	bool found;
	struct event e;

	(void)state;
	attach(tr, c.pid);
	child_wait_progress(&c);
	for (int i = 0; i < 20; i++)
		next(tr);
	/* Signals are delivered even if no caller waits for events. */
	kill(c.pid, SIGRTMIN);
	while (atomic_load(&c.shared->signals) == 0)
		sched_yield();
	do
		e = next(tr);
	while (e.kind != EVENT_SIGNAL);
	assert_int_equal(e.signal, SIGRTMIN);
	go(tr, TRACER_DETACH);
	assert_int_equal(traced_by(c.pid), 0);
	do
		expect_ok(tracer_wait_event(tr, 0, &e, &found));
	while (found);
	attach(tr, c.pid);
	tracer_free(tr);
	assert_int_equal(traced_by(c.pid), 0);
	child_wait_progress(&c);
}

static void test_a_stop_in_a_session(void **state)
{
	CHILD(c, NULL, child_churn);
	struct tracer *tr = tracer_new();
	const struct target_options options = { .tracer = tr };
	struct target *t = NULL;

	(void)state;
	attach(tr, c.pid);
	expect_ok(target_live_open(c.pid, &options, &t));
	for (int round = 0; round < 50; round++) {
		expect_ok(target_stop(t));
		assert_true(t->nthreads >= 1 + CHILD_WORKERS);
		for (size_t i = 0; i < t->nthreads; i++) {
			char now = child_state(c.pid, t->threads[i].tid);
			assert_true(now == 't' || !t->threads[i].has_regs);
		}
		target_resume(t);
		child_wait_progress(&c);
		assert_true(traced_by(c.pid) > 0);
	}
	target_close(t);
	assert_true(traced_by(c.pid) > 0);
	tracer_free(tr);
	child_wait_progress(&c);
}

static void test_job_control(void **state)
{
	CHILD(c, NULL, child_pause);
	struct tracer *tr CLEANUP(tracer_freep) = tracer_new();
	struct event e;

	(void)state;
	attach(tr, c.pid);
	kill(c.pid, SIGSTOP);
	e = next(tr);
	assert_int_equal(e.kind, EVENT_SIGNAL);
	e = next(tr);
	assert_int_equal(e.kind, EVENT_STOPPED);
	assert_int_equal(e.signal, SIGSTOP);
	for (int i = 0; i < CHILD_WORKERS; i++) {
		while (child_state(c.pid, c.shared->workers[i].tid) != 't')
			sched_yield();
	}
	kill(c.pid, SIGCONT);
	child_wait_progress(&c);
}

static void test_the_caller_keeps_its_mask_and_policy(void **state)
{
	CHILD(c, NULL, child_pause);
	const struct target_options options = { 0 };
	struct target *t CLEANUP(target_closep) = NULL;
	sigset_t before, mask;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	expect_ok(target_live_open(c.pid, &options, &t));
	for (int round = 0; round < 2; round++) {
		expect_ok(target_stop(t));
		pthread_sigmask(SIG_SETMASK, NULL, &mask);
		for (int signal = 1; signal < NSIG; signal++)
			assert_int_equal(sigismember(&mask, signal), sigismember(&before, signal));
		assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
		target_resume(t);
		pthread_sigmask(SIG_SETMASK, NULL, &mask);
		for (int signal = 1; signal < NSIG; signal++)
			assert_int_equal(sigismember(&mask, signal), sigismember(&before, signal));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_and_exec),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_that_end_before_their_parents_event),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_programs_that_cannot_be_launched),
		cmocka_unit_test(test_requests_without_a_program),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_the_end_of_the_tracer_kills_what_it_launched),
		cmocka_unit_test(test_a_launched_program_that_is_detached),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_a_stop_in_a_session),
		cmocka_unit_test(test_job_control),
		cmocka_unit_test(test_the_caller_keeps_its_mask_and_policy),
	};
	const char *directory = program_directory();

	snprintf(events_path, sizeof(events_path), "%s/events", directory);
	if (!program_build(directory, "events", "events.c", ""))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	program_remove_directory(directory);
	return failed;
}
