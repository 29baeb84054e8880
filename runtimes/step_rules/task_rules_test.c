/* Tests of decisions of steps that are about a task. */
#include "runtimes/step_rules/task_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- the whole task ---- */

static void test_types(void **state)
{
	SCRATCH(a);

	(void)state;
	assert_string_equal(task_rules_type("app::main", 0, &a), "app::main");
	assert_null(task_rules_type("app::main", 1, &a));
	assert_null(task_rules_type("app::main", 2, &a));
	assert_null(task_rules_type(NULL, 0, &a));
	assert_null(task_rules_type(NULL, 1, &a));
	/* Merged code has several. */
	assert_string_equal(task_rules_type("a::f or b::color or c", 0, &a), "a::f");
	assert_string_equal(task_rules_type("a::f or b::color or c", 1, &a), "b::color");
	assert_string_equal(task_rules_type("a::f or b::color or c", 2, &a), "c");
	assert_null(task_rules_type("a::f or b::color or c", 3, &a));
}

/* A frame is 't' if it polls a future of the task's type. */
static bool polls_task(void *arg, size_t frame)
{
	const char *frames = arg;

	assert_true(frame < strlen(frames));
	return frames[frame] == 't';
}

static int find_poll(const char *text)
{
	char frames[16];
	bool found;

	strcpy(frames, text);
	const struct task_frames f = { strlen(frames), polls_task, frames };
	size_t frame = task_rules_find_poll(&f, &found);
	assert_true(found || !frame);
	return found ? (int)frame : -1;
}

static void test_find_poll(void **state)
{
	(void)state;
	assert_int_equal(find_poll(""), -1);
	assert_int_equal(find_poll("..."), -1);
	assert_int_equal(find_poll("t."), 0);
	assert_int_equal(find_poll(".t.."), 1);
	/* Recursion through a box: the outermost. */
	assert_int_equal(find_poll("t.t.t.."), 4);
	/* The outermost frame of the stack has no caller. */
	assert_int_equal(find_poll("t"), -1);
	assert_int_equal(find_poll("t.t"), 0);
}

/* ---- the spawned task ---- */

static void test_spawn(void **state)
{
	const struct task_spawn spawned = { .is_own = true, .header = 0x5000 };
	struct task_spawn s = spawned;

	(void)state;
	assert_true(task_rules_takes_spawn(&s));
	s.is_own = false;
	assert_false(task_rules_takes_spawn(&s));
	s = spawned;
	s.has_task = true;
	assert_false(task_rules_takes_spawn(&s));
	s = spawned;
	s.header = 0;
	assert_false(task_rules_takes_spawn(&s));
}

static void test_follows(void **state)
{
	(void)state;
	assert_true(task_rules_follows(&(struct task_first_poll){ .has_task = true }));
	/* Its memory has another task by now, or a thread polls it already. */
	assert_false(task_rules_follows(&(struct task_first_poll){ 0 }));
	assert_false(task_rules_follows(
		&(struct task_first_poll){ .has_task = true, .is_followed = true }));
}

static enum task_places_action places(bool failed, bool no_hardware, bool is_unseen)
{
	return task_rules_places(&(struct task_places){ failed, no_hardware, is_unseen });
}

static void test_places(void **state)
{
	(void)state;
	assert_int_equal(places(false, false, false), TASK_PLACES_KNOWN);
	assert_int_equal(places(false, false, true), TASK_PLACES_UNSEEN);
	assert_int_equal(places(true, true, false), TASK_PLACES_UNSEEN);
	assert_int_equal(places(true, false, false), TASK_PLACES_ERROR);
	assert_int_equal(places(true, false, true), TASK_PLACES_ERROR);
}

static void test_notes(void **state)
{
	const struct task_end line = { .reason = STEP_LINE, .spawned = true };
	struct task_end e = line;
	SCRATCH(a);

	(void)state;
	assert_string_equal(task_rules_note(&e, &a), "the line did not spawn a task");
	e.reason = STEP_RETURNED;
	assert_string_equal(task_rules_note(&e, &a), "the line did not spawn a task");
	e.has_foreign = true;
	assert_string_equal(task_rules_note(&e, &a),
	                    "the task spawned by the line has no known user code");
	e.unseen = "no debug info";
	assert_string_equal(task_rules_note(&e, &a),
	                    "the task spawned by the line was not seen: no debug info");
	/* A step that was broken off, or that is in the task, has no such note. */
	e.reason = STEP_BROKEN;
	assert_null(task_rules_note(&e, &a));
	e = line;
	e.reason = STEP_LEFT;
	assert_null(task_rules_note(&e, &a));
	e = line;
	e.spawned = false;
	assert_null(task_rules_note(&e, &a));
	e = line;
	e.has_task = true;
	assert_null(task_rules_note(&e, &a));
	e = line;
	e.has_note = true;
	assert_null(task_rules_note(&e, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),  cmocka_unit_test(test_find_poll),
		cmocka_unit_test(test_spawn),  cmocka_unit_test(test_follows),
		cmocka_unit_test(test_places), cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
