/* Tests of which values complete the next word of a command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/shell/complete_value.h"

static enum value_kind kind(const char *line)
{
	SCRATCH(a);
	struct words *commands;
	size_t n;

	assert_null(words_split(&a, line, &commands, &n));
	return complete_value_kind(n ? &commands[0] : &(struct words){ 0 });
}

static void knows_arguments(void **state)
{
	(void)state;
	assert_int_equal(kind("print"), VALUE_PATH);
	assert_int_equal(kind("p"), VALUE_PATH);
	assert_int_equal(kind("watch"), VALUE_PATH);
	assert_int_equal(kind("watch n"), VALUE_OTHER);
	assert_int_equal(kind("async task"), VALUE_TASK);
	assert_int_equal(kind("a task"), VALUE_TASK);
	assert_int_equal(kind("task 3"), VALUE_OTHER);
	assert_int_equal(kind("delete 1"), VALUE_BREAKPOINT);
	assert_int_equal(kind("condition 1"), VALUE_OTHER);
	assert_int_equal(kind("catch"), VALUE_CATCH);
	assert_int_equal(kind("break"), VALUE_PLACE);
	assert_int_equal(kind("b"), VALUE_PLACE);
	assert_int_equal(kind("tb"), VALUE_PLACE);
	assert_int_equal(kind("logpoint"), VALUE_PLACE);
	assert_int_equal(kind("logpoint main"), VALUE_OTHER);
	assert_int_equal(kind("list"), VALUE_PLACE);
	assert_int_equal(kind("until"), VALUE_OTHER);
	assert_int_equal(kind("run --"), VALUE_FILE);
	assert_int_equal(kind("tasks"), VALUE_OTHER);
	assert_int_equal(kind("nonsense"), VALUE_OTHER);
	assert_int_equal(kind(""), VALUE_OTHER);
}

static void knows_options(void **state)
{
	(void)state;
	assert_int_equal(kind("break --on-wake"), VALUE_TASK);
	assert_int_equal(kind("break main --task"), VALUE_TASK);
	assert_int_equal(kind("break main --after"), VALUE_OTHER);
	assert_int_equal(kind("async graph --output"), VALUE_FILE);
	assert_int_equal(kind("run --cwd"), VALUE_FILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_arguments),
		cmocka_unit_test(knows_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
