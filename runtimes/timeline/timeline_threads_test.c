#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "runtimes/model/model.h"
#include "runtimes/timeline/timeline.h"

enum { BEGIN = 100, TID = 10, OTHER = 20 };

static void note_task(const struct task_span *span, void *arg)
{
	static const char *const names[] = { "unknown", "runnable", "polling", "waiting" };

	assert_true(span->open);
	str_printf(arg, "%llu %s since %llu%s; ", (unsigned long long)span->task,
	           names[span->doing], (unsigned long long)span->began.ns,
	           span->began_exact ? "" : "~");
}

static void note_call(struct timeline_call *call, void *arg)
{
	const struct trace_item *start = &call->start;

	str_printf(arg, "%d %s %llu; ", (int)start->tid, trace_event_name(start->event),
	           (unsigned long long)start->task);
}

static void assert_tasks(struct timeline *m, const char *expected)
{
	STR(s);

	timeline_each_task(m, note_task, &s);
	assert_string_equal(str_text(&s), expected);
}

static void assert_calls(struct timeline *m, const char *expected)
{
	STR(s);

	timeline_each_call(m, note_call, &s);
	assert_string_equal(str_text(&s), expected);
}

static struct timeline *make(void)
{
	struct timeline *m = timeline_new(TIMELINE_SPANS | TIMELINE_CALLS, NULL, NULL);

	timeline_begin(m, &(struct snapshot){ 0 }, BEGIN);
	return m;
}

static void add(struct timeline *m, enum trace_event event, uint64_t time, pid_t tid, uint64_t task)
{
	timeline_add(
		m, &(struct trace_item){ .event = event, .time = time, .tid = tid, .task = task });
}

static void test_tasks(void **state)
{
	struct timeline *m CLEANUP(timeline_freep) = make();

	(void)state;
	assert_tasks(m, "");
	add(m, TRACE_SPAWN, 110, TID, 7);
	add(m, TRACE_SPAWN, 120, TID, 8);
	assert_tasks(m, "7 runnable since 110; 8 runnable since 120; ");
	assert_int_equal(timeline_alive_of(m, TRACE_TASK), 2);
	add(m, TRACE_POLL_START, 130, TID, 7);
	assert_tasks(m, "7 polling since 130; 8 runnable since 120; ");
	add(m, TRACE_POLL_END, 140, TID, 7);
	assert_tasks(m, "7 waiting since 140; 8 runnable since 120; ");
	add(m, TRACE_TERMINATE, 150, TID, 7);
	assert_tasks(m, "8 runnable since 120; ");
	timeline_lost(m, 160);
	assert_tasks(m, "8 unknown since 160~; ");
}

static void test_calls(void **state)
{
	struct timeline *m CLEANUP(timeline_freep) = make();

	(void)state;
	add(m, TRACE_WORKER_START, 110, TID, 0);
	add(m, TRACE_PARK, 120, TID, 0);
	add(m, TRACE_POLL_START, 125, OTHER, 3);
	assert_calls(m, "10 worker-thread-start 0; 10 worker-thread-park 0; "
	                "20 task-poll-start 3; ");
	add(m, TRACE_UNPARK, 130, TID, 0);
	add(m, TRACE_POLL_START, 140, TID, 7);
	add(m, TRACE_POLL_START, 141, TID, 8);
	/* The end of a call ends those within it; one that never began ends none. */
	add(m, TRACE_POLL_END, 150, TID, 7);
	add(m, TRACE_POLL_END, 151, TID, 9);
	add(m, TRACE_UNPARK, 152, OTHER, 0);
	assert_calls(m, "10 worker-thread-start 0; 20 task-poll-start 3; ");
	add(m, TRACE_WORKER_STOP, 160, TID, 0);
	timeline_lost(m, 170);
	assert_calls(m, "");
	add(m, TRACE_PARK, 180, TID, 0);
	assert_calls(m, "10 worker-thread-park 0; ");
}

/* Threads that are in no call make room for others. */
static void test_many_threads(void **state)
{
	struct timeline *m CLEANUP(timeline_freep) = make();

	(void)state;
	for (int i = 1; i <= 3 * TIMELINE_THREADS; i++) {
		add(m, TRACE_POLL_START, 110, i, 7);
		add(m, TRACE_POLL_END, 111, i, 7);
	}
	add(m, TRACE_PARK, 120, TID, 0);
	assert_calls(m, "10 worker-thread-park 0; ");
}

static void assert_ended(struct timeline *tl, uint64_t task, bool unseen, unsigned marks)
{
	const struct timeline_call *call = timeline_ended_call(tl);

	assert_non_null(call);
	assert_int_equal(call->start.task, task);
	assert_int_equal(call->unseen, unseen);
	assert_int_equal(call->marks, marks);
}

static void mark(struct timeline_call *call, void *arg)
{
	(void)arg;
	call->marks = (unsigned)call->start.task;
}

/* The marks of a call are there when it ends, and not with a later one of that task.
 */
static void test_marks(void **state)
{
	struct timeline *tl CLEANUP(timeline_freep) = make();
	const struct trace_item outer = {
		.event = TRACE_POLL_START, .time = 110, .tid = TID, .task = 7
	};

	(void)state;
	timeline_add(tl, &outer);
	add(tl, TRACE_POLL_START, 120, TID, 8);
	timeline_each_call(tl, mark, NULL);
	assert_int_equal(timeline_poll(tl, &outer)->marks, 7);
	assert_null(timeline_ended_call(tl));
	add(tl, TRACE_POLL_END, 130, TID, 8);
	assert_ended(tl, 8, false, 8);
	add(tl, TRACE_WAKE, 131, TID, 8);
	assert_null(timeline_ended_call(tl));
	add(tl, TRACE_POLL_END, 140, TID, 7);
	assert_ended(tl, 7, false, 7);
	assert_null(timeline_poll(tl, &outer));
	add(tl, TRACE_POLL_START, 150, TID, 7);
	assert_null(timeline_poll(tl, &outer));
	add(tl, TRACE_POLL_END, 160, TID, 7);
	assert_ended(tl, 7, false, 0);
}

/* An end ends the innermost call of its task, and no call of another one. */
static void test_nested(void **state)
{
	struct timeline *tl CLEANUP(timeline_freep) = make();

	(void)state;
	add(tl, TRACE_POLL_START, 110, TID, 7);
	add(tl, TRACE_POLL_START, 111, TID, 8);
	add(tl, TRACE_POLL_START, 112, TID, 7);
	assert_true(timeline_is_polling(tl, TID));
	assert_false(timeline_is_polling(tl, OTHER));
	add(tl, TRACE_POLL_END, 120, TID, 9);
	add(tl, TRACE_POLL_END, 121, OTHER, 8);
	assert_null(timeline_ended_call(tl));
	add(tl, TRACE_POLL_END, 122, TID, 7);
	assert_calls(tl, "10 task-poll-start 7; 10 task-poll-start 8; ");
	timeline_lost(tl, 130);
	assert_false(timeline_is_polling(tl, TID));
	add(tl, TRACE_PARK, 140, TID, 0);
	assert_false(timeline_is_polling(tl, TID));
}

/* Calls that nest deeper than any program has them are left out, and their ends end no others. */
static void test_depth(void **state)
{
	enum { DEEP = 10, DEEPER = 13 };
	struct timeline *tl CLEANUP(timeline_freep) = make();
	struct trace_item start = { .event = TRACE_POLL_START, .tid = TID };

	(void)state;
	for (uint64_t i = 1; i <= DEEPER; i++) {
		start.task = start.time = i;
		timeline_add(tl, &start);
		assert_true((timeline_poll(tl, &start) != NULL) == (i <= DEEP));
	}
	for (uint64_t i = DEEPER; i > DEEP; i--) {
		add(tl, TRACE_POLL_END, 100, TID, i);
		assert_null(timeline_ended_call(tl));
	}
	add(tl, TRACE_POLL_END, 100, TID, DEEP);
	assert_ended(tl, DEEP, false, 0);
}

/* Nothing shows the end of a poll that began before the trace but the next poll of its thread. */
static void test_polls_before_the_trace(void **state)
{
	struct timeline *tl CLEANUP(timeline_freep) = make();
	struct thread_info threads[] = { { .number = 1, .tid = TID },
		                         { .number = 2, .tid = OTHER } };
	struct task first = { .number = 7, .state = TASK_RUNNING, .thread = 1, .type = "app::a" };
	struct task second = { .number = 8, .state = TASK_RUNNING, .thread = 2 };
	struct task waiting = { .number = 9, .state = TASK_IDLE };
	struct task moved = { .number = 4, .state = TASK_RUNNING, .thread = 2 };
	struct task *tasks[] = { &first, &second, &waiting, &moved };
	struct snapshot snap = { .tasks = tasks, .ntasks = 4, .threads = threads, .nthreads = 2 };

	(void)state;
	timeline_begin_polls(tl, &snap, BEGIN);
	assert_calls(tl, "10 task-poll-start 7; 20 task-poll-start 8; ");
	add(tl, TRACE_POLL_START, 110, TID, 5);
	add(tl, TRACE_POLL_START, 111, TID, 7);
	assert_calls(tl, "10 task-poll-start 5; 10 task-poll-start 7; 20 task-poll-start 8; ");
	add(tl, TRACE_POLL_END, 120, OTHER, 6);
	assert_null(timeline_ended_call(tl));
	assert_calls(tl, "10 task-poll-start 5; 10 task-poll-start 7; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_polls_before_the_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
