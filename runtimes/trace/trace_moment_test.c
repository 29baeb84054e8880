#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "runtimes/model/model.h"
#include "runtimes/trace/trace_moment.h"

enum { BEGIN = 100, TID = 10, OTHER = 20 };

static void note_task(const struct task_span *span, void *arg)
{
	static const char *const names[] = { "unknown", "runnable", "polling", "waiting" };

	assert_true(span->open);
	str_printf(arg, "%llu %s since %llu%s; ", (unsigned long long)span->task,
	           names[span->doing], (unsigned long long)span->began.ns,
	           span->began_exact ? "" : "~");
}

static void note_call(const struct trace_item *start, void *arg)
{
	str_printf(arg, "%d %s %llu; ", (int)start->tid, trace_event_name(start->event),
	           (unsigned long long)start->task);
}

static void assert_tasks(struct trace_moment *m, const char *expected)
{
	STR(s);

	trace_moment_tasks(m, note_task, &s);
	assert_string_equal(str_text(&s), expected);
}

static void assert_calls(const struct trace_moment *m, const char *expected)
{
	STR(s);

	trace_moment_calls(m, note_call, &s);
	assert_string_equal(str_text(&s), expected);
}

static struct trace_moment *make(void)
{
	struct trace_moment *m = trace_moment_new(NULL, NULL);

	trace_moment_begin(m, &(struct snapshot){ 0 }, BEGIN);
	return m;
}

static void add(struct trace_moment *m, enum trace_event event, uint64_t time, pid_t tid,
                uint64_t task)
{
	trace_moment_add(
		m, &(struct trace_item){ .event = event, .time = time, .tid = tid, .task = task });
}

static void test_tasks(void **state)
{
	struct trace_moment *m CLEANUP(trace_moment_freep) = make();

	(void)state;
	assert_tasks(m, "");
	add(m, TRACE_SPAWN, 110, TID, 7);
	add(m, TRACE_SPAWN, 120, TID, 8);
	assert_tasks(m, "7 runnable since 110; 8 runnable since 120; ");
	assert_int_equal(trace_moment_alive(m, TRACE_TASK), 2);
	add(m, TRACE_POLL_START, 130, TID, 7);
	assert_tasks(m, "7 polling since 130; 8 runnable since 120; ");
	add(m, TRACE_POLL_END, 140, TID, 7);
	assert_tasks(m, "7 waiting since 140; 8 runnable since 120; ");
	add(m, TRACE_TERMINATE, 150, TID, 7);
	assert_tasks(m, "8 runnable since 120; ");
	trace_moment_lost(m, 160);
	assert_tasks(m, "8 unknown since 160~; ");
}

static void test_calls(void **state)
{
	struct trace_moment *m CLEANUP(trace_moment_freep) = make();

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
	trace_moment_lost(m, 170);
	assert_calls(m, "");
	add(m, TRACE_PARK, 180, TID, 0);
	assert_calls(m, "10 worker-thread-park 0; ");
}

/* Threads that are in no call make room for others. */
static void test_many_threads(void **state)
{
	struct trace_moment *m CLEANUP(trace_moment_freep) = make();

	(void)state;
	for (int i = 1; i <= 3 * TRACE_MOMENT_THREADS; i++) {
		add(m, TRACE_POLL_START, 110, i, 7);
		add(m, TRACE_POLL_END, 111, i, 7);
	}
	add(m, TRACE_PARK, 120, TID, 0);
	assert_calls(m, "10 worker-thread-park 0; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_many_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
