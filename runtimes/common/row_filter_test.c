#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "runtimes/common/row_filter.h"

static void test_filter(void **state)
{
	struct row_filter f = { 0 };
	unsigned others = 0;
	char name[32];

	(void)state;
	assert_false(row_filter_may_have(&f, "app::Fut"));
	assert_false(row_filter_may_have(&f, ""));
	row_filter_add(&f, "app::Fut");
	row_filter_add(&f, "app::Other");
	assert_true(row_filter_may_have(&f, "app::Fut"));
	assert_true(row_filter_may_have(&f, "app::Fut<app::Other<u8>, ()>"));
	assert_true(row_filter_may_have(&f, "app::Other"));
	/* Most other names are rejected. */
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "app::Fut%d", i);
		others += row_filter_may_have(&f, name);
	}
	assert_in_range(others, 0, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_filter) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
