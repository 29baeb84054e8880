#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/time/condition.h"
#include "commands/time/sink.h"
#include "runtimes/model/model.h"

enum { MS = 1000000, TID = 10, OTHER = 20 };

/* ---- parsing ---- */

static void test_reads(void **state)
{
	static const struct {
		const char *text;
		enum condition_kind kind;
		uint64_t limit;
	} samples[] = {
		{ "poll>50ms", CONDITION_POLL, 50 * MS },
		{ "poll>5us", CONDITION_POLL, 5000 },
		{ "runnable>1s", CONDITION_RUNNABLE, 1000 * MS },
		{ "alive>0", CONDITION_ALIVE, 0 },
		{ "alive>1000", CONDITION_ALIVE, 1000 },
		{ "deadlock", CONDITION_DEADLOCK, 0 },
		{ "death", CONDITION_DEATH, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct condition c;

		assert_null(condition_read(samples[i].text, &c));
		assert_int_equal(c.kind, samples[i].kind);
		assert_int_equal(c.limit, samples[i].limit);
		assert_string_equal(c.text, samples[i].text);
	}
}

static void test_refuses(void **state)
{
	static const struct {
		const char *text, *message;
	} samples[] = {
		{ "", "use one of poll>50ms, runnable>100ms, alive>1000, deadlock, death" },
		{ "pol>50ms", "did you mean poll>50ms?" },
		{ "deadlok", "did you mean deadlock?" },
		{ "poll", "poll needs a limit, in quotes" },
		{ "poll>", "poll needs a limit" },
		{ "poll>0", "above 0" },
		{ "poll>soon", "not an interval" },
		{ "poll>-1s", "not an interval" },
		{ "poll>>1s", "not an interval" },
		{ "alive>50ms", "not a number of tasks" },
		{ "alive>-1", "not a number of tasks" },
		{ "deadlock>5s", "deadlock has no limit" },
		{ "death>", "death has no limit" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct condition c;
		struct error *err CLEANUP(error_freep) = condition_read(samples[i].text, &c);

		assert_non_null(err);
		assert_int_equal(err->kind, ERR_USAGE);
		if (!strstr(err->message, samples[i].message))
			fail_msg("%s: %s", samples[i].text, err->message);
	}
}

static void test_events(void **state)
{
	bool events[TRACE_NEVENTS] = { false };
	const struct condition alive = { .kind = CONDITION_ALIVE },
			       poll = { .kind = CONDITION_POLL };

	(void)state;
	condition_events(&alive, events);
	assert_true(events[TRACE_SPAWN] && events[TRACE_TERMINATE]);
	assert_false(events[TRACE_POLL_START] || events[TRACE_POLL_END] || events[TRACE_WAKE]);
	condition_events(&poll, events);
	assert_true(events[TRACE_POLL_START] && events[TRACE_POLL_END]);
	assert_false(events[TRACE_WAKE]);
}

/* ---- evaluation ---- */

static struct condition_watch *make(const struct condition *list, size_t n)
{
	static const struct sink_filter all;
	struct condition_watch *w = condition_watch_new(list, n, &all);

	condition_watch_begin(w, &(struct snapshot){ 0 }, 1);
	return w;
}

static void add(struct condition_watch *w, enum trace_event event, uint64_t ms, uint64_t task,
                pid_t tid)
{
	condition_watch_add(w, &(struct trace_item){ .event = event,
	                                             .time = ms * MS,
	                                             .task = task,
	                                             .type = "app::handle",
	                                             .tid = tid });
}

static void end_poll(struct condition_watch *w, uint64_t ms, uint64_t task, pid_t tid,
                     uint64_t took)
{
	condition_watch_add(w, &(struct trace_item){ .event = TRACE_POLL_END,
	                                             .time = ms * MS,
	                                             .task = task,
	                                             .type = "app::handle",
	                                             .tid = tid,
	                                             .poll_ns = took * MS });
}

/* expected NULL: no condition. */
static void look(struct condition_watch *w, uint64_t ms, const char *expected)
{
	SCRATCH(tmp);
	const char *why = NULL;

	condition_watch_look(w, ms * MS, &tmp, &why);
	assert_string_equal(why ? why : "none", expected ? expected : "none");
}

static void test_poll_that_runs(void **state)
{
	static const struct condition poll = { CONDITION_POLL, "poll>50ms", 50 * MS };
	struct condition_watch *w CLEANUP(condition_watch_freep) = make(&poll, 1);

	(void)state;
	add(w, TRACE_POLL_START, 100, 7, TID);
	look(w, 149, NULL);
	look(w, 151, "task 7 (app::handle) has been polled for 51.0 ms");
	/* Once, also when it ends, and when another thread is in one, too. */
	add(w, TRACE_POLL_START, 110, 8, OTHER);
	look(w, 170, NULL);
	end_poll(w, 180, 7, TID, 80);
	look(w, 181, NULL);
	end_poll(w, 190, 8, OTHER, 80);
	look(w, 191, NULL);
	/* Then again. */
	add(w, TRACE_POLL_START, 200, 8, OTHER);
	look(w, 251, "task 8 (app::handle) has been polled for 51.0 ms");
}

static void test_poll_that_has_run(void **state)
{
	static const struct condition poll = { CONDITION_POLL, "poll>50ms", 50 * MS };
	struct condition_watch *w CLEANUP(condition_watch_freep) = make(&poll, 1);

	(void)state;
	add(w, TRACE_POLL_START, 100, 7, TID);
	end_poll(w, 149, 7, TID, 49);
	look(w, 160, NULL);
	add(w, TRACE_POLL_START, 160, 7, TID);
	end_poll(w, 212, 7, TID, 52);
	look(w, 213, "task 7 (app::handle) was polled for 52.0 ms");
	look(w, 214, NULL);
}

static void test_runnable(void **state)
{
	static const struct condition runnable = { CONDITION_RUNNABLE, "", 100 * MS };
	struct condition_watch *w CLEANUP(condition_watch_freep) = make(&runnable, 1);

	(void)state;
	add(w, TRACE_SPAWN, 100, 7, TID);
	look(w, 150, NULL);
	look(w, 220, "task 7 (app::handle) has been runnable for 120.0 ms");
	look(w, 221, NULL);
	add(w, TRACE_POLL_START, 240, 7, TID);
	end_poll(w, 241, 7, TID, 1);
	/* Waits for an event as long as it likes. */
	look(w, 500, NULL);
	add(w, TRACE_WAKE, 600, 7, OTHER);
	add(w, TRACE_POLL_START, 750, 7, TID);
	look(w, 751, "task 7 (app::handle) was runnable for 150.0 ms");
}

static void test_alive(void **state)
{
	static const struct condition alive = { CONDITION_ALIVE, "", 2 };
	struct condition_watch *w CLEANUP(condition_watch_freep) = make(&alive, 1);

	(void)state;
	for (uint64_t i = 1; i <= 2; i++)
		add(w, TRACE_SPAWN, i, i, TID);
	look(w, 10, NULL);
	add(w, TRACE_SPAWN, 11, 3, TID);
	look(w, 12, "3 tasks exist");
	add(w, TRACE_SPAWN, 13, 4, TID);
	look(w, 14, NULL);
	for (uint64_t i = 1; i <= 3; i++)
		add(w, TRACE_TERMINATE, 15, i, TID);
	look(w, 16, NULL);
	for (uint64_t i = 5; i <= 6; i++)
		add(w, TRACE_SPAWN, 17, i, TID);
	look(w, 18, "3 tasks exist");
	add(w, TRACE_TERMINATE, 19, 4, TID);
	look(w, 20, NULL);
	/* For a moment only. */
	add(w, TRACE_SPAWN, 21, 7, TID);
	add(w, TRACE_TERMINATE, 22, 7, TID);
	look(w, 23, "3 tasks existed");
	look(w, 24, NULL);
}

/* What was known before events were lost proves nothing. */
static void test_lost(void **state)
{
	static const struct condition both[] = { { CONDITION_POLL, "", 50 * MS },
		                                 { CONDITION_RUNNABLE, "", 50 * MS } };
	struct condition_watch *w CLEANUP(condition_watch_freep) = make(both, 2);

	(void)state;
	add(w, TRACE_POLL_START, 100, 7, TID);
	add(w, TRACE_SPAWN, 100, 8, TID);
	add(w, TRACE_SPAWN, 100, 9, TID);
	add(w, TRACE_POLL_START, 160, 9, OTHER);
	condition_watch_lost(w, 161 * MS);
	look(w, 170, NULL);
	/* The length of a poll is that of the kernel. */
	end_poll(w, 180, 7, TID, 80);
	look(w, 181, "task 7 (app::handle) was polled for 80.0 ms");
}

static void test_jobs_may_take_long(void **state)
{
	static const struct condition poll = { CONDITION_POLL, "", 50 * MS };
	struct condition_watch *w CLEANUP(condition_watch_freep) = make(&poll, 1);
	struct trace_item item = { .event = TRACE_POLL_START,
		                   .time = 100 * MS,
		                   .tid = 100,
		                   .task = 7,
		                   .job = TRACE_BLOCKING };

	(void)state;
	condition_watch_add(w, &item);
	look(w, 200, NULL);
	item.event = TRACE_POLL_END;
	item.poll_ns = 200 * MS;
	condition_watch_add(w, &item);
	look(w, 300, NULL);
}

static void test_filter(void **state)
{
	static const struct condition poll = { CONDITION_POLL, "", 50 * MS };
	static const struct sink_filter other = { .type = "other" },
					seven = { .of_task = true, .task = 7 };
	const struct sink_filter *filters[] = { &other, &seven };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct condition_watch *w CLEANUP(condition_watch_freep) =
			condition_watch_new(&poll, 1, filters[i]);

		condition_watch_begin(w, &(struct snapshot){ 0 }, 1);
		end_poll(w, 100, 8, TID, 80);
		look(w, 101, NULL);
		end_poll(w, 200, 7, TID, 80);
		look(w, 201, i ? "task 7 (app::handle) was polled for 80.0 ms" : NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_poll_that_runs),
		cmocka_unit_test(test_poll_that_has_run),
		cmocka_unit_test(test_runnable),
		cmocka_unit_test(test_alive),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_jobs_may_take_long),
		cmocka_unit_test(test_filter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
