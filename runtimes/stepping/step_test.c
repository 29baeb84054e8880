/* Tests of the names of steps, and of a step without a program. */
#include "runtimes/stepping/step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/stepping/internal_breakpoint.h"

static void test_names(void **state)
{
	(void)state;
	for (int i = STEP_NEXT; i <= STEP_INSTRUCTION; i++) {
		for (int j = STEP_NEXT; j < i; j++)
			assert_string_not_equal(step_kind_name(i), step_kind_name(j));
	}
	for (int i = STEP_NONE; i <= STEP_BROKEN; i++) {
		for (int j = STEP_NONE; j < i; j++)
			assert_string_not_equal(step_reason_name(i), step_reason_name(j));
	}
	assert_string_equal(step_kind_name(STEP_INTO), "step");
	assert_string_equal(step_reason_name(STEP_LINE), "step");
}

/* Each kind of internal breakpoint has a name of its own, and a reason. */
static void test_internal_kinds(void **state)
{
	(void)state;
	for (int i = INTERNAL_NUMBERED; i <= INTERNAL_STEP_TASK; i++) {
		for (int j = INTERNAL_NUMBERED; j < i; j++)
			assert_string_not_equal(internal_breakpoint_kind_name(i),
			                        internal_breakpoint_kind_name(j));
		assert_true(strlen(internal_breakpoint_reason(i)) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names),
		                            cmocka_unit_test(test_internal_kinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
