/* Tests what the word of a task's state tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "runtimes/async_executor/executor.h"

enum { REFERENCE = 1 << EXECUTOR_REF_SHIFT };

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(executor_state(REFERENCE), TASK_IDLE);
	assert_int_equal(executor_state(EXECUTOR_HANDLE | EXECUTOR_AWAITER), TASK_IDLE);
	assert_int_equal(executor_state(REFERENCE | EXECUTOR_SCHEDULED), TASK_SCHEDULED);
	assert_int_equal(executor_state(REFERENCE | EXECUTOR_RUNNING), TASK_RUNNING);
	/* Woken while it runs. */
	assert_int_equal(executor_state(EXECUTOR_RUNNING | EXECUTOR_SCHEDULED), TASK_RUNNING);
	/* Cancelled while it runs: its future is dropped when the poll ends. */
	assert_int_equal(executor_state(EXECUTOR_RUNNING | EXECUTOR_CLOSED), TASK_RUNNING);
	assert_int_equal(executor_state(REFERENCE | EXECUTOR_CLOSED), TASK_CANCELLED);
	assert_int_equal(executor_state(EXECUTOR_COMPLETED | EXECUTOR_HANDLE), TASK_COMPLETE);
	/* Its output was taken. */
	assert_int_equal(executor_state(EXECUTOR_COMPLETED | EXECUTOR_CLOSED), TASK_COMPLETE);
}

static void test_live(void **state)
{
	(void)state;
	assert_true(executor_is_live(REFERENCE));
	assert_true(executor_is_live(EXECUTOR_HANDLE | EXECUTOR_SCHEDULED));
	assert_true(executor_is_live(EXECUTOR_RUNNING | EXECUTOR_CLOSED));
	/* The executor has still to drop its future. */
	assert_true(executor_is_live(EXECUTOR_SCHEDULED | EXECUTOR_CLOSED));
	assert_false(executor_is_live(REFERENCE | EXECUTOR_CLOSED));
	assert_false(executor_is_live(EXECUTOR_COMPLETED | EXECUTOR_HANDLE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
