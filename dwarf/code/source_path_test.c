/* Tests of source files by the end of their paths, on shapes.rs. */
#include "dwarf/code/source_path.h"
#include "dwarf/test/module.h"

static void test_shapes(void **state)
{
	struct fixture f = shapes_open();
	struct source_path *found;
	size_t n;

	(void)state;
	fail_on(source_path_find(f.di, "shapes.rs", &f.arena, &found, &n));
	assert_int_equal(n, 1);
	assert_true(strstr(found[0].file, "shapes.rs") != NULL);
	assert_true(found[0].file[0] == '/');
	assert_non_null(found[0].comp_dir);
	assert_ptr_equal(found[0].module, f.dm->module);
	/* Whole components. */
	fail_on(source_path_find(f.di, "hapes.rs", &f.arena, &found, &n));
	assert_int_equal(n, 0);
	fail_on(source_path_find(f.di, "", &f.arena, &found, &n));
	assert_int_equal(n, 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_shapes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
