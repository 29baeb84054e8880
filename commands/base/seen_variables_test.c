/* Tests of which variables a step has changed, on hand-made frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "commands/base/seen_variables.h"

static const struct resumed_object none;

static struct local variable(const char *name, uint64_t addr, const char *value)
{
	return (struct local){ .name = name, .type = "u32", .addr = addr, .value = value };
}

static struct native_frame frame(struct local *list, size_t n)
{
	return (struct native_frame){ .found = true, .locals = list, .nlocals = n };
}

static void shows_what_changes(void **state)
{
	struct local first[] = { variable("a", 0x10, "1"), variable("b", 0x20, "2"),
		                 variable("c", 0x30, NULL), variable("r", 0, "7"),
		                 variable("r", 0, "8") };
	/* a has another value, b is shadowed, c has a value now, the second r another one. */
	struct local second[] = { variable("a", 0x10, "5"), variable("b", 0x20, "2"),
		                  variable("b", 0x40, "4"), variable("c", 0x30, "3"),
		                  variable("r", 0, "7"),    variable("r", 0, "9") };
	struct native_frame before = frame(first, 5), now = frame(second, 6);
	struct seen_variables seen = { 0 };
	size_t n;
	SCRATCH(a);

	(void)state;
	assert_null(seen_variables_changed(&seen, "app::f", &before, &none, &a, &n));
	assert_int_equal(n, 0);
	seen_variables_keep(&seen, "app::f", &before);
	first[0] = variable("?", 0, "?");
	struct changed_variable *list =
		seen_variables_changed(&seen, "app::f", &now, &none, &a, &n);
	seen_variables_keep(&seen, "app::f", &now);
	assert_int_equal(n, 4);
	assert_ptr_equal(list[0].now, &second[0]);
	assert_string_equal(list[0].before, "1");
	assert_ptr_equal(list[1].now, &second[2]);
	assert_null(list[1].before);
	assert_ptr_equal(list[2].now, &second[3]);
	assert_null(list[2].before);
	assert_ptr_equal(list[3].now, &second[5]);
	assert_string_equal(list[3].before, "8");
	seen_variables_changed(&seen, "app::f", &now, &none, &a, &n);
	assert_int_equal(n, 0);
	/* The b that was shadowed is there again at another place, with the same value. */
	second[1].addr = 0x50;
	seen_variables_changed(&seen, "app::f", &now, &none, &a, &n);
	assert_int_equal(n, 0);
	seen_variables_free(&seen);
}

static void shows_nothing_of_other_functions(void **state)
{
	struct local list[] = { variable("a", 0x10, "1") };
	struct native_frame f = frame(list, 1), lost = { .problem = "lost" };
	struct seen_variables seen = { 0 };
	size_t n;
	SCRATCH(a);

	(void)state;
	seen_variables_keep(&seen, "app::f", &f);
	list[0].value = "2";
	assert_null(seen_variables_changed(&seen, "app::g", &f, &none, &a, &n));
	assert_null(seen_variables_changed(&seen, NULL, &f, &none, &a, &n));
	assert_int_equal(n, 0);
	seen_variables_changed(&seen, "app::f", &lost, &none, &a, &n);
	assert_int_equal(n, 0);
	seen_variables_changed(&seen, "app::f", NULL, &none, &a, &n);
	assert_int_equal(n, 0);
	seen_variables_keep(&seen, NULL, NULL);
	assert_null(seen_variables_changed(&seen, "app::f", &f, &none, &a, &n));
	seen_variables_free(&seen);
}

static void leaves_out_what_a_suspension_loses(void **state)
{
	const struct resumed_object object = { 0x20, 0x10 }, unknown = { 0, 0x10 };
	struct local list[] = { variable("in_frame", 0x1010, "1"), variable("first", 0x20, "1"),
		                variable("last", 0x2f, "1"), variable("behind", 0x30, "1"),
		                variable("in_register", 0, "1") };
	struct native_frame f = frame(list, 5);
	struct seen_variables seen = { 0 };
	size_t n;
	SCRATCH(a);

	(void)state;
	seen_variables_keep(&seen, "app::f", &f);
	for (size_t i = 0; i < 5; i++)
		list[i].value = "2";
	seen_variables_changed(&seen, "app::f", &f, &none, &a, &n);
	assert_int_equal(n, 5);
	struct changed_variable *c = seen_variables_changed(&seen, "app::f", &f, &object, &a, &n);
	assert_int_equal(n, 2);
	assert_string_equal(c[0].now->name, "first");
	assert_string_equal(c[1].now->name, "last");
	seen_variables_changed(&seen, "app::f", &f, &unknown, &a, &n);
	assert_int_equal(n, 0);
	seen_variables_free(&seen);
}

/* It may not be its old value, but it has been set since. */
static void leaves_out_what_an_await_may_have_lost(void **state)
{
	struct local list[] = { variable("lost", 0x10, "21845") };
	struct native_frame f = frame(list, 1);
	struct seen_variables seen = { 0 };
	size_t n;
	SCRATCH(a);

	(void)state;
	list[0].may_be_lost = true;
	seen_variables_keep(&seen, "app::f", &f);
	list[0].value = "2";
	struct changed_variable *c = seen_variables_changed(&seen, "app::f", &f, &none, &a, &n);
	assert_int_equal(n, 1);
	assert_null(c[0].before);
	seen_variables_free(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_what_changes),
		cmocka_unit_test(shows_nothing_of_other_functions),
		cmocka_unit_test(leaves_out_what_a_suspension_loses),
		cmocka_unit_test(leaves_out_what_an_await_may_have_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
