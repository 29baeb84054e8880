/*
 * Tests of what the kernel does in the middle of a step over a breakpoint, or of a halt: threads
 * begin and end, and one of them executes another program. The child is a copy of the test process.
 */
#include <linux/sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "debugger/live/tracer.h"
#include "debugger/test/child.h"
#include "debugger/test/controlled.h"

enum { THREADS = 50, STEPS = 1000, MAX_STEPS = 100000 };

/* Calls of the function with the breakpoint; memory that test and child share. */
static atomic_ulong *calls;

static __attribute__((noinline)) void called(void)
{
	atomic_fetch_add(calls, 1);
	__asm__ volatile("");
}

static void break_at(struct tracer *tr, uintptr_t addr)
{
	const struct tracer_break b = { .addr = addr };
	struct tracer_request r = { .kind = TRACER_BREAK, .breaks = { &b, 1 } };

	expect_ok(tracer_request(tr, &r));
}

/* One instruction; false: the thread has ended, or was stopped by a signal. */
static bool step(struct tracer *tr, pid_t tid)
{
	struct tracer_request r = { .kind = TRACER_STEP, .step = { .tid = tid } };

	expect_ok(tracer_request(tr, &r));
	return r.step.done;
}

static void wait_signal(void)
{
	while (atomic_load(&child_shared_->signals) == 0)
		sched_yield();
}

/* A child whose main thread begins at SIGRTMIN, with a breakpoint at an address. */
#define BEGIN(main_, addr_)                                                                        \
	struct child c CLEANUP(child_end) = child_start(NULL, main_);                              \
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);                                   \
                                                                                                   \
	(void)state;                                                                               \
	atomic_store(calls, 0);                                                                    \
	break_at(tr, (uintptr_t)(addr_));                                                          \
	kill(c.pid, SIGRTMIN)

/* Continues at each breakpoint until the end; returns how many there were. */
static unsigned long count_hits(struct tracer *tr, struct event *ret)
{
	unsigned long hits = 0;

	for (;; hits++) {
		go_unless_ended(tr);
		*ret = next_halt(tr);
		if (ret->kind != EVENT_BREAKPOINT)
			return hits;
	}
}

/* ---- threads that end ---- */

enum { PAIR = 2, STACK = 64 * 1024 };

static int alive[PAIR]; /* the kernel clears it when the thread has ended */

/* It ends at once, without a lock of the C library, which a thread that is held may have. */
static int call_once(void *arg)
{
	(void)arg;
	called();
	return 0;
}

/* A thread that the C library, and what is linked with it to find faults, does not know. */
static void start_bare_thread(int n)
{
	static _Alignas(16) char stacks[PAIR][STACK];
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
	                  CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;

	__atomic_store_n(&alive[n], 1, __ATOMIC_SEQ_CST);
	if (clone(call_once, stacks[n] + STACK, flags, NULL, NULL, NULL, &alive[n]) < 0)
		_exit(1);
}

static void call_in_threads(void)
{
	wait_signal();
	for (int i = 0; i < THREADS / PAIR; i++) {
		for (int n = 0; n < PAIR; n++)
			start_bare_thread(n);
		for (int n = 0; n < PAIR; n++) {
			while (__atomic_load_n(&alive[n], __ATOMIC_SEQ_CST))
				sched_yield();
		}
	}
	_exit(7);
}

/* Each thread ends right behind the step over its breakpoint, while another one is held. */
static void test_threads_that_end(void **state)
{
	struct event e;

	BEGIN(call_in_threads, called);
	assert_int_equal(count_hits(tr, &e), THREADS);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 7);
	assert_int_equal(atomic_load(calls), THREADS);
}

/* A step over the last instruction of a thread tells so, and the others go on. */
static void test_a_step_to_the_end_of_a_thread(void **state)
{
	unsigned long steps = 0;

	BEGIN(call_in_threads, called);
	go_unless_ended(tr);
	struct event e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_BREAKPOINT);
	while (steps < MAX_STEPS && step(tr, e.tid))
		steps++;
	assert_true(steps > 0 && steps < MAX_STEPS);
	assert_int_equal(child_state(c.pid, e.tid), 0);
	/* The other one of its pair may have come to the breakpoint before it was held. */
	assert_int_equal(count_hits(tr, &e), THREADS - 1);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 7);
}

static void *call_and_end_all(void *arg)
{
	while (child_state(getpid(), getpid()) != 'Z')
		sched_yield();
	for (int i = 0; i < THREADS; i++)
		called();
	_exit(9);
	return arg;
}

static void end_main_thread(void)
{
	pthread_t thread;

	wait_signal();
	pthread_create(&thread, NULL, call_and_end_all, NULL);
	syscall(SYS_exit, 0);
}

/* A main thread that has ended never stops: nobody waits for it. */
static void test_a_main_thread_that_ended(void **state)
{
	struct event e;

	BEGIN(end_main_thread, called);
	assert_int_equal(count_hits(tr, &e), THREADS);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 9);
}

/* ---- a thread that begins in a step ---- */

#ifdef __x86_64__

static char new_stack[1 << 16] __attribute__((aligned(16)));

static void begin_thread(void)
{
	called();
	syscall(SYS_exit, 0);
}

/* clone3() by an instruction of which the address is known. */
extern const char clone_instruction[];
static __attribute__((noinline)) long start_thread(struct clone_args *args)
{
	long ret;
	register void (*then)(void) __asm__("r12") = begin_thread;

	__asm__ volatile(".globl clone_instruction\n"
	                 "clone_instruction: syscall\n"
	                 "test %%rax, %%rax\n"
	                 "jnz 1f\n"
	                 "xor %%ebp, %%ebp\n"
	                 "call *%%r12\n"
	                 "ud2\n"
	                 "1:\n"
	                 : "=a"(ret)
	                 : "a"(SYS_clone3), "D"(args), "S"(sizeof(*args)), "r"(then)
	                 : "rcx", "r11", "memory");
	return ret;
}

static void clone_a_thread(void)
{
	pid_t tid = 0;
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		         CLONE_SYSVSEM | CLONE_PARENT_SETTID,
		.parent_tid = (uintptr_t)&tid,
		.stack = (uintptr_t)new_stack,
		.stack_size = sizeof(new_stack),
	};

	wait_signal();
	if (start_thread(&args) <= 0)
		_exit(1);
	while (child_state(getpid(), tid))
		sched_yield();
	_exit(3);
}

/* The step over a breakpoint is the system call that makes a thread, which comes to another one. */
static void test_clone3_in_a_step(void **state)
{
	struct event e;

	BEGIN(clone_a_thread, clone_instruction);
	break_at(tr, (uintptr_t)called);
	go_unless_ended(tr);
	e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_BREAKPOINT);
	assert_int_equal(e.addr, (uintptr_t)clone_instruction);
	assert_int_equal(e.tid, c.pid);
	go_unless_ended(tr);
	e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_BREAKPOINT);
	assert_int_equal(e.addr, (uintptr_t)called);
	assert_int_not_equal(e.tid, c.pid);
	assert_int_equal(count_hits(tr, &e), 0);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 3);
	assert_int_equal(atomic_load(calls), 1);
}

/* A thread that begins while the program is halted stands still like all others. */
static void test_a_thread_that_a_step_begins_is_held(void **state)
{
	struct event e;

	BEGIN(clone_a_thread, clone_instruction);
	go_unless_ended(tr);
	assert_int_equal(next_halt(tr).kind, EVENT_BREAKPOINT);
	for (int i = 0; i < STEPS; i++)
		assert_true(step(tr, c.pid));
	e = next(tr);
	assert_int_equal(e.kind, EVENT_NEW_THREAD);
	assert_int_equal(child_state(c.pid, e.child), 't');
	assert_int_equal(atomic_load(calls), 0);
	assert_int_equal(count_hits(tr, &e), 0);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 3);
	assert_int_equal(atomic_load(calls), 1);
}

#endif

/* ---- signals in the middle of a step ---- */

static void call_forever(void)
{
	wait_signal();
	for (;;)
		called();
}

/* A signal that can wait comes when the program continues, not between two steps. */
static void test_a_signal_between_steps(void **state)
{
	BEGIN(call_forever, called);
	go_unless_ended(tr);
	struct event e = next_halt(tr);
	int before = atomic_load(&c.shared->signals);
	unsigned long done = atomic_load(calls);
	kill(c.pid, SIGRTMIN);
	for (unsigned i = 0; atomic_load(calls) == done; i++) {
		assert_true(i < MAX_STEPS);
		assert_true(step(tr, e.tid));
	}
	assert_int_equal(atomic_load(&c.shared->signals), before);
	for (unsigned i = 0; atomic_load(&c.shared->signals) == before; i++) {
		assert_true(i < MAX_STEPS);
		go_unless_ended(tr);
		assert_int_equal(next_halt(tr).kind, EVENT_BREAKPOINT);
	}
	assert_int_equal(atomic_load(&c.shared->signals), before + 1);
}

static void take_no_notice(int signal)
{
	(void)signal;
}

static void survive(void)
{
	signal(SIGQUIT, SIG_IGN);
	signal(SIGABRT, take_no_notice);
	call_forever();
}

/* Breakpoints are out of the way only of a signal that ends the program. */
static void test_signals_that_it_survives(void **state)
{
	static const int signals[] = { SIGQUIT, SIGABRT };

	BEGIN(survive, called);
	control(tr, ~UINT64_C(0) & ~(UINT64_C(1) << (SIGRTMIN - 1)), 0);
	go_unless_ended(tr);
	assert_int_equal(next_halt(tr).kind, EVENT_BREAKPOINT);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		kill(c.pid, signals[i]);
		go_unless_ended(tr);
		struct event e = next_halt(tr);
		assert_int_equal(e.kind, EVENT_SIGNAL);
		assert_int_equal(e.signal, signals[i]);
		for (unsigned n = 0; n < 2; n++) {
			go_unless_ended(tr);
			assert_int_equal(next_halt(tr).kind, EVENT_BREAKPOINT);
		}
	}
}

static volatile int *volatile nowhere;

/* The fault is that of its instruction, not one that is found before. */
static __attribute__((noinline, no_sanitize("address", "undefined"))) void fault(void)
{
	*nowhere = 1;
}

static void fault_once(void)
{
	wait_signal();
	fault();
}

/* A signal that the instruction itself causes ends the step, and can be replaced. */
static void test_a_fault_in_a_step(void **state)
{
	const uint64_t segv = UINT64_C(1) << (SIGSEGV - 1);
	struct event e;

	BEGIN(fault_once, fault);
	control(tr, segv, 0);
	go_unless_ended(tr);
	e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_BREAKPOINT);
	unsigned steps = 0;
	while (steps < MAX_STEPS && step(tr, e.tid))
		steps++;
	assert_true(steps < MAX_STEPS);
	e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_SIGNAL);
	assert_int_equal(e.signal, SIGSEGV);
	struct tracer_request r = { .kind = TRACER_SIGNAL, .signal = { e.tid, 0 } };
	expect_ok(tracer_request(tr, &r));
	go_unless_ended(tr);
	e = next_halt(tr); /* it comes again: nothing has changed */
	assert_int_equal(e.signal, SIGSEGV);
	r.signal.signal = SIGTERM;
	expect_ok(tracer_request(tr, &r));
	go_unless_ended(tr);
	e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_KILLED);
	assert_int_equal(e.signal, SIGTERM);
}

/* ---- another program ---- */

static void *call_always(void *arg)
{
	for (;;)
		called();
	return arg;
}

static void *execute(void *arg)
{
	static char *const argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
		                      (char *)(uintptr_t) "exit 5", NULL };

	while (atomic_load(calls) < THREADS)
		sched_yield();
	execv("/bin/sh", argv);
	return arg;
}

static void execute_in_a_thread(void)
{
	pthread_t threads[2];

	wait_signal();
	pthread_create(&threads[0], NULL, call_always, NULL);
	pthread_create(&threads[1], NULL, execute, NULL);
	child_pause();
}

/* execve() of a thread ends the others, of which one is at a breakpoint; it has the pid then. */
static void test_exec_of_a_thread(void **state)
{
	struct event e;

	BEGIN(execute_in_a_thread, called);
	assert_true(count_hits(tr, &e) >= THREADS);
	assert_int_equal(e.kind, EVENT_EXEC);
	assert_int_equal(e.tid, c.pid);
	go_unless_ended(tr);
	e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 5);
}

/* kill -9 while it is halted: its last event follows, whatever is done then. */
static void test_a_kill_while_halted(void **state)
{
	BEGIN(call_forever, called);
	go_unless_ended(tr);
	struct event e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_BREAKPOINT);
	kill(c.pid, SIGKILL);
	go_unless_ended(tr);
	e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_KILLED);
	assert_int_equal(e.signal, SIGKILL);
}

/* ---- a program that is kept ---- */

/* It runs on when the tracer has ended, without its breakpoints; another one is killed. */
static void test_a_program_that_is_kept(void **state)
{
	char *argv[] = { (char *)(uintptr_t) "sleep", (char *)(uintptr_t) "1000", NULL };

	(void)state;
	for (int keep = 0; keep < 2; keep++) {
		const struct tracer_launch how = { .keep = keep };
		struct tracer_request r = { .kind = TRACER_LAUNCH,
			                    .launch = {
						    .path = "sleep", .argv = argv, .how = &how } };
		struct tracer *tr = tracer_new();

		expect_ok(tracer_request(tr, &r));
		control(tr, 0, 0);
		go_unless_ended(tr);
		tracer_free(tr);
		assert_int_equal(kill(r.launch.pid, 0), keep ? 0 : -1);
		if (!keep)
			continue;
		kill(r.launch.pid, SIGTERM);
		int status = 0;
		assert_int_equal(waitpid(r.launch.pid, &status, 0), r.launch.pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_that_end),
		cmocka_unit_test(test_a_step_to_the_end_of_a_thread),
		cmocka_unit_test(test_a_main_thread_that_ended),
#ifdef __x86_64__
		cmocka_unit_test(test_clone3_in_a_step),
		cmocka_unit_test(test_a_thread_that_a_step_begins_is_held),
#endif
		cmocka_unit_test(test_a_signal_between_steps),
		cmocka_unit_test(test_signals_that_it_survives),
		cmocka_unit_test(test_a_fault_in_a_step),
		cmocka_unit_test(test_exec_of_a_thread),
		cmocka_unit_test(test_a_kill_while_halted),
		cmocka_unit_test(test_a_program_that_is_kept),
	};

	calls = mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	             0);
	if (calls == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
