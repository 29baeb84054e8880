#include "dwarf/test/module.h"

/* Of debug info that dwz has moved elsewhere in part, only the lines are of use. */
static void test_moved(void **state)
{
	struct fixture moved = fixture_open_file("testdata/unit/shared.elf");
	struct fixture whole = fixture_open_file("testdata/unit/http.elf");

	(void)state;
	assert_true(debuginfo_need(whole.dm) && debuginfo_need(moved.dm));
	assert_int_equal(whole.dm->tier, DWARF_FULL);
	assert_int_equal(moved.dm->tier, DWARF_LINES);
	assert_non_null(strstr(moved.dm->tier_reason, "dwz -m"));
	fixture_close(&whole);
	fixture_close(&moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
