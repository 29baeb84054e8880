#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "runtimes/model/model.h"
#include "runtimes/timeline/timeline.h"

enum { BEGIN = 100, TID = 10, OTHER_TID = 20 };

static const struct trace_place here = { .number = 1 }, there = { .number = 2 };

/* "7 waiting 100-130 at 1; ", with "~" where times are not exact, "+" where the span goes on. */
static void note(const struct task_span *span, void *arg)
{
	static const char *const names[] = { "unknown", "runnable", "polling", "waiting" };
	struct str *s = arg;

	str_printf(s, "%llu %s %llu-%llu%s%s", (unsigned long long)span->task, names[span->doing],
	           (unsigned long long)span->from.ns, (unsigned long long)span->to.ns,
	           span->exact ? "" : "~", span->open ? "+" : "");
	if (span->place)
		str_printf(s, " at %llu", (unsigned long long)span->place->number);
	if (span->by)
		str_printf(s, " by %llu", (unsigned long long)span->by);
	str_printf(s, "%s%s%s; ", span->spawned ? " spawned" : "", span->again ? " again" : "",
	           span->last ? " last" : "");
}

static struct timeline *begin_spans(struct str *s)
{
	struct timeline *t = timeline_new(TIMELINE_SPANS, note, s);

	timeline_begin(t, &(struct snapshot){ 0 }, BEGIN);
	return t;
}

static void add(struct timeline *t, enum trace_event event, uint64_t time, pid_t tid)
{
	timeline_add(t,
	             &(struct trace_item){ .event = event, .time = time, .task = 7, .tid = tid });
}

static void end_poll(struct timeline *t, uint64_t time, pid_t tid, const struct trace_place *place)
{
	timeline_add(t, &(struct trace_item){ .event = TRACE_POLL_END,
	                                      .time = time,
	                                      .task = 7,
	                                      .tid = tid,
	                                      .ready = !place,
	                                      .place = place });
}

static void test_life_of_a_task(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = begin_spans(&s);

	(void)state;
	add(t, TRACE_SPAWN, 110, TID);
	assert_int_equal(timeline_alive(t), 1);
	assert_int_equal(timeline_alive_of(t, TRACE_TASK), 1);
	assert_int_equal(timeline_alive_of(t, TRACE_BLOCKING), 0);
	add(t, TRACE_POLL_START, 115, TID);
	end_poll(t, 120, TID, &here);
	timeline_add(t,
	             &(struct trace_item){ .event = TRACE_WAKE, .time = 140, .task = 7, .by = 9 });
	add(t, TRACE_WAKE, 145, TID);
	add(t, TRACE_POLL_START, 150, TID);
	add(t, TRACE_TERMINATE, 158, TID);
	end_poll(t, 160, TID, NULL);
	assert_string_equal(str_text(&s), "7 runnable 110-115 spawned; 7 polling 115-120 at 1; "
	                                  "7 waiting 120-140 at 1; 7 runnable 140-150 at 1 by 9; "
	                                  "7 polling 150-160 last; ");
	assert_int_equal(timeline_alive(t), 0);
	assert_int_equal(timeline_alive_of(t, TRACE_TASK), 0);
}

/* It is put into the queue again when the poll has ended. */
static void test_woken_while_it_is_polled(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = begin_spans(&s);

	(void)state;
	add(t, TRACE_SPAWN, 110, TID);
	add(t, TRACE_POLL_START, 110, TID);
	add(t, TRACE_WAKE, 115, OTHER_TID);
	end_poll(t, 120, TID, &here);
	add(t, TRACE_TERMINATE, 130, TID);
	assert_string_equal(str_text(&s),
	                    "7 runnable 110-110 spawned; 7 polling 110-120 at 1 again; "
	                    "7 runnable 120-130 at 1 last; ");
}

/* The end of its poll is seen when its thread has the next job, long after: it is over before. */
static void test_end_of_a_job(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = begin_spans(&s);
	struct trace_item item = {
		.event = TRACE_SPAWN, .time = 110, .task = 7, .tid = TID, .job = TRACE_BLOCKING
	};

	(void)state;
	timeline_add(t, &item);
	item.event = TRACE_POLL_START;
	timeline_add(t, &item);
	item.event = TRACE_TERMINATE;
	item.time = 120;
	timeline_add(t, &item);
	item.event = TRACE_POLL_END;
	item.time = 9000;
	item.late = true;
	timeline_add(t, &item);
	assert_string_equal(str_text(&s), "7 runnable 110-110 spawned; 7 polling 110-120 last; ");
}

/* The event of the end comes a moment after it, when another thread polls the task already. */
static void test_end_seen_after_the_next_start(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = begin_spans(&s);

	(void)state;
	add(t, TRACE_SPAWN, 110, TID);
	add(t, TRACE_POLL_START, 110, TID);
	add(t, TRACE_POLL_START, 121, OTHER_TID);
	end_poll(t, 120, TID, &here);
	end_poll(t, 130, OTHER_TID, &there);
	add(t, TRACE_TERMINATE, 140, TID);
	assert_string_equal(str_text(&s), "7 runnable 110-110 spawned; 7 polling 110-121; "
	                                  "7 polling 121-130 at 2; 7 waiting 130-140 at 2 last; ");
}

static void test_cut_and_lost(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = begin_spans(&s);

	(void)state;
	add(t, TRACE_SPAWN, 110, TID);
	timeline_cut(t, 120);
	add(t, TRACE_POLL_START, 125, TID);
	timeline_lost(t, 130);
	add(t, TRACE_WAKE, 140, TID);
	add(t, TRACE_POLL_START, 150, TID);
	timeline_cut(t, 151);
	assert_string_equal(str_text(&s),
	                    "7 runnable 110-120~+ spawned; 7 runnable 120-125 spawned; "
	                    "7 polling 125-130~; 7 unknown 130-140~; "
	                    "7 runnable 140-150; 7 polling 150-151~+; ");
}

static struct future leaf = { .type = "tokio::time::Sleep", .kind = FUTURE_OTHER, .addr = 0x1040 };
static struct future *inner_children[] = { &leaf };
static struct future inner = { .function = "app::inner",
	                       .file_short = "app.rs",
	                       .line = 5,
	                       .addr = 0x1020,
	                       .kind = FUTURE_ASYNC_FN,
	                       .state = FUTURE_SUSPENDED,
	                       .children = inner_children,
	                       .nchildren = 1 };
static struct future *outer_children[] = { &inner };
static struct future outer = { .function = "app::outer",
	                       .file_short = "app.rs",
	                       .line = 9,
	                       .addr = 0x1000,
	                       .kind = FUTURE_ASYNC_FN,
	                       .state = FUTURE_SUSPENDED,
	                       .children = outer_children,
	                       .nchildren = 1 };

static const struct trace_place *seeded_place;

static void keep_place(const struct task_span *span, void *arg)
{
	note(span, arg);
	seeded_place = span->place;
}

/* What the first snapshot shows; events that are older than it are counted from it on. */
static void test_first_snapshot(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = timeline_new(TIMELINE_SPANS, keep_place, &s);
	struct task waiting = { .number = 7, .state = TASK_IDLE, .root = &outer, .size = 0x100 };
	struct task complete = { .number = 8, .state = TASK_COMPLETE };
	struct task *tasks[] = { &waiting, &complete };
	struct job queued = { .id = "9" };
	struct snapshot snap = { .tasks = tasks, .ntasks = 2, .jobs = &queued, .njobs = 1 };

	(void)state;
	inner.edge = leaf.edge = "await";
	timeline_begin(t, &snap, BEGIN);
	add(t, TRACE_WAKE, 90, TID);
	add(t, TRACE_POLL_START, 95, TID);
	end_poll(t, 99, TID, &here);
	assert_string_equal(str_text(&s), "");
	timeline_cut(t, 110);
	assert_string_equal(str_text(&s), "7 waiting 100-110~+ at 1; 9 runnable 100-110~+; ");
}

static void test_places_of_the_first_snapshot(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = timeline_new(TIMELINE_SPANS, keep_place, &s);
	struct task waiting = { .number = 7, .state = TASK_IDLE, .root = &outer, .size = 0x100 };
	struct task *tasks[] = { &waiting };
	struct snapshot snap = { .tasks = tasks, .ntasks = 1 };

	(void)state;
	inner.edge = leaf.edge = "await";
	timeline_begin(t, &snap, BEGIN);
	timeline_cut(t, 110);
	assert_non_null(seeded_place);
	assert_int_equal(seeded_place->nframes, 2);
	assert_string_equal(seeded_place->frames[1].function, "app::inner");
	assert_int_equal(seeded_place->frames[0].line, 9);
	assert_string_equal(seeded_place->leaf, "tokio::time::Sleep");
}

/* The slot of a task that has ended is that of the next one. */
static void test_slots(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = begin_spans(&s);

	(void)state;
	for (uint64_t id = 1; id <= 1000; id++) {
		timeline_add(t, &(struct trace_item){
					.event = TRACE_SPAWN, .time = 100 + id, .task = id });
		timeline_add(t, &(struct trace_item){
					.event = TRACE_TERMINATE, .time = 101 + id, .task = id });
	}
	timeline_add(t, &(struct trace_item){ .event = TRACE_SPAWN, .time = 2000, .task = 7 });
	assert_int_equal(timeline_alive(t), 1);
	assert_int_equal(timeline_untracked(t), 0);
}

/* A task may get the address, and so the id, of one that has ended. */
static void test_ids_reused(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = begin_spans(&s);

	(void)state;
	add(t, TRACE_SPAWN, 110, TID);
	add(t, TRACE_POLL_START, 120, TID);
	add(t, TRACE_TERMINATE, 130, TID);
	assert_int_equal(timeline_alive(t), 1);
	end_poll(t, 131, TID, NULL);
	assert_int_equal(timeline_alive(t), 0);
	add(t, TRACE_SPAWN, 140, TID);
	add(t, TRACE_POLL_START, 150, TID);
	assert_int_equal(timeline_alive(t), 1);
	assert_string_equal(str_text(&s), "7 runnable 110-120 spawned; 7 polling 120-131 last; "
	                                  "7 runnable 140-150 spawned; ");
}

/* The end of a poll that began before the trace shows by what its thread or a snapshot tells. */
static void test_polls_before_the_trace(void **state)
{
	STR(s);
	struct timeline *t CLEANUP(timeline_freep) = timeline_new(TIMELINE_SPANS, note, &s);
	struct thread_info th = { .number = 1, .tid = TID };
	struct task first = { .number = 7, .state = TASK_RUNNING, .thread = 1 };
	struct task second = { .number = 8, .state = TASK_RUNNING, .notified = true };
	struct task third = { .number = 9, .state = TASK_RUNNING };
	struct task *tasks[] = { &first, &second, &third };
	struct snapshot snap = { .tasks = tasks, .ntasks = 3, .threads = &th, .nthreads = 1 };

	(void)state;
	timeline_begin(t, &snap, BEGIN);
	assert_int_equal(timeline_unseen(t), 3);
	timeline_add(t, &(struct trace_item){
				.event = TRACE_POLL_START, .time = 120, .task = 10, .tid = TID });
	assert_int_equal(timeline_unseen(t), 2);
	timeline_add(t, &(struct trace_item){ .event = TRACE_TERMINATE, .time = 125, .task = 9 });
	second.state = TASK_IDLE;
	timeline_look(t, &snap, 130);
	assert_int_equal(timeline_unseen(t), 0);
	timeline_cut(t, 140);
	assert_string_equal(str_text(&s), "7 polling 100-120~; 9 polling 100-125~ last; "
	                                  "8 polling 100-130~; 7 waiting 120-140~+; "
	                                  "8 runnable 130-140~+; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_of_a_task),
		cmocka_unit_test(test_woken_while_it_is_polled),
		cmocka_unit_test(test_end_of_a_job),
		cmocka_unit_test(test_end_seen_after_the_next_start),
		cmocka_unit_test(test_cut_and_lost),
		cmocka_unit_test(test_first_snapshot),
		cmocka_unit_test(test_places_of_the_first_snapshot),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_ids_reused),
		cmocka_unit_test(test_polls_before_the_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
