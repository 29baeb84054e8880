#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/timeline/timeline.h"

enum { TASK = 7 };

static struct timeline *make(void)
{
	return timeline_new(TIMELINE_DELAYS, NULL, NULL);
}

static const struct timeline_delay *add(struct timeline *tl, enum trace_event event, uint64_t time)
{
	timeline_add(tl, &(struct trace_item){ .event = event, .time = time, .task = TASK });
	return timeline_delay(tl);
}

static void assert_measured(const struct timeline_delay *d, uint64_t ns, bool first)
{
	assert_int_equal(d->kind, first ? DELAY_FIRST : DELAY_SCHEDULED);
	assert_int_equal(d->ns, ns);
}

static void test_delays(void **state)
{
	struct timeline *tl CLEANUP(timeline_freep) = make();

	(void)state;
	assert_int_equal(add(tl, TRACE_SPAWN, 100)->kind, DELAY_BEGINS);
	timeline_delay(tl)->task->row = 5;
	assert_int_equal(add(tl, TRACE_SPAWN, 101)->kind, DELAY_NONE);
	add(tl, TRACE_WAKE, 110); /* the spawn counts */
	assert_measured(add(tl, TRACE_POLL_START, 130), 30, true);
	add(tl, TRACE_WAKE, 140); /* while it is polled: from then on */
	assert_int_equal(add(tl, TRACE_POLL_END, 150)->kind, DELAY_NONE);
	assert_measured(add(tl, TRACE_POLL_START, 160), 20, false);
	assert_int_equal(add(tl, TRACE_POLL_START, 170)->kind, DELAY_NONE); /* nobody woke it */
	assert_int_equal(timeline_delay(tl)->task->row, 5);
}

/* The entry of a task is there with the item that ends it, and not with the next one. */
static void test_ids_reused(void **state)
{
	struct timeline *tl CLEANUP(timeline_freep) = make();

	(void)state;
	add(tl, TRACE_SPAWN, 100);
	add(tl, TRACE_POLL_START, 110);
	assert_int_equal(add(tl, TRACE_TERMINATE, 120)->kind, DELAY_ENDS);
	assert_non_null(timeline_delay(tl)->task);
	assert_int_equal(add(tl, TRACE_SPAWN, 130)->kind, DELAY_BEGINS);
	assert_non_null(add(tl, TRACE_TERMINATE, 140)->task);
	assert_null(add(tl, TRACE_POLL_END, 141)->task);
	assert_null(add(tl, TRACE_WAKE, 142)->task);
	assert_int_equal(timeline_untracked(tl), 0);
}

/* Since when a task waits is not known where its spawn was not seen, or events were lost. */
static void test_unknown(void **state)
{
	struct timeline *tl CLEANUP(timeline_freep) = make();

	(void)state;
	assert_null(add(tl, TRACE_POLL_START, 90)->task);
	timeline_add(tl, &(struct trace_item){
				 .event = TRACE_SPAWN, .time = 100, .task = TASK, .late = true });
	assert_int_equal(add(tl, TRACE_POLL_START, 110)->kind, DELAY_NONE);
	add(tl, TRACE_WAKE, 120);
	timeline_forget_delays(tl);
	assert_int_equal(add(tl, TRACE_POLL_START, 130)->kind, DELAY_NONE);
	add(tl, TRACE_WAKE, 140);
	timeline_lost(tl, 150);
	assert_int_equal(add(tl, TRACE_POLL_START, 160)->kind, DELAY_NONE);
	add(tl, TRACE_WAKE, 180);
	assert_int_equal(add(tl, TRACE_POLL_START, 170)->kind, DELAY_NONE); /* out of order */
}

/* A task of the first snapshot may have been polled before: a wake-up is the first thing to know.
 */
static void test_first_snapshot(void **state)
{
	struct timeline *tl CLEANUP(timeline_freep) = make();
	struct task_entry *entry;

	(void)state;
	assert_true(timeline_begin_delay(tl, TASK, true, &entry));
	assert_int_equal(entry->id, TASK);
	assert_false(timeline_begin_delay(tl, TASK, true, &entry));
	assert_int_equal(add(tl, TRACE_SPAWN, 90)->kind, DELAY_NONE);
	assert_int_equal(add(tl, TRACE_POLL_START, 100)->kind, DELAY_NONE);
	add(tl, TRACE_WAKE, 110);
	assert_measured(add(tl, TRACE_POLL_START, 120), 10, false);
	/* Without an id a task exists, and cannot be followed. */
	assert_true(timeline_begin_delay(tl, 0, true, &entry));
	assert_null(entry);
	assert_int_equal(timeline_untracked(tl), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_ids_reused),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_first_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
