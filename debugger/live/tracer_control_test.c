/*
 * Tests of halting, breakpoints and steps. A child is a copy of the test process: its functions
 * have the addresses of ours, and its code has the bytes of ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/live/tracer.h"
#include "debugger/target/target.h"
#include "debugger/test/child.h"
#include "debugger/test/controlled.h"
#include "debugger/test/program.h"

enum {
	CALLERS = 3,
	CALLS = 100,
	LAUNCHES = 50,
	HALTS = 500,
	CODE = 16,
	STEPS = 500, /* in called(), more than there are with sanitizers */
};

/* Memory that test and child share. */
static struct {
	atomic_ulong calls, done;
} * counts;

/* The function with the breakpoint. */
static __attribute__((noinline)) void called(void)
{
	atomic_fetch_add(&counts->calls, 1);
	__asm__ volatile("");
}

/* A function with an argument, which is in a register when it begins. */
static __attribute__((noinline)) void called_with(unsigned long *n)
{
	atomic_fetch_add(&counts->calls, *n > 0);
	__asm__ volatile("");
}

/* The argument leads to a place that leads to a pointer to a number. */
static __attribute__((noinline)) void called_through(uint32_t ***place)
{
	atomic_fetch_add(&counts->calls, ***place < CALLS);
	__asm__ volatile("");
}

static struct error *at(struct tracer *tr, enum tracer_request_kind kind, uint64_t addr)
{
	const struct tracer_break b = { .addr = addr };
	struct tracer_request r = { .kind = kind, .breaks = { &b, 1 } };

	return tracer_request(tr, &r);
}

static uint64_t code(void)
{
	return (uint64_t)(uintptr_t)called;
}

static bool is_original(pid_t pid)
{
	unsigned char now[CODE];
	struct iovec local = { now, CODE }, remote = { (void *)(uintptr_t)code(), CODE };

	assert_int_equal(process_vm_readv(pid, &local, 1, &remote, 1, 0), CODE);
	return memcmp(now, (const void *)(uintptr_t)code(), CODE) == 0;
}

static void *call_often(void *arg)
{
	for (int i = 0; i < CALLS; i++)
		called();
	return arg;
}

static void call_in_threads(void)
{
	pthread_t threads[CALLERS];

	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, call_often, NULL);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
}

/* Waits until the test sends a signal. */
static void wait_signal(void)
{
	while (atomic_load(&child_shared_->signals) == 0)
		sched_yield();
}

static void call_and_end(void)
{
	wait_signal();
	call_in_threads();
}

static void *call_with_numbers(void *arg)
{
	for (unsigned long i = 0; i < CALLS; i++)
		called_with(&i);
	return arg;
}

static void call_with_numbers_and_end(void)
{
	pthread_t threads[CALLERS];

	wait_signal();
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, call_with_numbers, NULL);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
}

/* The pointer is twice in memory that is gone after the call, then twice on the stack, .. */
static void call_with_places_and_end(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t i = 0, *pointer = &i, **place = &pointer;

	wait_signal();
	for (; i < CALLS; i++) {
		bool own = i / 2 % 2;

		if (!own)
			place = mmap(NULL, size, PROT_READ | PROT_WRITE,
			             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*place = &i;
		called_through(&place);
		if (!own)
			munmap(place, size);
		place = &pointer;
	}
}

static void call_forever(void)
{
	for (;;)
		called();
}

static void test_every_call_is_reported_once(void **state)
{
	CHILD(c, NULL, call_and_end);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	unsigned long hits = 0;
	struct event e;

	(void)state;
	atomic_store(&counts->calls, 0);
	expect_ok(at(tr, TRACER_BREAK, code()));
	expect_ok(at(tr, TRACER_BREAK, code())); /* again: it is there */
	kill(c.pid, SIGRTMIN);
	for (;; hits++) {
		go(tr, TRACER_CONTINUE);
		e = next_halt(tr);
		if (e.kind != EVENT_BREAKPOINT)
			break;
		assert_int_equal(e.addr, code());
		assert_int_equal(child_state(c.pid, e.tid), 't');
		assert_int_equal(child_state(c.pid, c.pid), 't');
		/* Other threads may be between the breakpoint and the increment. */
		assert_true(atomic_load(&counts->calls) <= hits);
		assert_true(atomic_load(&counts->calls) + CALLERS > hits);
	}
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 0);
	assert_int_equal(hits, CALLERS * CALLS);
}

#ifdef __x86_64__
enum { FIRST_ARGUMENT = 5 /* rdi */ };
#else
enum { FIRST_ARGUMENT = 0 };
#endif

/* The value that a register points to: a thread with another one passes. */
static void test_only_what_matches_is_reported(void **state)
{
	CHILD(c, NULL, call_with_numbers_and_end);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	uint64_t addr = (uint64_t)(uintptr_t)called_with;
	const struct tracer_filter filter = {
		.reg = FIRST_ARGUMENT, .nloads = 1, .size = 4, .value = 7
	};
	const struct tracer_break b = { addr, &filter, 1 };
	struct tracer_request r = { .kind = TRACER_BREAK, .breaks = { &b, 1 } };
	unsigned long hits = 0, calls = 0;
	struct event e;

	(void)state;
	atomic_store(&counts->calls, 0);
	expect_ok(tracer_request(tr, &r));
	kill(c.pid, SIGRTMIN);
	for (;; hits++) {
		go(tr, TRACER_CONTINUE);
		e = next_halt(tr);
		if (e.kind != EVENT_BREAKPOINT)
			break;
		SCRATCH(tmp);
		struct tracer_request regs = { .kind = TRACER_REGISTERS,
			                       .registers = { .tid = e.tid, .arena = &tmp } };
		unsigned long n = 0;
		expect_ok(tracer_request(tr, &regs));
		struct iovec local = { &n, sizeof(n) };
		struct iovec remote = { (void *)(uintptr_t)regs.registers.regs.r[FIRST_ARGUMENT],
			                sizeof(n) };
		assert_int_equal(process_vm_readv(c.pid, &local, 1, &remote, 1, 0), sizeof(n));
		assert_int_equal(n, 7);
	}
	calls = atomic_load(&counts->calls);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(hits, CALLERS);
	assert_int_equal(calls, CALLERS * (CALLS - 1));
}

/* Lets the process call, up to its end: how many breakpoints it has hit. */
static unsigned long count_hits(struct tracer *tr, pid_t pid)
{
	kill(pid, SIGRTMIN);
	for (unsigned long hits = 0;; hits++) {
		go(tr, TRACER_CONTINUE);
		if (next_halt(tr).kind != EVENT_BREAKPOINT)
			return hits;
	}
}

static unsigned long count_through(uint64_t number)
{
	CHILD(c, NULL, call_with_places_and_end);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	const struct tracer_filter filter = {
		.reg = FIRST_ARGUMENT, .nloads = 3, .size = 4, .value = number
	};
	uint64_t addr = (uint64_t)(uintptr_t)called_through;
	const struct tracer_break b = { addr, &filter, 1 };
	struct tracer_request r = { .kind = TRACER_BREAK, .breaks = { &b, 1 } };

	expect_ok(tracer_request(tr, &r));
	return count_hits(tr, c.pid);
}

/* What was read at one hit says nothing about the next. */
static void test_memory_that_comes_and_goes(void **state)
{
	(void)state;
	for (uint64_t number = 4; number < 8; number++) {
		atomic_store(&counts->calls, 0);
		assert_int_equal(count_through(number), 1);
		assert_int_equal(atomic_load(&counts->calls), CALLS);
	}
}

static uint64_t never_written;

/* How many calls a filter reports; of each thread the numbers are 0 to CALLS - 1. */
static unsigned long count_reported(struct tracer_filter filter, bool stepped)
{
	CHILD(c, NULL, call_with_numbers_and_end);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	struct tracer_request watch = { .kind = TRACER_WATCH,
		                        .watch = { .addr = (uint64_t)(uintptr_t)&never_written,
		                                   .len = sizeof(never_written),
		                                   .kind = TRACER_WRITTEN } };
	uint64_t addr = (uint64_t)(uintptr_t)called_with;
	const struct tracer_break b = { addr, &filter, 1 };
	struct tracer_request r = { .kind = TRACER_BREAK, .breaks = { &b, 1 } };

	filter.reg = FIRST_ARGUMENT;
	filter.nloads = 1;
	filter.size = 4;
	expect_ok(tracer_request(tr, &r));
	if (stepped)
		error_free(tracer_request(tr, &watch)); /* there may be none on this machine */
	return count_hits(tr, c.pid);
}

#ifdef __x86_64__
static _Thread_local uint64_t own; /* 0 in each thread */

static unsigned long count_combined(const struct tracer_filter *filters, size_t n)
{
	CHILD(c, NULL, call_with_numbers_and_end);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	uint64_t addr = (uint64_t)(uintptr_t)called_with;
	const struct tracer_break b = { addr, filters, n };
	struct tracer_request r = { .kind = TRACER_BREAK, .breaks = { &b, 1 } };

	expect_ok(tracer_request(tr, &r));
	return count_hits(tr, c.pid);
}

/* A number and a thread-local: both, or another number. */
static void test_combined_filters(void **state)
{
	int64_t offset = (int64_t)((uintptr_t)&own - (uintptr_t)__builtin_thread_pointer());
	struct tracer_filter filters[] = {
		{ .reg = FIRST_ARGUMENT, .nloads = 1, .size = 4, .value = 7, .and_next = true },
		{ .reg = TRACER_THREAD_POINTER, .nloads = 1, .offset = { offset }, .size = 8 },
		{ .reg = FIRST_ARGUMENT, .nloads = 1, .size = 4, .value = 8 },
	};

	(void)state;
	assert_int_equal(count_combined(filters, 2), CALLERS);
	assert_int_equal(count_combined(filters, 3), 2 * CALLERS);
	filters[1].value = 1;
	assert_int_equal(count_combined(filters, 2), 0);
	assert_int_equal(count_combined(filters, 3), CALLERS);
	assert_int_equal(count_combined(filters, 1), CALLERS); /* there is no next one */
}
#endif

/* Of each thread all calls but the last one pass. At the last report all of them have. */
static void count_passes(bool stepped)
{
	CHILD(c, NULL, call_with_numbers_and_end);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	uint64_t addr = (uint64_t)(uintptr_t)called_with;
	const struct tracer_filter filter = {
		.reg = FIRST_ARGUMENT, .nloads = 1, .size = 4, .value = CALLS - 1
	};
	const struct tracer_break b = { addr, &filter, 1 };
	struct tracer_request plant = { .kind = TRACER_BREAK, .breaks = { &b, 1 } };
	struct tracer_request passes = { .kind = TRACER_PASSES, .passes = { .addr = addr } };
	struct tracer_request watch = { .kind = TRACER_WATCH,
		                        .watch = { .addr = (uint64_t)(uintptr_t)&never_written,
		                                   .len = sizeof(never_written),
		                                   .kind = TRACER_WRITTEN } };

	expect_ok(tracer_request(tr, &plant));
	if (stepped)
		error_free(tracer_request(tr, &watch));
	kill(c.pid, SIGRTMIN);
	for (unsigned hits = 0; hits < CALLERS; hits++) {
		go(tr, TRACER_CONTINUE);
		assert_int_equal(next_halt(tr).kind, EVENT_BREAKPOINT);
	}
	expect_ok(tracer_request(tr, &passes));
	assert_int_equal(passes.passes.n, CALLERS * (CALLS - 1));
	assert_true(passes.passes.ns > 0);
	expect_ok(tracer_request(tr, &passes));
	assert_int_equal(passes.passes.n, 0);
	passes.passes.addr++;
	expect_ok(tracer_request(tr, &passes));
	assert_int_equal(passes.passes.n, 0);
}

static void test_passes_are_counted(void **state)
{
	(void)state;
	count_passes(false);
	count_passes(true);
}

static void count_by_order(bool stepped)
{
	static const struct {
		struct tracer_filter filter;
		unsigned long wanted;
	} list[] = {
		{ { .order = TRACER_LESS, .value = 3 }, 3 * CALLERS },
		{ { .order = TRACER_MORE, .value = CALLS - 3 }, 2 * CALLERS },
		{ { .order = TRACER_MORE, .differs = true, .value = 0 }, CALLERS },
		/* Of a number with a sign, this is -1. */
		{ { .order = TRACER_LESS, .is_signed = true, .value = UINT32_MAX }, 0 },
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		atomic_store(&counts->calls, 0);
		assert_int_equal(count_reported(list[i].filter, stepped), list[i].wanted);
		/* Those that passed have executed the instruction at the breakpoint. */
		assert_int_equal(atomic_load(&counts->calls), CALLERS * (CALLS - 1));
	}
}

static void test_filters_by_order(void **state)
{
	(void)state;
	count_by_order(false);
}

/* While something is watched, each thread executes its own instructions. */
static void test_filters_and_steps(void **state)
{
	(void)state;
	count_by_order(true);
}

static void test_reads_show_the_original_bytes(void **state)
{
	CHILD(c, NULL, call_forever);
	struct tracer *tr = attach(c.pid);
	const struct target_options options = { .tracer = tr };
	struct target *t = NULL;
	unsigned char now[CODE];
	size_t got;

	(void)state;
	expect_ok(target_live_open(c.pid, &options, &t));
	expect_ok(at(tr, TRACER_BREAK, code()));
	expect_ok(at(tr, TRACER_BREAK, code() + 3));
	assert_false(is_original(c.pid));
	expect_ok(target_read_through(t, code(), now, CODE, &got));
	assert_int_equal(got, CODE);
	assert_memory_equal(now, (void *)(uintptr_t)code(), CODE);
	expect_ok(target_read_through(t, code() + 3, now, 1, &got));
	assert_memory_equal(now, (void *)(uintptr_t)(code() + 3), 1);
	/* Those of a stop come from vectors. */
	expect_ok(target_stop(t));
	expect_ok(target_read(t, code(), now, CODE));
	assert_memory_equal(now, (void *)(uintptr_t)code(), CODE);
	target_resume(t);
	assert_int_equal(child_state(c.pid, c.pid), 't'); /* it is halted still */
	expect_ok(at(tr, TRACER_UNBREAK, code() + 3));
	expect_ok(at(tr, TRACER_UNBREAK, code()));
	assert_true(is_original(c.pid));
	target_close(t);
	tracer_free(tr);
	child_wait_progress(&c);
}

enum { ALL = CHILD_WORKERS + 1 };

struct seen {
	pid_t tid;
	uint64_t pc;
	char name[16];
};

static struct seen seen_thread(const struct target *t, const struct thread *th)
{
	struct seen ret = { .tid = th->tid, .pc = th->regs.r[t->arch->pc] };

	snprintf(ret.name, sizeof(ret.name), "%s", th->name);
	return ret;
}

/* A stop of n threads lists these, and says of them what a whole one has. */
static void check_few(struct target *t, const struct seen *all, const pid_t *tids, size_t n)
{
	size_t listed = 0;

	expect_ok(target_stop_threads(t, tids, n));
	for (size_t i = 0; i < ALL; i++) {
		const struct thread *th = target_thread_by_tid(t, all[i].tid);
		bool wanted = false;

		for (size_t j = 0; j < n; j++)
			wanted |= tids[j] == all[i].tid;
		assert_int_equal(th != NULL, wanted);
		if (!th)
			continue;
		listed++;
		assert_true(th->has_regs);
		assert_int_equal(th->number, i + 1);
		assert_int_equal(th->regs.r[t->arch->pc], all[i].pc);
		assert_string_equal(th->name, all[i].name);
	}
	assert_int_equal(t->nthreads, listed);
	target_resume(t);
}

static void test_stops_of_few_threads(void **state)
{
	CHILD(c, NULL, child_pause);
	struct tracer *tr = attach(c.pid);
	const struct target_options options = { .tracer = tr };
	struct target *t = NULL;
	struct seen all[ALL];
	pid_t tids[ALL + 1];

	(void)state;
	expect_ok(target_live_open(c.pid, &options, &t));
	expect_ok(target_stop(t));
	assert_int_equal(t->nthreads, ALL);
	for (size_t i = 0; i < ALL; i++) {
		all[i] = seen_thread(t, &t->threads[i]);
		tids[ALL - 1 - i] = all[i].tid;
	}
	target_resume(t);
	tids[ALL] = getpid(); /* no thread of it */
	for (size_t i = 0; i < ALL; i++)
		check_few(t, all, &all[i].tid, 1);
	for (size_t n = 1; n <= ALL + 1; n++)
		check_few(t, all, tids, n);
	target_close(t);
	tracer_free(tr);
	child_wait_progress(&c);
}

static void test_a_write_keeps_the_breakpoint(void **state)
{
	CHILD(c, NULL, child_pause);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	static const unsigned char nops[] = { 0x90, 0x90, 0x90, 0x90 };
	struct tracer_request r = { .kind = TRACER_WRITE_MEMORY,
		                    .write = { code(), nops, sizeof(nops) } };
	unsigned char now[sizeof(nops)];
	struct iovec local = { now, sizeof(now) }, remote = { (void *)(uintptr_t)code(), 4 };

	(void)state;
	expect_ok(at(tr, TRACER_BREAK, code() + 1));
	expect_ok(tracer_request(tr, &r));
	process_vm_readv(c.pid, &local, 1, &remote, 1, 0);
	assert_int_equal(now[0], 0x90);
	assert_int_not_equal(now[1], 0x90);
	tracer_hide_breakpoints(tr, code(), now, sizeof(now));
	assert_memory_equal(now, nops, sizeof(nops));
	expect_ok(at(tr, TRACER_UNBREAK, code() + 1));
	process_vm_readv(c.pid, &local, 1, &remote, 1, 0);
	assert_memory_equal(now, nops, sizeof(nops));
}

static void test_errors(void **state)
{
	CHILD(c, NULL, child_pause);
	struct tracer *tr CLEANUP(tracer_freep) = tracer_new();
	struct tracer_request r = { .kind = TRACER_ATTACH, .attach = { c.pid } };
	struct error *err CLEANUP(error_freep) = at(tr, TRACER_BREAK, code());

	(void)state;
	assert_non_null(strstr(err->message, "no program"));
	error_free(err);
	expect_ok(tracer_request(tr, &r));
	err = at(tr, TRACER_BREAK, code());
	assert_non_null(strstr(err->message, "not being debugged"));
	error_free(err);
	control(tr, 0, 0);
	err = at(tr, TRACER_BREAK, code());
	assert_non_null(strstr(err->message, "is running"));
	error_free(err);
	go(tr, TRACER_HALT);
	err = at(tr, TRACER_BREAK, 8);
	assert_int_equal(err->kind, ERR_FAULT);
	expect_ok(at(tr, TRACER_UNBREAK, code())); /* there is none */
}

/* The middle of everything: some threads stand at the breakpoint, others are about to. */
static void test_an_end_restores_the_program(void **state)
{
	(void)state;
	for (int round = 0; round < 12; round++) {
		CHILD(c, NULL, call_forever);
		struct tracer *tr = attach(c.pid);

		expect_ok(at(tr, TRACER_BREAK, code()));
		go(tr, TRACER_CONTINUE);
		if (round % 3)
			next_halt(tr);
		if (round % 2)
			go(tr, TRACER_DETACH);
		tracer_free(tr);
		assert_true(is_original(c.pid));
		unsigned long before = atomic_load(&counts->calls);
		while (atomic_load(&counts->calls) == before)
			sched_yield();
		child_wait_progress(&c);
	}
}

static void test_a_step_is_one_instruction(void **state)
{
	CHILD(c, NULL, call_forever);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);

	(void)state;
	expect_ok(at(tr, TRACER_BREAK, code()));
	go(tr, TRACER_CONTINUE);
	struct event e = next_halt(tr);
	unsigned long calls = atomic_load(&counts->calls), steps = 0;

	for (; atomic_load(&counts->calls) == calls && steps < STEPS; steps++) {
		struct tracer_request r = { .kind = TRACER_STEP, .step = { .tid = e.tid } };

		expect_ok(tracer_request(tr, &r));
		assert_true(r.step.done);
		assert_false(is_original(c.pid)); /* the breakpoint is back */
	}
	assert_true(steps > 0 && steps < STEPS);
	for (int i = 0; i < 20; i++) {
		go(tr, TRACER_CONTINUE);
		assert_int_equal(next_halt(tr).kind, EVENT_BREAKPOINT);
		assert_int_equal(atomic_load(&counts->calls), calls + 1 + (unsigned)i);
	}
}

static void *send_signals(void *arg)
{
	const struct child *c = arg;

	for (int i = 0; i < CALLS; i++) {
		union sigval value = { .sival_int = i };

		while (sigqueue(c->pid, SIGRTMIN, value) != 0)
			sched_yield();
	}
	return NULL;
}

/* No signal is lost, none leads to a second report of a call. */
static void test_signals_come_through_steps(void **state)
{
	CHILD(c, NULL, call_forever);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	pthread_t sender;
	struct event e;

	(void)state;
	expect_ok(at(tr, TRACER_BREAK, code()));
	go(tr, TRACER_CONTINUE);
	next_halt(tr);
	unsigned long before = atomic_load(&counts->calls), hits = 0;
	assert_int_equal(pthread_create(&sender, NULL, send_signals, &c), 0);
	do {
		go(tr, TRACER_CONTINUE);
		e = next_halt(tr);
		assert_int_equal(e.kind, EVENT_BREAKPOINT);
		assert_int_equal(atomic_load(&counts->calls), before + ++hits);
	} while (atomic_load(&c.shared->signals) < CALLS);
	pthread_join(sender, NULL);
	assert_int_equal(atomic_load(&c.shared->signals), CALLS);
}

static void test_signals_that_halt(void **state)
{
	CHILD(c, NULL, child_pause);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	const uint64_t bit = UINT64_C(1) << (SIGRTMIN - 1);

	(void)state;
	control(tr, bit, 0);
	go(tr, TRACER_CONTINUE);
	kill(c.pid, SIGRTMIN);
	struct event e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_SIGNAL);
	assert_int_equal(e.signal, SIGRTMIN);
	assert_int_equal(atomic_load(&c.shared->signals), 0);
	go(tr, TRACER_CONTINUE);
	while (atomic_load(&c.shared->signals) == 0)
		sched_yield();
	control(tr, bit, bit);
	kill(c.pid, SIGRTMIN);
	next_halt(tr);
	go(tr, TRACER_CONTINUE);
	child_wait_progress(&c);
	assert_int_equal(atomic_load(&c.shared->signals), 1);
}

static void *raise_forever(void *arg)
{
	for (;;)
		raise(SIGRTMIN);
	return arg;
}

static void raise_in_threads(void)
{
	pthread_t thread;

	for (int i = 1; i < CALLERS; i++)
		pthread_create(&thread, NULL, raise_forever, NULL);
	raise_forever(NULL);
}

/* Signals that halt may come to several threads at once: it stands still at each of them. */
static void test_signals_that_halt_together(void **state)
{
	CHILD(c, NULL, raise_in_threads);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	const uint64_t bit = UINT64_C(1) << (SIGRTMIN - 1);

	(void)state;
	control(tr, bit, 0);
	for (int i = 0; i < HALTS; i++) {
		go(tr, TRACER_CONTINUE);
		assert_int_equal(next_halt(tr).kind, EVENT_SIGNAL);
		assert_true(tracer_is_halted(tr));
		assert_int_equal(child_state(c.pid, c.pid), 't');
	}
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/* New processes call the function while a thread of the program does: none dies. */
static void start_processes(void)
{
	static char *const argv[] = { (char *)(uintptr_t) "true", NULL };
	volatile int bad = 0;
	pid_t pid;

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
	_exit(bad);
}

static void *call_forever_thread(void *arg)
{
	while (!atomic_load(&child_shared_->quit))
		called();
	return arg;
}

static void exit_beside_callers(void)
{
	pthread_t thread;

	wait_signal();
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&thread, NULL, call_forever_thread, NULL);
	while (atomic_load(&counts->calls) < CALLS)
		sched_yield();
	_exit(0);
}

/* A thread at a breakpoint may be gone before it is known that the breakpoint is what stopped it.
 */
static void test_an_exit_beside_a_breakpoint(void **state)
{
	(void)state;
	for (int round = 0; round < 12; round++) {
		atomic_store(&counts->calls, 0);
		CHILD(c, NULL, exit_beside_callers);
		struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
		struct event e = { 0 };
		bool found;

		expect_ok(at(tr, TRACER_BREAK, code()));
		go(tr, TRACER_CONTINUE);
		kill(c.pid, SIGRTMIN);
		while (e.kind != EVENT_EXIT) {
			expect_ok(tracer_wait_event(tr, UINT64_MAX, &e, &found));
			assert_true(e.kind != EVENT_SIGNAL || e.signal == SIGRTMIN);
			if (e.halted && e.kind != EVENT_EXIT)
				error_free(tracer_request(
					tr, &(struct tracer_request){ .kind = TRACER_CONTINUE }));
		}
	}
}

static void *vfork_often(void *arg)
{
	for (volatile int i = 0; i < 10; i++) {
		pid_t pid = vfork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || status_of(pid) != 0)
			_exit(98);
	}
	return arg;
}

static void start_processes_beside_threads(void)
{
	pthread_t thread, others[2];

	wait_signal();
	pthread_create(&thread, NULL, call_forever_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&others[i], NULL, vfork_often, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(others[i], NULL);
	start_processes();
}

static void test_new_processes_have_no_breakpoints(void **state)
{
	CHILD(c, NULL, start_processes_beside_threads);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	unsigned hits = 0;
	struct event e;

	(void)state;
	expect_ok(at(tr, TRACER_BREAK, code()));
	kill(c.pid, SIGRTMIN);
	for (;; hits++) {
		go_unless_ended(tr);
		e = next_halt(tr);
		if (e.kind != EVENT_BREAKPOINT)
			break;
		assert_int_not_equal(e.tid, c.pid); /* the processes are not ours */
	}
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 0);
	assert_true(hits > 0);
}

static void test_halts_of_a_program_with_a_vfork(void **state)
{
	CHILD(c, NULL, start_processes_beside_threads);
	struct tracer *tr CLEANUP(tracer_freep) = attach(c.pid);
	struct event e = { 0 };
	bool found;

	(void)state;
	expect_ok(at(tr, TRACER_BREAK, (uint64_t)(uintptr_t)send_signals)); /* never hit */
	kill(c.pid, SIGRTMIN);
	do {
		go(tr, TRACER_CONTINUE);
		go(tr, TRACER_HALT);
		expect_ok(tracer_wait_event(tr, 0, &e, &found));
	} while (e.kind != EVENT_FORK);
	go(tr, TRACER_CONTINUE);
	e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_EXIT);
	assert_int_equal(e.status, 0);
}

static struct tracer *launch(const char *script, const struct tracer_launch *how)
{
	char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
		         (char *)(uintptr_t)script, NULL };
	struct tracer_request r = { .kind = TRACER_LAUNCH,
		                    .launch = { .path = "sh", .argv = argv, .how = how } };
	struct tracer *tr = tracer_new();

	expect_ok(tracer_request(tr, &r));
	return tr;
}

static atomic_bool launched_all;

static void *interrupt_group(void *arg)
{
	(void)arg;
	while (!launched_all)
		kill(0, SIGINT);
	return NULL;
}

static void take_no_notice(int signal)
{
	(void)signal;
}

/* ^C is for our group, in which a program that is launched is at first. */
static _Noreturn void launch_interrupted(void)
{
	const struct tracer_launch how = { .own_group = true };
	pthread_t thread;

	alarm(60);
	signal(SIGINT, take_no_notice);
	assert_int_equal(setpgid(0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, interrupt_group, NULL), 0);
	for (int i = 0; i < LAUNCHES; i++)
		tracer_free(launch("exit 0", &how));
	launched_all = true;
	pthread_join(thread, NULL);
	_exit(0);
}

static void test_launch_and_interrupts(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		launch_interrupted();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_launch(void **state)
{
	char *env[] = { (char *)(uintptr_t) "WORD=here", (char *)(uintptr_t) "PATH=/usr/bin:/bin",
		        NULL };
	const struct tracer_launch how = {
		.cwd = "/", .env = env, .fixed = true, .own_group = true, .no_input = true
	};
	struct tracer *tr CLEANUP(tracer_freep) =
		launch("read x; test $? = 1 && test $(pwd) = / && test $WORD = here && "
	               "test -z \"$HOME\" && grep -q ^0004 /proc/self/personality && "
	               "test $(cut -d' ' -f5 /proc/$$/stat) = $$ && kill -PIPE $$",
	               &how);

	(void)state;
	go(tr, TRACER_CONTINUE);
	struct event e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_KILLED);
	assert_int_equal(e.signal, SIGPIPE);
}

static void test_output_of_a_launched_program(void **state)
{
	int output[2], errors[2];
	char text[16];

	(void)state;
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	assert_int_equal(pipe2(errors, O_CLOEXEC), 0);
	const struct tracer_launch how = { .output = output[1], .errors = errors[1] };
	struct tracer *tr CLEANUP(tracer_freep) = launch("printf out; printf err >&2", &how);
	close(output[1]);
	close(errors[1]);
	go(tr, TRACER_CONTINUE);
	assert_int_equal(next_halt(tr).kind, EVENT_EXIT);
	assert_int_equal(read(output[0], text, sizeof(text)), 3);
	assert_memory_equal(text, "out", 3);
	assert_int_equal(read(errors[0], text, sizeof(text)), 3);
	assert_memory_equal(text, "err", 3);
	close(output[0]);
	close(errors[0]);
}

static void *wait_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* What the test program does when it is launched itself. */
static void run_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < CALLERS; i++)
		pthread_create(&thread, NULL, wait_forever, NULL);
	wait_forever(NULL);
}

static void test_a_launched_program_ends_with_its_tracer(void **state)
{
	char script[64];

	(void)state;
	snprintf(script, sizeof(script), "exec /proc/%d/exe threads", (int)getpid());
	struct tracer *tr = launch(script, NULL);
	assert_int_equal(next(tr).kind, EVENT_EXEC);
	control(tr, 0, 0);
	go(tr, TRACER_CONTINUE);
	struct event e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_EXEC);
	go(tr, TRACER_CONTINUE);
	for (int i = 0; i < CALLERS; i++)
		assert_int_equal(next(tr).kind, EVENT_NEW_THREAD);
	tracer_free(tr);
	/* It has ended and was waited for: it is no child of ours any more. */
	assert_int_equal(waitpid(e.tid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_exec_halts(void **state)
{
	struct tracer *tr CLEANUP(tracer_freep) = launch("exec true", NULL);

	(void)state;
	assert_int_equal(next(tr).kind, EVENT_EXEC);
	control(tr, 0, 0);
	go(tr, TRACER_CONTINUE);
	struct event e = next_halt(tr);
	assert_int_equal(e.kind, EVENT_EXEC);
	go(tr, TRACER_CONTINUE);
	assert_int_equal(next_halt(tr).kind, EVENT_EXIT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_call_is_reported_once),
		cmocka_unit_test(test_only_what_matches_is_reported),
#ifdef __x86_64__
		cmocka_unit_test(test_combined_filters),
#endif
		cmocka_unit_test(test_filters_by_order),
		cmocka_unit_test(test_memory_that_comes_and_goes),
		cmocka_unit_test(test_passes_are_counted),
		cmocka_unit_test(test_filters_and_steps),
		cmocka_unit_test(test_reads_show_the_original_bytes),
		cmocka_unit_test(test_stops_of_few_threads),
		cmocka_unit_test(test_a_write_keeps_the_breakpoint),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_an_exit_beside_a_breakpoint),
		cmocka_unit_test(test_an_end_restores_the_program),
		cmocka_unit_test(test_a_step_is_one_instruction),
		cmocka_unit_test(test_signals_come_through_steps),
		cmocka_unit_test(test_signals_that_halt),
		cmocka_unit_test(test_signals_that_halt_together),
		cmocka_unit_test(test_new_processes_have_no_breakpoints),
		cmocka_unit_test(test_halts_of_a_program_with_a_vfork),
		cmocka_unit_test(test_launch),
		cmocka_unit_test(test_launch_and_interrupts),
		cmocka_unit_test(test_output_of_a_launched_program),
		cmocka_unit_test(test_a_launched_program_ends_with_its_tracer),
		cmocka_unit_test(test_exec_halts),
	};

	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		run_threads();
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	if (counts == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
