#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "runtimes/timeline/timeline.h"

enum { TID = 10, OTHER = 20, NOBODY = 30 };

static void add(struct timeline *l, enum trace_event event, uint64_t time, pid_t tid)
{
	timeline_add(l, &(struct trace_item){ .event = event,
	                                      .time = time,
	                                      .tid = tid,
	                                      .worker = tid == NOBODY ? -1 : tid / 10 - 1 });
}

/* Notes the load of a worker and takes it. */
static bool note(struct timeline_load *load, void *arg)
{
	uint64_t all = load->busy_ns + load->parked_ns;

	if (load->work != WORK_UNKNOWN && load->worker >= 0 && all)
		str_printf(arg, "%d: %llu of %llu; ", load->worker,
		           (unsigned long long)load->busy_ns, (unsigned long long)all);
	load->busy_ns = load->parked_ns = 0;
	return true;
}

static void assert_loads(struct timeline *l, uint64_t time, const char *expected)
{
	STR(s);

	timeline_each_load(l, time, note, &s);
	assert_string_equal(str_text(&s), expected);
}

static void test_shares(void **state)
{
	struct timeline *l CLEANUP(timeline_freep) = timeline_new(TIMELINE_LOADS, NULL, NULL);

	(void)state;
	add(l, TRACE_POLL_START, 100, NOBODY);
	assert_loads(l, 200, "");
	add(l, TRACE_POLL_START, 200, TID);
	add(l, TRACE_PARK, 250, OTHER);
	add(l, TRACE_POLL_END, 260, TID);
	assert_loads(l, 300, "0: 100 of 100; 1: 0 of 50; ");
	add(l, TRACE_PARK, 310, TID);
	add(l, TRACE_UNPARK, 330, TID);
	/* A park that goes on counts up to each call. */
	assert_loads(l, 400, "0: 80 of 100; 1: 0 of 100; ");
	add(l, TRACE_UNPARK, 450, OTHER);
	assert_loads(l, 500, "0: 100 of 100; 1: 50 of 100; ");
	assert_loads(l, 500, "");
}

static void test_what_is_not_known(void **state)
{
	struct timeline *l CLEANUP(timeline_freep) = timeline_new(TIMELINE_LOADS, NULL, NULL);

	(void)state;
	/* An end of a park whose beginning was not seen, and a beginning whose end was not. */
	add(l, TRACE_UNPARK, 100, TID);
	add(l, TRACE_PARK, 120, TID);
	add(l, TRACE_POLL_START, 150, TID);
	assert_loads(l, 200, "0: 70 of 100; ");
	timeline_lost(l, 200);
	assert_loads(l, 300, "");
	add(l, TRACE_PARK, 310, TID);
	assert_loads(l, 330, "0: 0 of 20; ");
	add(l, TRACE_WORKER_STOP, 340, TID);
	assert_loads(l, 400, "");
	/* Events are not quite in the order of time. */
	add(l, TRACE_POLL_START, 500, TID);
	assert_loads(l, 600, "0: 100 of 100; ");
	add(l, TRACE_PARK, 590, TID);
	assert_loads(l, 700, "0: 0 of 100; ");
	add(l, TRACE_UNPARK, 690, TID);
	assert_loads(l, 800, "0: 100 of 100; ");
	add(l, TRACE_PARK, 850, TID);
	add(l, TRACE_UNPARK, 840, TID);
	assert_loads(l, 900, "0: 100 of 100; ");
}

/* A thread that is no worker is busy when its park ends, whatever shows it; jobs of a pool are not
 * work. */
static void test_other_threads(void **state)
{
	struct timeline *l CLEANUP(timeline_freep) = timeline_new(TIMELINE_LOADS, NULL, NULL);
	struct trace_item job = {
		.event = TRACE_POLL_START, .time = 95, .tid = NOBODY, .job = TRACE_BLOCKING
	};

	(void)state;
	timeline_add(l, &job);
	assert_null(timeline_load(l, NOBODY));
	add(l, TRACE_POLL_START, 100, NOBODY);
	assert_int_equal(timeline_load(l, NOBODY)->work, WORK_UNKNOWN);
	add(l, TRACE_PARK, 110, NOBODY);
	add(l, TRACE_POLL_START, 140, NOBODY);
	assert_int_equal(timeline_load(l, NOBODY)->work, WORK_BUSY);
	assert_int_equal(timeline_load(l, NOBODY)->parked_ns, 30);
	assert_int_equal(timeline_load(l, NOBODY)->polls, 2);
	job.event = TRACE_WAKE;
	job.tid = OTHER;
	timeline_add(l, &job);
	assert_null(timeline_load(l, OTHER));
}

static bool count(struct timeline_load *load, void *arg)
{
	assert_true(load->worker < 0 || load->busy_ns == 100);
	*(size_t *)arg += load->worker >= 0;
	return true;
}

/* Runtimes come and go in a long trace, each with workers of its own. */
static void test_many_workers(void **state)
{
	enum { MANY = 5000 };
	struct timeline *l CLEANUP(timeline_freep) = timeline_new(TIMELINE_LOADS, NULL, NULL);
	size_t n = 0;

	(void)state;
	for (int i = 1; i <= MANY; i++)
		add(l, TRACE_POLL_START, 100, 10 * i);
	timeline_each_load(l, 200, count, &n);
	assert_int_equal(n, MANY - 1); /* one of them is NOBODY */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_what_is_not_known),
		cmocka_unit_test(test_other_threads),
		cmocka_unit_test(test_many_workers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
