#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtimes/timeline/task_table.h"

enum { TASKS = 5000, STEP = 4096 };

static void finds_what_was_added(void **state)
{
	struct task_table t = { 0 };

	(void)state;
	assert_null(task_table_find(&t, 1));
	for (uint64_t id = 1; id <= TASKS; id++)
		task_table_add(&t, id * STEP)->row = (uint32_t)id;
	assert_int_equal(t.n, TASKS);
	for (uint64_t id = 1; id <= TASKS; id++)
		assert_int_equal(task_table_find(&t, id * STEP)->row, id);
	assert_null(task_table_find(&t, 1));
	task_table_free(&t);
}

/* Whatever is removed, all others are found. */
static void removes(void **state)
{
	struct task_table t = { 0 };

	(void)state;
	for (uint64_t id = 1; id <= TASKS; id++)
		task_table_add(&t, id);
	for (uint64_t id = 1; id <= TASKS; id++) {
		if (id % 3)
			task_table_remove(&t, task_table_find(&t, id));
	}
	assert_int_equal(t.n, TASKS / 3);
	for (uint64_t id = 1; id <= TASKS; id++)
		assert_int_equal(task_table_find(&t, id) == NULL, id % 3 != 0);
	task_table_free(&t);
}

/* A service that spawns for ever needs no more room than its tasks do at a time. */
static void does_not_grow(void **state)
{
	struct task_table t = { 0 };

	(void)state;
	for (uint64_t id = 1; id <= UINT64_C(1000000); id++) {
		task_table_add(&t, id);
		if (id > 40)
			task_table_remove(&t, task_table_find(&t, id - 40));
	}
	assert_int_equal(t.n, 40);
	assert_int_equal(t.capacity, 64);
	task_table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_added),
		cmocka_unit_test(removes),
		cmocka_unit_test(does_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
