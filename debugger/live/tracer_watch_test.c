/*
 * Tests of hardware breakpoints and watchpoints. A child is a copy of the test process, as in
 * tracer_control_test.c. They are skipped where the kernel has or permits none.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cmocka.h>

#include "debugger/live/tracer.h"
#include "debugger/test/child.h"
#include "debugger/test/controlled.h"
#include "debugger/test/program.h"

enum { CALLERS = 3, CALLS = 100, CODE = 16, KILLS = 100 };

static const uint64_t long_enough = UINT64_C(60) * 1000000000;

/* Memory that test and child share. word and bytes are at the same addresses in both. */
static struct {
	volatile uint64_t word;
	volatile uint8_t bytes[8];
	atomic_ulong calls, done, hits;
} * counts;

static __attribute__((noinline)) void called(void)
{
	atomic_fetch_add(&counts->calls, 1);
	counts->word = atomic_load(&counts->calls);
}

static struct error *watch(struct tracer *tr, const volatile void *addr, unsigned len,
                           enum tracer_watch_kind kind)
{
	struct tracer_request r = { .kind = TRACER_WATCH,
		                    .watch = { (uint64_t)(uintptr_t)addr, len, kind } };

	return tracer_request(tr, &r);
}

static struct error *unwatch(struct tracer *tr, const volatile void *addr, unsigned len,
                             enum tracer_watch_kind kind)
{
	struct tracer_request r = { .kind = TRACER_UNWATCH,
		                    .watch = { (uint64_t)(uintptr_t)addr, len, kind } };

	return tracer_request(tr, &r);
}

static struct error *watch_calls(struct tracer *tr)
{
	return watch(tr, (const void *)(uintptr_t)called, 0, TRACER_EXECUTED);
}

static struct error *watch_word(struct tracer *tr)
{
	return watch(tr, &counts->word, sizeof(counts->word), TRACER_WRITTEN);
}

static bool is_original(pid_t pid)
{
	unsigned char now[CODE];
	void *code = (void *)(uintptr_t)called;
	struct iovec local = { now, CODE }, remote = { code, CODE };

	assert_int_equal(process_vm_readv(pid, &local, 1, &remote, 1, 0), CODE);
	return memcmp(now, code, CODE) == 0;
}

static void *call_often(void *arg)
{
	for (int i = 0; i < CALLS; i++)
		called();
	return arg;
}

static void wait_signal(void)
{
	while (atomic_load(&child_shared_->signals) == 0)
		sched_yield();
}

/* The threads start when the tracer is there: they are new ones. */
static void call_and_end(void)
{
	pthread_t threads[CALLERS];

	wait_signal();
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, call_often, NULL);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
}

static void call_forever(void)
{
	for (;;)
		called();
}

static void run_to_the_end(struct tracer *tr, pid_t pid, enum event_kind kind,
                           const volatile void *addr)
{
	unsigned long hits = 0;
	struct event e;

	for (;; hits++) {
		go_unless_ended(tr);
		e = next_halt(tr);
		if (e.kind != kind)
			break;
		assert_int_equal(e.addr, (uintptr_t)addr);
		assert_int_not_equal(e.tid, pid);
		assert_int_equal(child_state(pid, e.tid), 't');
		assert_int_equal(child_state(pid, pid), 't');
		/* Others may be between the call and the write, or have hit it without a report. */
		assert_true(atomic_load(&counts->calls) <= hits + CALLERS);
		assert_true(atomic_load(&counts->calls) + CALLERS > hits);
	}
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 0);
	assert_int_equal(hits, CALLERS * CALLS);
}

static void test_every_call_is_reported_once(void **state)
{
	CHILD(c, NULL, call_and_end);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);

	(void)state;
	atomic_store(&counts->calls, 0);
	expect_ok(watch_calls(tr));
	expect_ok(watch_calls(tr)); /* again: it is there */
	assert_true(is_original(c.pid));
	kill(c.pid, SIGRTMIN);
	run_to_the_end(tr, c.pid, EVENT_BREAKPOINT, (const void *)(uintptr_t)called);
}

static void test_every_write_is_reported_once(void **state)
{
	CHILD(c, NULL, call_and_end);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);

	(void)state;
	atomic_store(&counts->calls, 0);
	expect_ok(watch_word(tr));
	kill(c.pid, SIGRTMIN);
	run_to_the_end(tr, c.pid, EVENT_WATCH, &counts->word);
}

static void touch(void)
{
	wait_signal();
	counts->bytes[0] = 1;
	counts->bytes[1] = 2;
	counts->bytes[3] = counts->bytes[2];
	counts->word = 7;
}

static void test_sizes_and_reads(void **state)
{
	CHILD(c, NULL, touch);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	const volatile void *expected[] = { &counts->bytes[1], &counts->bytes[2], &counts->bytes[2],
		                            &counts->word };

	(void)state;
	expect_ok(watch(tr, &counts->bytes[0], 1, TRACER_WRITTEN));
	expect_ok(unwatch(tr, &counts->bytes[0], 1, TRACER_WRITTEN));
	expect_ok(unwatch(tr, &counts->bytes[0], 1, TRACER_WRITTEN)); /* there is none */
	expect_ok(watch(tr, &counts->bytes[1], 1, TRACER_WRITTEN));
	expect_ok(watch(tr, &counts->bytes[2], 2, TRACER_ACCESSED));
	expect_ok(watch(tr, &counts->word, 4, TRACER_WRITTEN));
	kill(c.pid, SIGRTMIN);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		go(tr, TRACER_CONTINUE);
		struct event e = next_halt(tr);

		assert_int_equal(e.kind, EVENT_WATCH);
		assert_int_equal(e.addr, (uintptr_t)expected[i]);
	}
	go(tr, TRACER_CONTINUE);
	assert_int_equal(next_halt(tr).kind, EVENT_EXIT);
}

static void expect_refused(struct error *err, const char *text)
{
	assert_non_null(err);
	if (!strstr(err->message, text))
		fail_msg("%s", err->message);
	error_free(err);
}

static void test_errors(void **state)
{
	CHILD(c, NULL, child_pause);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);

	(void)state;
	expect_refused(watch(tr, &counts->bytes[0], 3, TRACER_WRITTEN), "1, 2, 4 or 8");
	expect_refused(watch(tr, &counts->bytes[0], 16, TRACER_WRITTEN), "1, 2, 4 or 8");
	expect_refused(watch(tr, &counts->bytes[1], 2, TRACER_WRITTEN), "not a multiple");
	for (int i = 0; i < TRACER_MAX_WATCHES; i++)
		expect_ok(watch(tr, &counts->bytes[i], 1, TRACER_WRITTEN));
	expect_refused(watch(tr, &counts->bytes[4], 1, TRACER_WRITTEN), "of this CPU are in use");
	expect_ok(unwatch(tr, &counts->bytes[0], 1, TRACER_WRITTEN));
	expect_ok(watch(tr, &counts->bytes[4], 1, TRACER_WRITTEN));
	go(tr, TRACER_CONTINUE);
	expect_refused(watch(tr, &counts->bytes[0], 1, TRACER_WRITTEN), "is running");
}

/* Waits until a child calls on; false: it has ended. */
static bool calls_on(pid_t pid)
{
	unsigned long before = atomic_load(&counts->calls);

	while (atomic_load(&counts->calls) <= before + 1) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
			return false;
		/* Stops of a thread that we trace are reported, too. */
		if (info.si_pid && info.si_code != CLD_TRAPPED)
			return false;
		sched_yield();
	}
	return true;
}

/* The middle of everything: some threads have hit it, others are about to. */
static void test_an_end_lets_the_program_run(void **state)
{
	(void)state;
	for (int round = 0; round < 12; round++) {
		CHILD(c, NULL, call_forever);
		struct tracer *tr = attach(c.pid);

		expect_ok(round & 4 ? watch_calls(tr) : watch_word(tr));
		go(tr, TRACER_CONTINUE);
		if (round % 3)
			next_halt(tr);
		if (round % 2)
			go(tr, TRACER_DETACH);
		tracer_free(tr);
		assert_true(calls_on(c.pid));
		child_wait_progress(&c);
	}
}

static void test_a_step_reports_a_write(void **state)
{
	CHILD(c, NULL, call_forever);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	bool found = false;
	struct event e;

	(void)state;
	expect_ok(watch_calls(tr));
	go(tr, TRACER_CONTINUE);
	pid_t tid = next_halt(tr).tid;
	expect_ok(watch_word(tr));
	uint64_t before = counts->word;
	while (!found) {
		struct tracer_request r = { .kind = TRACER_STEP, .step = { .tid = tid } };

		assert_int_equal(counts->word, before);
		expect_ok(tracer_request(tr, &r));
		assert_true(r.step.done);
		expect_ok(tracer_wait_event(tr, 0, &e, &found));
	}
	assert_int_equal(e.kind, EVENT_WATCH);
	assert_int_equal(counts->word, before + 1);
	/* Both, by turns. */
	for (int i = 0; i < 20; i++) {
		go(tr, TRACER_CONTINUE);
		e = next_halt(tr);
		assert_int_equal(e.kind, i % 2 ? EVENT_WATCH : EVENT_BREAKPOINT);
		assert_int_equal(counts->word, before + 1 + (unsigned)(i + 1) / 2);
	}
}

static void count_urgent(int signal)
{
	(void)signal;
	atomic_fetch_add(&counts->done, 1);
}

static void handle_urgent(void)
{
	signal(SIGURG, count_urgent);
	atomic_store(&counts->done, 0);
}

/* A handler of the program sees its own signals, and none of ours. */
static void test_other_urgent_signals_come_through(void **state)
{
	CHILD(c, handle_urgent, call_forever);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);

	(void)state;
	expect_ok(watch_word(tr));
	for (int i = 0; i < CALLS; i++) {
		go(tr, TRACER_CONTINUE);
		assert_int_equal(next_halt(tr).kind, EVENT_WATCH);
	}
	assert_int_equal(atomic_load(&counts->done), 0);
	kill(c.pid, SIGURG);
	expect_ok(unwatch(tr, &counts->word, sizeof(counts->word), TRACER_WRITTEN));
	go(tr, TRACER_CONTINUE);
	while (atomic_load(&counts->done) == 0)
		assert_true(calls_on(c.pid));
	assert_int_equal(atomic_load(&counts->done), 1);
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void start_processes(void)
{
	static char *const argv[] = { (char *)(uintptr_t) "true", NULL };
	volatile int bad = 0;
	pid_t pid;

	wait_signal();
	for (volatile int i = 0; i < 20; i++) {
		if ((pid = fork()) == 0) {
			called();
			_exit(0);
		}
		bad += status_of(pid) != 0;
		if ((pid = vfork()) == 0) {
			called();
			_exit(0);
		}
		bad += status_of(pid) != 0;
		bad += posix_spawnp(&pid, "true", NULL, NULL, argv, environ) != 0 ||
		       status_of(pid) != 0;
	}
	called();
	_exit(bad);
}

static void test_new_processes_have_none(void **state)
{
	CHILD(c, NULL, start_processes);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);

	(void)state;
	expect_ok(watch_calls(tr));
	kill(c.pid, SIGRTMIN);
	go(tr, TRACER_CONTINUE);
	struct event e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_BREAKPOINT);
	assert_int_equal(e.tid, c.pid);
	go(tr, TRACER_CONTINUE);
	e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 0);
}

static void become_another(void)
{
	wait_signal();
	execlp("sleep", "sleep", "1000", NULL);
	_exit(1);
}

static void test_exec_removes_them(void **state)
{
	CHILD(c, NULL, become_another);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);

	(void)state;
	for (int i = 0; i < TRACER_MAX_WATCHES; i++)
		expect_ok(watch(tr, &counts->bytes[i], 1, TRACER_WRITTEN));
	kill(c.pid, SIGRTMIN);
	go(tr, TRACER_CONTINUE);
	assert_int_equal(next_halt(tr).kind, EVENT_EXEC);
	/* There is room again. */
	for (int i = 0; i < TRACER_MAX_WATCHES; i++)
		expect_ok(watch(tr, (void *)((uintptr_t)8 * (unsigned)(i + 1)), 1, TRACER_WRITTEN));
}

/* ---- a tracer that is killed ---- */

/* A debugger in a process of its own, which continues at each hit. */
static _Noreturn void debug(pid_t pid, bool calls)
{
	struct tracer *tr = attach(pid);
	struct event e;
	bool found;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	expect_ok(calls ? watch_calls(tr) : watch_word(tr));
	for (;;) {
		go(tr, TRACER_CONTINUE);
		expect_ok(tracer_wait_event(tr, long_enough, &e, &found));
		atomic_fetch_add(&counts->hits, e.halted);
	}
}

static void let_all_attach(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	atomic_store(&child_shared_->quit, true); /* its workers only cost time */
}

static void *call_forever_thread(void *arg)
{
	call_forever();
	return arg;
}

static void call_in_two_threads(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call_forever_thread, NULL);
	call_forever();
}

static void kill_debuggers(bool calls)
{
	CHILD(c, let_all_attach, call_in_two_threads);

	for (unsigned i = 0; i < KILLS; i++) {
		atomic_store(&counts->hits, 0);
		pid_t pid = fork();
		if (pid == 0)
			debug(c.pid, calls);
		while (atomic_load(&counts->hits) < 1 + i % 7)
			sched_yield();
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (!calls_on(c.pid))
			fail_msg("the program ended with debugger %u", i);
	}
}

static void test_a_program_survives_kill_9_in_a_watch(void **state)
{
	(void)state;
	kill_debuggers(false);
}

static void test_a_program_survives_kill_9_in_a_breakpoint(void **state)
{
	(void)state;
	kill_debuggers(true);
}

/* ---- */

static bool is_permitted(void)
{
	CHILD(c, NULL, child_pause);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	struct error *err CLEANUP(error_freep) = watch_word(tr);

	if (err)
		fprintf(stderr, "skipped: %s\n", err->message);
	return !err;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_call_is_reported_once),
		cmocka_unit_test(test_every_write_is_reported_once),
		cmocka_unit_test(test_sizes_and_reads),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_an_end_lets_the_program_run),
		cmocka_unit_test(test_a_step_reports_a_write),
		cmocka_unit_test(test_other_urgent_signals_come_through),
		cmocka_unit_test(test_new_processes_have_none),
		cmocka_unit_test(test_exec_removes_them),
		cmocka_unit_test(test_a_program_survives_kill_9_in_a_watch),
		cmocka_unit_test(test_a_program_survives_kill_9_in_a_breakpoint),
	};

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	if (counts == MAP_FAILED)
		return 1;
	if (!is_permitted())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
