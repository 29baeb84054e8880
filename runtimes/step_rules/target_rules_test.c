/* Tests of decisions about hits in code that a call or a spawned task may come to. */
#include "runtimes/step_rules/target_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_at(enum target_place place, struct target_hit hit, enum target_action action)
{
	assert_int_equal(target_rules_at(place, &hit), action);
}

/* A frame within that of the step, of its own thread. */
static const struct target_hit inner = { .is_own = true, .cfa = 0x7000, .from = 0x7100 };

static void test_called(void **state)
{
	struct target_hit hit = inner;

	(void)state;
	assert_at(TARGET_CALLED, hit, TARGET_ENTER);
	assert_at(TARGET_CLOSURE, hit, TARGET_END);
	/* A frame that is the step's own, or farther out, as at a resume of another task. */
	hit.cfa = hit.from;
	assert_at(TARGET_CALLED, hit, TARGET_PASS);
	assert_at(TARGET_CLOSURE, hit, TARGET_PASS);
	hit.cfa = hit.from - 1;
	assert_at(TARGET_CALLED, hit, TARGET_ENTER);
	hit.cfa = hit.from + 8;
	assert_at(TARGET_CLOSURE, hit, TARGET_PASS);
	/* Unknown frames */
	hit.cfa = 0;
	assert_at(TARGET_CALLED, hit, TARGET_PASS);
	assert_at(TARGET_CLOSURE, hit, TARGET_PASS);
	hit = inner;
	hit.from = 0;
	assert_at(TARGET_CALLED, hit, TARGET_PASS);
	hit = inner;
	hit.is_own = false;
	assert_at(TARGET_CALLED, hit, TARGET_PASS);
	assert_at(TARGET_CLOSURE, hit, TARGET_PASS);
}

/* The spawned task may be polled on any thread, in any frame. */
static void test_spawned(void **state)
{
	(void)state;
	assert_at(TARGET_SPAWNED, (struct target_hit){ .is_new = true }, TARGET_ENTER);
	assert_at(TARGET_SPAWNED, (struct target_hit){ .is_own = true, .is_users = true },
	          TARGET_PASS);
	assert_at(TARGET_SPAWNED_BODY, (struct target_hit){ .is_users = true }, TARGET_END);
	assert_at(TARGET_SPAWNED_BODY, (struct target_hit){ .is_own = true, .is_new = true },
	          TARGET_PASS);
}

/* The thread is known that polls the task. */
static void test_task(void **state)
{
	struct target_hit hit = { .is_own = true };

	(void)state;
	assert_at(TARGET_TASK, hit, TARGET_ENTER);
	assert_at(TARGET_TASK_BODY, hit, TARGET_PASS);
	hit.is_users = true;
	assert_at(TARGET_TASK_BODY, hit, TARGET_END);
	hit.is_own = false;
	assert_at(TARGET_TASK, hit, TARGET_PASS);
	assert_at(TARGET_TASK_BODY, hit, TARGET_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_called),
		cmocka_unit_test(test_spawned),
		cmocka_unit_test(test_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
