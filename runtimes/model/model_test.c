#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/model/model.h"

static struct snapshot *new_snapshot(void)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->complete = true;
	return s;
}

static void test_each_note_once(void **state)
{
	(void)state;
	struct snapshot *s = new_snapshot();

	for (int i = 0; i < 3; i++) {
		snapshot_note(s, "note %d", 1);
		snapshot_note(s, "note %d", 2);
	}
	assert_int_equal(s->nnotes, 2);
	assert_string_equal(s->notes[0], "note 1");
	assert_string_equal(s->notes[1], "note 2");
	assert_true(s->complete);
	snapshot_free(s);
}

/* A repeated text that was a plain note before still marks the snapshot incomplete. */
static void test_incomplete(void **state)
{
	(void)state;
	struct snapshot *s = new_snapshot();

	snapshot_note(s, "same");
	assert_true(s->complete);
	snapshot_incomplete(s, "same");
	assert_false(s->complete);
	assert_int_equal(s->nnotes, 1);
	snapshot_note(s, "later");
	assert_false(s->complete);
	snapshot_free(s);
}

static void test_many_notes_keep_their_order(void **state)
{
	(void)state;
	struct snapshot *s = new_snapshot();
	char expected[32];

	for (int i = 0; i < 1000; i++)
		snapshot_note(s, "note %d", i);
	assert_int_equal(s->nnotes, 1000);
	for (int i = 0; i < 1000; i++) {
		snprintf(expected, sizeof(expected), "note %d", i);
		assert_string_equal(s->notes[i], expected);
	}
	snapshot_free(s);
}

static void test_notes_are_one_clean_line(void **state)
{
	(void)state;
	struct snapshot *s = new_snapshot();

	snapshot_note(s, "%s", "a\nb\x1b[31m\xff");
	snapshot_note(s, "%s", "");
	assert_string_equal(s->notes[0], "a?b?[31m\xef\xbf\xbd");
	assert_string_equal(s->notes[1], "");
	snapshot_free(s);
	snapshot_free(NULL);
}

static void test_tasks_are_found_by_number(void **state)
{
	static struct task tasks[] = {
		{ .runtime = 0, .number = 0 }, { .runtime = 0, .number = 3 },
		{ .runtime = 0, .number = 9 }, { .runtime = 2, .number = 3 },
		{ .runtime = 2, .number = 3 }, { .runtime = 2, .number = UINT64_MAX },
	};
	static const struct {
		unsigned runtime;
		uint64_t number;
		size_t index;
	} cases[] = {
		{ 0, 0, 0 }, { 0, 1, 1 }, { 0, 3, 1 },          { 0, 4, 2 }, { 0, 10, 3 },
		{ 1, 3, 3 }, { 2, 3, 3 }, { 2, UINT64_MAX, 5 }, { 3, 0, 6 },
	};
	struct snapshot *s = new_snapshot();

	(void)state;
	assert_int_equal(snapshot_task_index(s, 0, 3), 0);
	s->ntasks = sizeof(tasks) / sizeof(tasks[0]);
	s->tasks = NEW_ARRAY(&s->arena, struct task *, s->ntasks);
	for (size_t i = 0; i < s->ntasks; i++)
		s->tasks[i] = &tasks[i];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(snapshot_task_index(s, cases[i].runtime, cases[i].number),
		                 cases[i].index);
	snapshot_free(s);
}

static void test_keys(void **state)
{
	static const char *const none[] = {
		"",
		"5",
		"0x7f00",
		":0x1",
		"tokio",
		"tokio:",
		"tokio:0x",
		"tokio:0x7g",
		"a:7f",
		"A:0x1",
		"a b:0x1",
		"a:0x1 ",
		"a:0x10000000000000000",
	};
	struct snapshot *s = new_snapshot();
	const char *key = task_key(&s->arena, "async_executor", UINT64_MAX);

	(void)state;
	assert_string_equal(key, "async_executor:0xffffffffffffffff");
	assert_true(task_id_is_key(key));
	assert_true(task_id_is_key(task_key(&s->arena, "compio", 0)));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(task_id_is_key(none[i]));
	snapshot_free(s);
}

/* Unknown async code is accepted if there is a runtime, or a thread with the role of one. */
static void test_understood(void **state)
{
	struct snapshot *s = new_snapshot();
	struct thread_info th = { .role = THREAD_OTHER };

	(void)state;
	s->threads = &th;
	s->nthreads = 1;
	assert_true(snapshot_is_understood(s));
	s->others = "this program has async code";
	assert_false(snapshot_is_understood(s));
	th.role = THREAD_WORKER;
	assert_false(snapshot_is_understood(s));
	s->target.tier = TIER_SYMBOLS;
	assert_true(snapshot_is_understood(s));
	th.role = THREAD_OTHER;
	assert_false(snapshot_is_understood(s));
	s->nruntimes = 1;
	assert_true(snapshot_is_understood(s));
	snapshot_free(s);
}

/* Where memory was not scanned to its end the error says so. */
static void test_unscanned(void **state)
{
	struct snapshot *s = new_snapshot();

	(void)state;
	s->complete = true;
	s->others = "this program has async code";
	snapshot_note_unscanned(s, "4 ms is the limit");
	snapshot_note_unscanned(s, "8 MiB is the limit");
	assert_false(s->complete);
	assert_int_equal(s->nnotes, 2);
	CLEANUP(error_freep) struct error *err = snapshot_check_understood(s);
	assert_non_null(err);
	assert_string_equal(err->message, "this program has async code; nothing can be said of its "
	                                  "tasks: 4 ms is the limit");
	snapshot_free(s);
}

static void test_lacks_thread(void **state)
{
	static const struct {
		uint64_t queued, threads, limit;
		bool has_limit, lacks;
	} cases[] = {
		{ 1, 0, 512, true, true }, { 0, 0, 512, true, false }, { 1, 1, 512, true, false },
		{ 1, 0, 0, true, false },  { 1, 0, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct runtime_info r = { .has_blocking = true,
			                        .blocking_queued = cases[i].queued,
			                        .blocking_threads = cases[i].threads,
			                        .blocking_limit = cases[i].limit,
			                        .has_limit = cases[i].has_limit };

		assert_int_equal(runtime_lacks_thread(&r), cases[i].lacks);
	}
	assert_false(runtime_lacks_thread(&(struct runtime_info){ .blocking_queued = 1 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_note_once),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_many_notes_keep_their_order),
		cmocka_unit_test(test_tasks_are_found_by_number),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_notes_are_one_clean_line),
		cmocka_unit_test(test_understood),
		cmocka_unit_test(test_unscanned),
		cmocka_unit_test(test_lacks_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
