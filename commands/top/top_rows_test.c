#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/top/top_hints.h"
#include "commands/top/top_view.h"
#include "runtimes/model/model.h"
#include "runtimes/trace/plan.h"

enum { BEGIN = 1000, STALL = 500, TID = 10, OTHER_TID = 20 };

static const struct trace_frame frames[] = { { "app::run", "src/main.rs", 12, false, NULL },
	                                     { "app::read", "src/main.rs", 30, false, NULL } };
static const struct trace_place here = { .number = 1, .frames = frames, .nframes = 2 },
				there = { .number = 2, .frames = frames, .nframes = 1 },
				yields = { .number = 3,
	                                   .frames = frames,
	                                   .nframes = 1,
	                                   .leaf = "Yield",
	                                   .yields = true };

static struct top_rows *begin_rows(void)
{
	struct top_rows *t = top_rows_new(STALL);

	top_rows_begin(t, &(struct snapshot){ 0 }, BEGIN);
	return t;
}

static void add(struct top_rows *t, enum trace_event event, uint64_t task, uint64_t time)
{
	top_rows_add(t, &(struct trace_item){ .event = event,
	                                      .time = time,
	                                      .task = task,
	                                      .tid = TID,
	                                      .type = task < 10 ? "app::few" : "app::many" });
}

static void end_poll(struct top_rows *t, uint64_t task, uint64_t time,
                     const struct trace_place *place)
{
	top_rows_add(t, &(struct trace_item){ .event = TRACE_POLL_END,
	                                      .time = time,
	                                      .task = task,
	                                      .tid = TID,
	                                      .ready = !place,
	                                      .place = place });
}

static void wake(struct top_rows *t, uint64_t task, uint64_t time, uint64_t by)
{
	top_rows_add(
		t, &(struct trace_item){
			   .event = TRACE_WAKE, .time = time, .task = task, .tid = TID, .by = by });
}

static struct top_list select_rows(const struct top_rows *t, const struct top_frame *frame,
                                   const struct top_view *view, struct arena *a)
{
	struct top_list list;

	top_view_rows(t, frame, view, a, &list);
	return list;
}

/* Two polls of task 7, the second one is woken by task 8; the third lasts at the end. */
static void test_a_task(void **state)
{
	SCRATCH(a);
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();
	const struct top_view view = { .sort = TOP_ID };

	(void)state;
	add(t, TRACE_SPAWN, 7, 1100);
	add(t, TRACE_SPAWN, 8, 1100);
	add(t, TRACE_POLL_START, 7, 1110);
	end_poll(t, 7, 1140, &here);
	wake(t, 7, 1200, 8);
	add(t, TRACE_POLL_START, 7, 1205);
	end_poll(t, 7, 1215, &here);
	wake(t, 7, 1300, 8);
	add(t, TRACE_POLL_START, 7, 1310);
	const struct top_frame *frame = top_rows_cut(t, 1400);
	assert_int_equal(moment_between(frame->began, frame->time), 400);
	assert_int_equal(frame->n, 2);
	assert_int_equal(frame->spawned, 2);
	assert_int_equal(frame->polls, 3);
	assert_int_equal(frame->polled_ns, 30 + 10 + 90);
	struct top_list list = select_rows(t, frame, &view, &a);
	assert_int_equal(list.n, 2);
	const struct top_row *row = &list.rows[0];
	assert_int_equal(row->task->id, 7);
	assert_int_equal(row->task->doing, DOING_POLLING);
	assert_int_equal(row->task->since.ns, 1310);
	assert_ptr_equal(row->place, &here);
	assert_int_equal(row->polls, 3);
	assert_int_equal(row->polled_ns, 130);
	assert_int_equal(row->poll_longest, 90);
	assert_int_equal(row->poll_p99, 30);
	assert_int_equal(row->runnable_ns, 10 + 5 + 10);
	assert_int_equal(row->runnable_p50, 10);
	assert_int_equal(row->wakes, 2);
	assert_int_equal(row->waker.task, 8);
	assert_string_equal(row->waker.type, "app::few");
	assert_int_equal(row->waker.wakes, 2);
	assert_null(list.rows[1].task->stats->wakers[0].type);

	/* The next interval has the rest of the poll, and nothing of the first one. */
	end_poll(t, 7, 1450, NULL);
	frame = top_rows_cut(t, 1500);
	assert_int_equal(frame->n, 1);
	assert_int_equal(frame->finished, 1);
	assert_int_equal(frame->polls, 0);
	assert_int_equal(frame->nended, 1);
	assert_int_equal(frame->ended[0].stats.polled_ns, 50);
	assert_int_equal(frame->ended[0].stats.poll.longest, 140);
}

/* By itself, in its poll and by yielding; and by several others. */
static void test_wakes(void **state)
{
	SCRATCH(a);
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();
	const struct top_view view = { .sort = TOP_ID };

	(void)state;
	add(t, TRACE_SPAWN, 7, 1100);
	add(t, TRACE_POLL_START, 7, 1110);
	wake(t, 7, 1112, 7);
	end_poll(t, 7, 1120, &here);
	add(t, TRACE_POLL_START, 7, 1125);
	end_poll(t, 7, 1130, &yields);
	wake(t, 7, 1131, 0);
	add(t, TRACE_POLL_START, 7, 1140);
	end_poll(t, 7, 1150, &here);
	wake(t, 7, 1151, 0);
	for (uint64_t i = 0; i < 9; i++) {
		add(t, TRACE_POLL_START, 7, 1200 + 10 * i);
		end_poll(t, 7, 1201 + 10 * i, &here);
		wake(t, 7, 1202 + 10 * i, i % 3 ? 8 : 20 + i);
	}
	struct top_list list = select_rows(t, top_rows_cut(t, 1400), &view, &a);
	assert_int_equal(list.rows[0].wakes, 12);
	assert_int_equal(list.rows[0].own_wakes, 2);
	assert_int_equal(list.rows[0].no_task, 1);
	assert_int_equal(list.rows[0].waker.task, 8);
	assert_in_range(list.rows[0].waker.wakes, 1, 6);
}

static void make_groups(struct top_rows *t)
{
	static const struct trace_place here_too = { .number = 9, .frames = frames, .nframes = 2 };

	for (uint64_t id = 7; id < 13; id++) {
		add(t, TRACE_SPAWN, id, 1100);
		add(t, TRACE_POLL_START, id, 1110 + 10 * id);
		end_poll(t, id, 1110 + 10 * id + id,
		         id == 12  ? NULL
		         : id == 7 ? &here
		         : id == 9 ? &here_too
		                   : &there);
	}
	wake(t, 10, 1300, 7);
	wake(t, 11, 1300, 8);
}

static void test_groups(void **state)
{
	SCRATCH(a);
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();

	(void)state;
	make_groups(t);
	const struct top_frame *frame = top_rows_cut(t, 1400);
	struct top_list list = select_rows(
		t, frame, &(struct top_view){ .sort = TOP_BUSY, .grouping = TOP_BY_TYPE }, &a);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.rows[0].type, "app::many");
	assert_int_equal(list.rows[0].tasks, 2);
	assert_int_equal(list.rows[0].ended, 1);
	assert_int_equal(list.rows[0].polls, 3);
	assert_int_equal(list.rows[0].polled_ns, 10 + 11 + 12);
	assert_int_equal(list.rows[0].poll_p99, 12);
	assert_int_equal(list.rows[0].doing[DOING_RUNNABLE], 2);
	assert_int_equal(list.rows[0].waker.wakes, 2);
	assert_int_equal(list.rows[0].waker.task, 0); /* two of one type */
	assert_string_equal(list.rows[0].waker.type, "app::few");
	list = select_rows(t, frame,
	                   &(struct top_view){ .sort = TOP_TASKS, .grouping = TOP_BY_PLACE }, &a);
	assert_int_equal(list.n, 3);
	assert_int_equal(list.rows[0].tasks, 3);
	assert_null(list.rows[0].type); /* not the same */
	assert_int_equal(list.rows[1].tasks, 2);
	assert_string_equal(top_view_place_text(&a, list.rows[1].place),
	                    "src/main.rs:30 in app::read");
	assert_null(list.rows[2].place);
	assert_int_equal(list.rows[2].ended, 1);
}

/* A copy of a trace was cut, and the chain of the first snapshot is whole. */
static void test_group_of_a_cut_place(void **state)
{
	static const struct trace_place cut = {
		.number = 9, .frames = frames, .nframes = 1, .cut = true
	};
	SCRATCH(a);
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();

	(void)state;
	for (uint64_t id = 7; id < 9; id++) {
		add(t, TRACE_SPAWN, id, 1100);
		add(t, TRACE_POLL_START, id, 1110 + 10 * id);
		end_poll(t, id, 1110 + 10 * id + id, id == 7 ? &here : &cut);
	}
	struct top_list list =
		select_rows(t, top_rows_cut(t, 1400),
	                    &(struct top_view){ .sort = TOP_TASKS, .grouping = TOP_BY_PLACE }, &a);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.rows[0].tasks, 2);
	assert_non_null(strstr(top_view_place_text(&a, list.rows[0].place), " ..."));
}

static void test_order_and_filter(void **state)
{
	SCRATCH(a);
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();
	struct top_view view = { .sort = TOP_LONGEST, .filter_field = TOP_NFIELDS };

	(void)state;
	make_groups(t);
	const struct top_frame *frame = top_rows_cut(t, 1400);
	struct top_list list = select_rows(t, frame, &view, &a);
	assert_int_equal(list.n, 5);
	assert_int_equal(list.rows[0].task->id, 11);
	assert_int_equal(list.rows[4].task->id, 7);
	view.reverse = true;
	view.limit = 2;
	list = select_rows(t, frame, &view, &a);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.total, 5);
	assert_int_equal(list.rows[0].task->id, 7);
	view = (struct top_view){ .sort = TOP_TYPE, .filter = "main.rs:30" };
	view.filter_field = TOP_NFIELDS;
	assert_int_equal(select_rows(t, frame, &view, &a).matched, 2);
	view.filter = "few";
	assert_int_equal(select_rows(t, frame, &view, &a).matched, 3);
	view.filter_field = TOP_PLACE;
	assert_int_equal(select_rows(t, frame, &view, &a).matched, 0);
	view.filter_field = TOP_ID;
	view.filter = "11";
	assert_int_equal(select_rows(t, frame, &view, &a).matched, 1);
	view.filter = "1";
	assert_int_equal(select_rows(t, frame, &view, &a).matched, 0);
}

static void test_stalls(void **state)
{
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();

	(void)state;
	for (uint64_t id = 1; id <= 2; id++)
		add(t, TRACE_SPAWN, id, 1100);
	add(t, TRACE_POLL_START, 1, 2000);
	end_poll(t, 1, 2000 + STALL, &here);
	add(t, TRACE_POLL_START, 1, 3000);
	end_poll(t, 1, 3001 + STALL, &here);
	top_rows_add(
		t, &(struct trace_item){
			   .event = TRACE_POLL_START, .time = 3100, .task = 2, .tid = OTHER_TID });
	const struct top_frame *frame = top_rows_cut(t, 4000);
	assert_int_equal(frame->nstalls, 2);
	assert_int_equal(frame->stall_total, 2);
	assert_int_equal(frame->stalls[0].task, 2);
	assert_true(frame->stalls[0].open);
	assert_int_equal(frame->stalls[0].ns, 900);
	assert_int_equal(frame->stalls[1].ns, STALL + 1);
	assert_false(frame->stalls[1].open);
	assert_ptr_equal(frame->stalls[1].place, &here);
	assert_int_equal(frame->nfresh, 1);
	/* It is counted once. */
	frame = top_rows_cut(t, 5000);
	assert_int_equal(frame->stall_total, 2);
	assert_int_equal(frame->nfresh, 0);
}

/* The next frame has one whose end is read only then, though it was before. */
static void test_a_late_stall(void **state)
{
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();

	(void)state;
	add(t, TRACE_SPAWN, 1, 1100);
	add(t, TRACE_POLL_START, 1, 2000);
	top_rows_cut(t, 4000);
	end_poll(t, 1, 3900, &here);
	const struct top_frame *frame = top_rows_cut(t, 5000);
	assert_int_equal(frame->nstalls, 1);
	assert_int_equal(frame->nfresh, 1);
	assert_false(frame->stalls[0].open);
	assert_int_equal(top_rows_cut(t, 6000)->nfresh, 0);
}

/* An event is later than the end of the frame, by the clock of another processor: no time is below
 * 0. */
static void test_an_event_of_the_future(void **state)
{
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();
	SCRATCH(a);
	struct top_proofs proofs CLEANUP(top_hints_free) = { 0 };
	struct top_hints hints;

	(void)state;
	add(t, TRACE_SPAWN, 1, 1100);
	add(t, TRACE_POLL_START, 1, 5000);
	const struct top_frame *frame = top_rows_cut(t, 4000);
	assert_int_equal(frame->nstalls, 0);
	assert_true(moment_between(frame->tasks[0].since, frame->time) <= 4000);
	top_hints_find(frame, &proofs, &a, &hints);
	assert_int_equal(hints.n, 0);
}

static const struct top_hint *hint_of(const struct top_hints *hints, enum top_hint_kind kind)
{
	for (size_t i = 0; i < hints->n; i++) {
		if (hints->list[i].kind == kind)
			return &hints->list[i];
	}
	return NULL;
}

/* A poll that seems to go on may be over where ends are seen late. */
static void test_late_ends(void **state)
{
	SCRATCH(a);
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();
	struct top_proofs proofs CLEANUP(top_hints_free) = { 0 };
	struct top_hints hints;

	(void)state;
	top_rows_late_ends(t);
	add(t, TRACE_SPAWN, 9, 1100);
	add(t, TRACE_POLL_START, 9, 1500);
	const struct top_frame *frame = top_rows_cut(t, 2000000000);
	assert_int_equal(frame->nstalls, 0);
	assert_int_equal(frame->tasks[0].stats->poll_longest, 0);
	top_hints_find(frame, &proofs, &a, &hints);
	assert_int_equal(hints.n, 0);
}

static void test_hints(void **state)
{
	SCRATCH(a);
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();
	struct top_proofs proofs CLEANUP(top_hints_free) = { 0 };
	struct trace_point point = { .role = TRACE_AT_POLL, .type = "app::many", .size = 20000 };
	struct top_hints hints;

	(void)state;
	point.boxed = true;
	top_hints_plan(&proofs, &(struct trace_plan){ .points = &point, .n = 1 });
	for (uint64_t id = 8; id <= 10; id++)
		add(t, TRACE_SPAWN, id, 1100);
	for (uint64_t i = 0; i < 20; i++) {
		add(t, TRACE_POLL_START, 8, 1200 + 10 * i);
		wake(t, 8, 1201 + 10 * i, i % 4 ? 8 : 9);
		end_poll(t, 8, 1202 + 10 * i, &here);
	}
	add(t, TRACE_POLL_START, 9, 1500);
	top_hints_find(top_rows_cut(t, 2000000000), &proofs, &a, &hints);
	assert_int_equal(hints.n, 3);
	assert_int_equal(hint_of(&hints, TOP_SELF_WAKING)->task, 8);
	assert_int_equal(hint_of(&hints, TOP_SELF_WAKING)->value, 75);
	assert_int_equal(hint_of(&hints, TOP_NEVER_YIELDS)->task, 9);
	assert_string_equal(top_hints_text(&a, hint_of(&hints, TOP_NEVER_YIELDS)),
	                    "task 9 has not yielded for 2.0 s");
	assert_int_equal(hint_of(&hints, TOP_LARGE_FUTURE)->value, 20000);
	assert_true(hint_of(&hints, TOP_LARGE_FUTURE)->boxed);
	assert_null(hint_of(&hints, TOP_LOST_WAKER));
}

/* The end of a poll in a debug build is seen when its thread polls again: it may have been short.
 */
static void test_a_late_end_is_no_stall(void **state)
{
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();
	const struct top_frame *frame;

	(void)state;
	add(t, TRACE_SPAWN, 7, 1100);
	add(t, TRACE_POLL_START, 7, 1110);
	top_rows_add(t, &(struct trace_item){ .event = TRACE_POLL_END,
	                                      .time = 1110 + 2 * STALL,
	                                      .task = 7,
	                                      .tid = TID,
	                                      .at_most_ns = 2 * STALL,
	                                      .place = &here,
	                                      .late = true });
	frame = top_rows_cut(t, 3000);
	assert_int_equal(frame->polls, 1);
	assert_int_equal(frame->nstalls, 0);
	assert_int_equal(frame->tasks[0].stats->poll_longest, 0);
}

/* Events from before the first frame that are read later belong to no frame. */
static void test_events_before_the_first_frame(void **state)
{
	struct top_rows *t CLEANUP(top_rows_freep) = begin_rows();
	const struct top_frame *frame;

	(void)state;
	add(t, TRACE_SPAWN, 7, BEGIN - 20);
	add(t, TRACE_SPAWN, 8, BEGIN - 20);
	add(t, TRACE_TERMINATE, 8, BEGIN - 10);
	add(t, TRACE_SPAWN, 9, BEGIN + 10);
	frame = top_rows_cut(t, 3000);
	assert_int_equal(frame->n, 2);
	assert_int_equal(frame->spawned, 1);
	assert_int_equal(frame->finished, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_task),
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_group_of_a_cut_place),
		cmocka_unit_test(test_order_and_filter),
		cmocka_unit_test(test_stalls),
		cmocka_unit_test(test_a_late_stall),
		cmocka_unit_test(test_late_ends),
		cmocka_unit_test(test_an_event_of_the_future),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_a_late_end_is_no_stall),
		cmocka_unit_test(test_events_before_the_first_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
