/* Tests what the word of a task's state tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "runtimes/compio/compio.h"

enum { ALIVE = 1 << COMPIO_REF_SHIFT | COMPIO_NOT_CANCELLED | COMPIO_NOT_SETTING_WAKER };

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(compio_state(ALIVE, false), TASK_IDLE);
	assert_int_equal(compio_state(ALIVE, true), TASK_SCHEDULED);
	/* Woken by another thread: it is not in the list of those to be polled yet. */
	assert_int_equal(compio_state(ALIVE | COMPIO_SCHEDULED, false), TASK_SCHEDULED);
	assert_int_equal(compio_state(ALIVE | COMPIO_HAS_WAKER, false), TASK_IDLE);
	assert_int_equal(compio_state(ALIVE | COMPIO_COMPLETED, false), TASK_COMPLETE);
	/* The bit has the inverted sense. */
	assert_int_equal(compio_state(ALIVE & ~COMPIO_NOT_CANCELLED, true), TASK_CANCELLED);
}

static void test_id(void **state)
{
	(void)state;
	assert_true(compio_id(1, 3) == (UINT64_C(3) << 32 | 1));
	assert_true(compio_id(1, 3) != compio_id(3, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
