/* Tests of the debuggee, with a copy of this process. */
#include "runtimes/stepping/control.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/test/child.h"
#include "debugger/test/program.h"

enum { ROUNDS = 200, HITS = 500 };

static volatile unsigned calls;

__attribute__((noinline)) static void step_on(void)
{
	calls++;
}

static void call_forever(void)
{
	for (;;)
		step_on();
}

/* Interrupts at the first hit, and halts only if that was forgotten. */
static struct error *interrupt_first(void *arg, const struct internal_hit *hit, bool *stop)
{
	unsigned *hits = arg;

	(void)hit;
	if (++*hits == 1)
		interrupt_request();
	*stop = *hits > HITS;
	return NULL;
}

static void check(struct error *err)
{
	if (err)
		fail_msg("%s", err->message);
}

/* A hit that halts nothing may come at the same time as an interrupt. */
static void test_interrupt_is_kept(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	struct internal_breakpoint *internal;
	unsigned hits = 0;
	CHILD(child, NULL, call_forever);
	const struct internal_breakpoint_options options = { .addr = (uintptr_t)step_on,
		                                             .decide = interrupt_first,
		                                             .arg = &hits };

	(void)state;
	check(control_attach(&c, child.pid));
	check(internal_breakpoint_add(&c, &options, &internal));
	for (unsigned i = 0; i < ROUNDS; i++) {
		hits = 0;
		check(control_continue(&c));
		assert_int_equal(c.stop.reason, CONTROL_INTERRUPTED);
		assert_null(interrupt_check());
	}
	check(internal_breakpoint_remove(&c, internal));
	check(control_detach(&c));
	child_wait_progress(&child);
}

/* What decides about a hit may be interrupted itself. */
static struct error *decide_interrupted(void *arg, const struct internal_hit *hit, bool *stop)
{
	(void)arg, (void)hit, (void)stop;
	interrupt_request();
	return interrupt_check();
}

static void test_interrupted_decision(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	struct internal_breakpoint *internal;
	CHILD(child, NULL, call_forever);
	const struct internal_breakpoint_options options = { .addr = (uintptr_t)step_on,
		                                             .decide = decide_interrupted };

	(void)state;
	check(control_attach(&c, child.pid));
	check(internal_breakpoint_add(&c, &options, &internal));
	check(control_continue(&c));
	assert_int_equal(c.stop.reason, CONTROL_INTERRUPTED);
	assert_null(interrupt_check());
	check(internal_breakpoint_remove(&c, internal));
	check(control_detach(&c));
	child_wait_progress(&child);
}

/* What was interrupted ends nevertheless, and the interrupt is kept. */
static void test_interrupted_kill(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	CHILD(child, NULL, call_forever);

	(void)state;
	check(control_attach(&c, child.pid));
	interrupt_request();
	check(control_kill(&c));
	assert_int_equal(c.pid, 0);
	assert_int_equal(c.stop.reason, CONTROL_KILLED);
	struct error *err CLEANUP(error_freep) = interrupt_check();
	assert_non_null(err);
	interrupt_clear();
}

/* Halts the program, and interrupts in the same moment. */
static struct error *decide_at_end(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct control *c = arg;
	struct regs regs;
	SCRATCH(tmp);

	(void)stop;
	kill(c->pid, SIGKILL);
	/* Until the tracer has seen it. */
	for (;;)
		TRY(control_registers(c, hit->tid, &tmp, &regs));
}

/* Another thread may end the program while a hit is decided. */
static void test_end_at_decision(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	struct internal_breakpoint *internal;
	CHILD(child, NULL, call_forever);
	const struct internal_breakpoint_options options = { .addr = (uintptr_t)step_on,
		                                             .decide = decide_at_end,
		                                             .arg = &c };

	(void)state;
	check(control_attach(&c, child.pid));
	check(internal_breakpoint_add(&c, &options, &internal));
	check(control_continue(&c));
	assert_int_equal(c.stop.reason, CONTROL_KILLED);
	assert_int_equal(c.pid, 0);
}

static struct error *interrupt_and_stop(void *arg, bool *stop)
{
	(void)arg;
	interrupt_request();
	*stop = true;
	return NULL;
}

/* An interrupt while the program is being halted fails nothing. */
static void test_interrupted_halt(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	CHILD(child, NULL, call_forever);

	(void)state;
	check(control_attach(&c, child.pid));
	c.look = (struct periodic_check){ .look = interrupt_and_stop, .every_ns = 1 };
	check(control_continue(&c));
	assert_int_equal(c.stop.reason, CONTROL_CAUGHT);
	assert_null(interrupt_check());
	c.look = (struct periodic_check){ 0 };
	check(control_detach(&c));
	child_wait_progress(&child);
}

static struct error *count_hits(void *arg, const struct internal_hit *hit, bool *stop)
{
	unsigned *hits = arg;

	(void)hit;
	++*hits;
	*stop = true;
	return NULL;
}

/* A thread that single steps have brought to an internal breakpoint hits it there, once. */
static void test_arrive(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	struct internal_breakpoint *internal;
	unsigned hits = 0, before, after;
	CHILD(child, NULL, call_forever);
	const struct internal_breakpoint_options options = { .addr = (uintptr_t)step_on,
		                                             .decide = count_hits,
		                                             .arg = &hits };

	(void)state;
	check(control_attach(&c, child.pid));
	check(internal_breakpoint_add(&c, &options, &internal));
	do {
		check(control_step(&c, child.pid));
		assert_int_equal(c.stop.reason, CONTROL_STEPPED);
		assert_int_equal(hits, 0);
		check(control_report_breakpoint_here(&c, child.pid));
	} while (c.stop.reason == CONTROL_STEPPED);
	assert_int_equal(c.stop.reason, CONTROL_BREAKPOINT);
	assert_int_equal(c.stop.addr, (uintptr_t)step_on);
	assert_int_equal(hits, 1);
	check(control_read(&c, (uintptr_t)&calls, (void *)&before, sizeof(before)));
	check(control_continue(&c));
	assert_int_equal(hits, 2);
	check(control_read(&c, (uintptr_t)&calls, (void *)&after, sizeof(after)));
	assert_int_equal(after, before + 1);
	check(internal_breakpoint_remove(&c, internal));
	check(control_detach(&c));
	child_wait_progress(&child);
}

static struct error *halt_at_tenth(void *arg, const struct internal_hit *hit, bool *stop)
{
	unsigned *hits = arg;

	(void)hit;
	*stop = ++*hits == 10;
	return NULL;
}

/* Kinds of the internal breakpoints that are planted, which are all at step_on(). */
static void assert_kinds(const struct control *c, const char *expected)
{
	char found[256] = "";
	size_t n;
	SCRATCH(tmp);
	const struct internal_breakpoint_row *rows = internal_breakpoint_list(c, &tmp, &n);

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].addr, (uintptr_t)step_on);
		strcat(strcat(found, " "), internal_breakpoint_kind_name(rows[i].kind));
	}
	assert_string_equal(found, expected);
}

/* An internal breakpoint of an address is asked for threads that match its own filter alone. */
static void test_filters_of_one_address(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	struct internal_breakpoint *all, *none, *same;
	unsigned hits = 0, others = 0, matching = 0;
	const struct tracer_filter never = { .reg = TRACER_THREAD_POINTER, .size = 8, .value = 1 };
	struct tracer_filter always = never;
	CHILD(child, NULL, call_forever);
	struct internal_breakpoint_options options = { .addr = (uintptr_t)step_on,
		                                       .decide = halt_at_tenth,
		                                       .arg = &hits };

	(void)state;
	always.differs = true;
	check(control_attach(&c, child.pid));
	options.kind = INTERNAL_STEP_LINE;
	check(internal_breakpoint_add(&c, &options, &all));
	options.kind = INTERNAL_STEP_DROP;
	options.filter = &never;
	options.arg = &others;
	check(internal_breakpoint_add(&c, &options, &none));
	options.filter = &always;
	options.arg = &matching;
	check(internal_breakpoint_add(&c, &options, &same));
	check(control_continue(&c));
	assert_int_equal(hits, 10);
	assert_int_equal(others, 0);
	assert_int_equal(matching, 10);
	assert_kinds(&c, " step-line step-drop step-drop");
	check(internal_breakpoint_remove(&c, all));
	assert_kinds(&c, " step-drop step-drop");
	check(internal_breakpoint_remove(&c, none));
	check(internal_breakpoint_remove(&c, same));
	check(control_detach(&c));
	child_wait_progress(&child);
}

/* The first byte of a function, as it is in the memory of the program. */
static unsigned char first_byte(pid_t pid, void (*function)(void))
{
	unsigned char ret = 0;
	struct iovec local = { &ret, 1 }, remote = { (void *)(uintptr_t)function, 1 };

	assert_int_equal(process_vm_readv(pid, &local, 1, &remote, 1, 0), 1);
	return ret;
}

/* Changes that are held are made together, and at the latest when the program goes on. */
static void test_held_changes(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	const unsigned char before = first_byte(getpid(), step_on);
	struct internal_breakpoint *first, *second;
	unsigned hits = 0;
	CHILD(child, NULL, call_forever);
	const struct internal_breakpoint_options options = { .addr = (uintptr_t)step_on,
		                                             .decide = halt_at_tenth,
		                                             .arg = &hits };

	(void)state;
	check(control_attach(&c, child.pid));
	internal_breakpoint_begin_batch(&c);
	check(internal_breakpoint_add(&c, &options, &first));
	assert_int_equal(first_byte(child.pid, step_on), before);
	check(internal_breakpoint_commit(&c));
	assert_int_not_equal(first_byte(child.pid, step_on), before);
	internal_breakpoint_begin_batch(&c);
	check(internal_breakpoint_remove(&c, first));
	assert_int_not_equal(first_byte(child.pid, step_on), before);
	check(internal_breakpoint_add(&c, &options, &second));
	check(internal_breakpoint_remove(&c, second));
	check(internal_breakpoint_commit(&c));
	assert_int_equal(first_byte(child.pid, step_on), before);
	internal_breakpoint_begin_batch(&c);
	check(internal_breakpoint_add(&c, &options, &first));
	check(control_continue(&c));
	assert_int_equal(hits, 10);
	check(internal_breakpoint_remove(&c, first));
	assert_int_equal(first_byte(child.pid, step_on), before);
	check(control_detach(&c));
	child_wait_progress(&child);
}

/* What cannot be planted is an error when held changes are made, and the others are made. */
static void test_held_error(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	const unsigned char before = first_byte(getpid(), step_on);
	struct internal_breakpoint *internal, *good;
	CHILD(child, NULL, call_forever);
	const struct internal_breakpoint_options options = { .addr = 8, .decide = halt_at_tenth };
	const struct internal_breakpoint_options behind = { .addr = (uintptr_t)step_on,
		                                            .decide = halt_at_tenth };

	(void)state;
	check(control_attach(&c, child.pid));
	internal_breakpoint_begin_batch(&c);
	check(internal_breakpoint_add(&c, &options, &internal));
	check(internal_breakpoint_add(&c, &behind, &good));
	struct error *err CLEANUP(error_freep) = internal_breakpoint_commit(&c);
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_FAULT);
	check(internal_breakpoint_remove(&c, internal));
	assert_int_not_equal(first_byte(child.pid, step_on), before);
	check(internal_breakpoint_remove(&c, good));
	check(control_detach(&c));
	child_wait_progress(&child);
}

static void interrupt_unwatched(void *arg, pid_t tid, int errnum)
{
	int *ret = arg;

	assert_int_not_equal(tid, 0);
	*ret = errnum;
	interrupt_request();
}

/* The thread of a step stays where it is, while the others run. */
static void test_yield(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	unsigned before, after;
	CHILD(child, NULL, call_forever);
	unsigned long counted = 0;

	(void)state;
	check(control_attach(&c, child.pid));
	check(control_read(&c, (uintptr_t)&calls, (void *)&before, sizeof(before)));
	counted = atomic_load(&child.shared->workers[0].counter);
	while (atomic_load(&child.shared->workers[0].counter) == counted) {
		check(control_yield(&c, child.pid));
		assert_int_equal(c.stop.reason, CONTROL_STEPPED);
		assert_int_equal(c.stop.tid, child.pid);
	}
	check(control_read(&c, (uintptr_t)&calls, (void *)&after, sizeof(after)));
	assert_int_equal(after, before);
	check(control_detach(&c));
	child_wait_progress(&child);
}

/* A new thread that gets no hardware breakpoint is reported. */
static void test_unwatched_thread(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	int errnum = 0;
	struct rlimit files, none;
	CHILD(child, NULL, child_churn);

	(void)state;
	c.on_unwatched = interrupt_unwatched;
	c.on_unwatched_arg = &errnum;
	check(control_attach(&c, child.pid));
	struct error *err CLEANUP(error_freep) =
		control_watch(&c, (uintptr_t)&calls, sizeof(calls), false, true);
	if (err) {
		print_message("%s\n", err->message);
		skip();
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	none = files;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	err = control_continue(&c);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	check(err);
	assert_int_equal(c.stop.reason, CONTROL_INTERRUPTED);
	assert_int_equal(errnum, EMFILE);
	check(control_detach(&c));
}

/* The thread alone: the others go on. */
static void end_main_thread(void)
{
	syscall(SYS_exit, 0);
}

static bool is_worker(const struct child *child, pid_t tid)
{
	bool is = false;

	for (size_t i = 0; i < CHILD_WORKERS; i++)
		is |= child->shared->workers[i].tid == tid;
	return is;
}

/* What is found by the number of a process is found by that of another thread. */
static void test_main_thread_has_ended(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };
	unsigned long counter = 0;
	CHILD(child, NULL, end_main_thread);

	(void)state;
	while (child_state(child.pid, child.pid) != 'Z')
		sched_yield();
	check(control_attach(&c, child.pid));
	assert_true(is_worker(&child, c.stop.tid));
	check(control_read(&c, (uintptr_t)&child.shared->workers[0].counter, &counter,
	                   sizeof(counter)));
	assert_int_equal(counter, child.shared->workers[0].counter);
	interrupt_request();
	check(control_continue(&c));
	assert_int_equal(c.stop.reason, CONTROL_INTERRUPTED);
	assert_true(is_worker(&child, c.stop.tid));
	atomic_store(&child.shared->quit, true);
	check(control_continue(&c));
	assert_int_equal(c.stop.reason, CONTROL_EXITED);
	assert_int_equal(c.pid, 0);
}

/* It would wait for a SIGCONT, and ^C would be for it. */
static void test_job_control_halts_what_has_the_terminal(void **state)
{
	static const int signals[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
	struct control c CLEANUP(control_close) = { 0 };
	CHILD(child, NULL, call_forever);

	(void)state;
	check(control_attach(&c, child.pid));
	c.terminal.lent = true;
	check(control_set_signals(&c, control_signals(&c)));
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		kill(child.pid, signals[i]);
		check(control_continue(&c));
		assert_int_equal(c.stop.reason, CONTROL_SIGNAL);
		assert_int_equal(c.stop.signal, signals[i]);
	}
	check(control_detach(&c));
	child_wait_progress(&child);
}

/* Starts a program with debugger/test/early.c. signal: EARLY_SIGNAL with its value, or NULL. */
static struct error *run_early(struct control *c, const char *signal)
{
	const char *directory = program_directory();
	const char *const argv[] = { "true", NULL };
	char preload[2 * PROGRAM_PATH];
	char *env[] = { preload, (char *)(uintptr_t)signal, NULL };
	const struct control_program program = { .argv = argv, .env = env, .no_input = true };

	assert_true(program_build(directory, "early.so", "early.c", "-shared -fPIC"));
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s/early.so", directory);
	struct error *err = control_run(c, &program);
	program_remove_directory(directory);
	return err;
}

/* The start of a program is given up at ^C, be it a signal for the program, which has the terminal.
 */
static void test_signal_before_the_program_begins(void **state)
{
	static const char *const signals[] = { "EARLY_SIGNAL=2", "EARLY_SIGNAL=20" };

	(void)state;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct control c CLEANUP(control_close) = { 0 };
		struct error *err CLEANUP(error_freep) = run_early(&c, signals[i]);

		assert_non_null(err);
		assert_int_equal(err->kind, ERR_INTERRUPTED);
		assert_int_equal(c.pid, 0);
	}
}

static struct error *interrupt_once(void *arg, bool *stop)
{
	(void)arg, (void)stop;
	interrupt_request();
	return NULL;
}

static void test_interrupt_before_the_program_begins(void **state)
{
	struct control c CLEANUP(control_close) = { 0 };

	(void)state;
	c.look = (struct periodic_check){ .look = interrupt_once, .every_ns = 1 };
	struct error *err CLEANUP(error_freep) = run_early(&c, NULL);
	interrupt_clear();
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_INTERRUPTED);
	assert_int_equal(c.pid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupt_is_kept),
		cmocka_unit_test(test_interrupted_decision),
		cmocka_unit_test(test_interrupted_kill),
		cmocka_unit_test(test_end_at_decision),
		cmocka_unit_test(test_interrupted_halt),
		cmocka_unit_test(test_yield),
		cmocka_unit_test(test_arrive),
		cmocka_unit_test(test_filters_of_one_address),
		cmocka_unit_test(test_held_changes),
		cmocka_unit_test(test_held_error),
		cmocka_unit_test(test_unwatched_thread),
		cmocka_unit_test(test_main_thread_has_ended),
		cmocka_unit_test(test_job_control_halts_what_has_the_terminal),
		cmocka_unit_test(test_signal_before_the_program_begins),
		cmocka_unit_test(test_interrupt_before_the_program_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
