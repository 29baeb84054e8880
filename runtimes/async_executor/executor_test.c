/* Tests what the word of a task's state tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "runtimes/async_executor/executor.h"

enum { REFERENCE = 1 << ASYNC_EXECUTOR_REF_SHIFT };

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(async_executor_state(REFERENCE), TASK_IDLE);
	assert_int_equal(async_executor_state(ASYNC_EXECUTOR_HANDLE | ASYNC_EXECUTOR_AWAITER),
	                 TASK_IDLE);
	assert_int_equal(async_executor_state(REFERENCE | ASYNC_EXECUTOR_SCHEDULED),
	                 TASK_SCHEDULED);
	assert_int_equal(async_executor_state(REFERENCE | ASYNC_EXECUTOR_RUNNING), TASK_RUNNING);
	/* Woken while it runs. */
	assert_int_equal(async_executor_state(ASYNC_EXECUTOR_RUNNING | ASYNC_EXECUTOR_SCHEDULED),
	                 TASK_RUNNING);
	/* Cancelled while it runs: its future is dropped when the poll ends. */
	assert_int_equal(async_executor_state(ASYNC_EXECUTOR_RUNNING | ASYNC_EXECUTOR_CLOSED),
	                 TASK_RUNNING);
	assert_int_equal(async_executor_state(REFERENCE | ASYNC_EXECUTOR_CLOSED), TASK_CANCELLED);
	assert_int_equal(async_executor_state(ASYNC_EXECUTOR_COMPLETED | ASYNC_EXECUTOR_HANDLE),
	                 TASK_COMPLETE);
	/* Its output was taken. */
	assert_int_equal(async_executor_state(ASYNC_EXECUTOR_COMPLETED | ASYNC_EXECUTOR_CLOSED),
	                 TASK_COMPLETE);
}

static void test_live(void **state)
{
	(void)state;
	assert_true(async_executor_is_live(REFERENCE));
	assert_true(async_executor_is_live(ASYNC_EXECUTOR_HANDLE | ASYNC_EXECUTOR_SCHEDULED));
	assert_true(async_executor_is_live(ASYNC_EXECUTOR_RUNNING | ASYNC_EXECUTOR_CLOSED));
	/* The executor has still to drop its future. */
	assert_true(async_executor_is_live(ASYNC_EXECUTOR_SCHEDULED | ASYNC_EXECUTOR_CLOSED));
	assert_false(async_executor_is_live(REFERENCE | ASYNC_EXECUTOR_CLOSED));
	assert_false(async_executor_is_live(ASYNC_EXECUTOR_COMPLETED | ASYNC_EXECUTOR_HANDLE));
}

/* Two threads are in the same run function. */
static void test_only_task(void **state)
{
	static const struct function function = { .low = 0x1000 };
	struct async_executor_poll polls[] = { { .mark = { .function = &function } },
		                               { .mark = { .function = &function } } };
	struct task one = { 0 }, two = { 0 }, other = { 0 };
	const struct async_executor_running running[] = { { &other, 0x2000 },
		                                          { &one, 0x1000 },
		                                          { &two, 0x1000 } };

	(void)state;
	assert_null(async_executor_only_task(polls, 2, &polls[0], running, 3));
	/* Either of them may run the only one that is listed. */
	assert_null(async_executor_only_task(polls, 2, &polls[0], running, 2));
	assert_ptr_equal(async_executor_only_task(polls, 1, &polls[0], running, 2), &one);
	/* The other one is known. */
	polls[1].task = &two;
	two.thread = 2;
	assert_ptr_equal(async_executor_only_task(polls, 2, &polls[0], running, 3), &one);
	assert_null(async_executor_only_task(polls, 2, &polls[0], running, 1));
	/* A run function without debug info may run any of them. */
	polls[0].mark.function = NULL;
	assert_null(async_executor_only_task(polls, 2, &polls[0], running, 3));
	other.thread = 3;
	assert_ptr_equal(async_executor_only_task(polls, 2, &polls[0], running, 3), &one);
}

/* A thread at the end of a run function still has the task that another one polls already. */
static void test_sole(void **state)
{
	struct task one = { 0 }, two = { 0 };
	struct async_executor_poll polls[] = { { .found = &one }, { .found = &two }, { 0 } };

	(void)state;
	assert_true(async_executor_is_sole(polls, 3, &polls[0]));
	assert_true(async_executor_is_sole(polls, 3, &polls[1]));
	assert_false(async_executor_is_sole(polls, 3, &polls[2]));
	polls[1].found = &one;
	assert_false(async_executor_is_sole(polls, 3, &polls[0]));
	assert_false(async_executor_is_sole(polls, 3, &polls[1]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_only_task),
		cmocka_unit_test(test_sole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
