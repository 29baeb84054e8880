#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "debugger/base/clock.h"
#include "runtimes/model/model.h"
#include "runtimes/trace/trace_threads.h"
#include "runtimes/trace/worker_job.h"

/* A process as its looks show it. */
struct process {
	struct runtime_info runtimes[2];
	size_t nruntimes;
	struct thread_info threads[2];
	size_t nthreads, nlooks;
	size_t worker_at; /* threads[0] is a worker from that look on */
};

static struct snapshot *look(void *arg)
{
	struct process *p = arg;
	struct snapshot *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	if (++p->nlooks >= p->worker_at)
		p->threads[0].worker = 3;
	s->runtimes = p->runtimes;
	s->nruntimes = p->nruntimes;
	s->threads = p->threads;
	s->nthreads = p->nthreads;
	return s;
}

static const struct process one_worker = {
	.runtimes = { { .index = 0, .addr = 0x2000 } },
	.nruntimes = 1,
	.threads = { { .tid = 10, .worker = -1, .runtime = 0 },
	             { .tid = 11, .worker = -1, .runtime = -1 } },
	.nthreads = 2,
	.worker_at = SIZE_MAX,
};

static struct trace_item fill(struct trace_threads *t, enum trace_event event, pid_t tid)
{
	struct trace_item item = { .event = event, .time = clock_now_ns(), .tid = tid };

	trace_threads_fill(t, &item);
	return item;
}

/* A worker that has not entered its runtime at the first look is looked at until it has. */
static void test_worker_begins(void **state)
{
	struct process p = one_worker;
	struct trace_threads t = { .look = look, .arg = &p };

	(void)state;
	p.worker_at = 3;
	struct trace_item item = fill(&t, TRACE_WORKER_START, 10);
	assert_int_equal(item.worker, 3);
	assert_int_equal(item.runtime, 0);
	assert_int_equal(p.nlooks, 3);
	fill(&t, TRACE_PARK, 10);
	assert_int_equal(p.nlooks, 3);
	/* The thread is a worker until it stops, and the item of its stop is a worker's. */
	assert_int_equal(fill(&t, TRACE_WORKER_STOP, 10).worker, 3);
	trace_threads_end(&t, 10);
	assert_int_equal(fill(&t, TRACE_WAKE, 10).worker, -1);
	trace_threads_free(&t);
}

/* A thread of no runtime costs a look only now and then, and those stay unknown. */
static void test_no_runtime(void **state)
{
	struct process p = one_worker;
	struct trace_threads t = { .look = look, .arg = &p };

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(fill(&t, TRACE_WAKE, 11).runtime, -1);
	assert_in_range(p.nlooks, 1, 20);
	t.look = NULL;
	assert_int_equal(fill(&t, TRACE_WAKE, 12).runtime, -1);
	trace_threads_free(&t);
}

/* The first runtime has ended since: the other one keeps its number, and a new one gets the next.
 */
static void test_numbers(void **state)
{
	struct process p = one_worker;
	struct trace_threads t = { .look = look, .arg = &p };

	(void)state;
	p.nruntimes = 2;
	p.runtimes[1] = (struct runtime_info){ .index = 1, .addr = 0x3000 };
	p.threads[0].runtime = 1;
	assert_int_equal(fill(&t, TRACE_WAKE, 10).runtime, 1);
	p.runtimes[0].addr = 0x3000;
	p.runtimes[1].addr = 0x4000;
	p.threads[0].runtime = 0;
	p.threads[1].runtime = 1;
	assert_int_equal(fill(&t, TRACE_WAKE, 11).runtime, 2);
	assert_int_equal(fill(&t, TRACE_WAKE, 10).runtime, 1);
	trace_threads_free(&t);
}

/*
 * Workers that are known from their start need no look. A runtime that gets the memory of one that
 * has ended is another one.
 */
static void test_workers_known(void **state)
{
	struct process p = one_worker;
	struct trace_threads t = { .look = look, .arg = &p };
	struct worker_identity who = { .worker = 1, .runtime = 0x2000, .serial = 7 };

	(void)state;
	trace_threads_begin(&t, 10, &who);
	struct trace_item item = fill(&t, TRACE_WORKER_START, 10);
	assert_int_equal(item.worker, 1);
	assert_int_equal(item.runtime, 0);
	trace_threads_end(&t, 10);
	assert_int_equal(fill(&t, TRACE_WAKE, 10).worker, -1);
	who = (struct worker_identity){ .worker = 0, .runtime = 0x2000, .serial = 8 };
	trace_threads_begin(&t, 10, &who);
	assert_int_equal(fill(&t, TRACE_PARK, 10).worker, 0);
	assert_int_equal(fill(&t, TRACE_PARK, 10).runtime, 1);
	assert_int_equal(p.nlooks, 0);
	/* A snapshot has the serial of a runtime as well. */
	p.runtimes[0].serial = 7;
	p.threads[1].runtime = 0;
	assert_int_equal(fill(&t, TRACE_WAKE, 11).runtime, 0);
	assert_int_equal(p.nlooks, 1);
	/* A thread whose worker is not known is looked at. */
	trace_threads_begin(&t, 10, NULL);
	assert_int_equal(fill(&t, TRACE_WORKER_START, 10).worker, -1);
	trace_threads_free(&t);
}

/* However many threads a trace has met before, a worker is known from its start on. */
static void test_many_threads(void **state)
{
	enum { FIRST = 1000, MANY = 70000 };
	struct trace_threads t = { .look = NULL };

	(void)state;
	for (int i = 0; i < MANY; i++) {
		struct worker_identity who = { .worker = i, .runtime = 0x2000, .serial = 7 };

		trace_threads_begin(&t, FIRST + i, &who);
	}
	assert_int_equal(fill(&t, TRACE_PARK, FIRST).worker, 0);
	assert_int_equal(fill(&t, TRACE_PARK, FIRST + MANY - 1).worker, MANY - 1);
	trace_threads_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worker_begins), cmocka_unit_test(test_no_runtime),
		cmocka_unit_test(test_numbers),       cmocka_unit_test(test_workers_known),
		cmocka_unit_test(test_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
