/* Tests of qualified.c. */
#include "dwarf/names/qualified.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_last_component(void **state)
{
	static const struct {
		const char *name, *last;
	} cases[] = {
		{ "app::run", "run" },
		{ "run", "run" },
		{ "a::b<c::D>::Suspend0", "Suspend0" },
		{ "core::option::Option<a::b::C>", "Option<a::b::C>" },
		/* The '>' of an arrow closes no bracket. */
		{ "ax::{impl#4}::call::{async_block_env#0}<fn(ax::P<u8>) -> app::item, "
		  "()>::Suspend1",
		  "Suspend1" },
		{ "f<[a::b; 3], (c::d, e)>::g", "g" },
		{ "", "" },
		{ ">>::x", ">>::x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(qualified_last(cases[i].name), cases[i].last);
}

static void test_is_path(void **state)
{
	(void)state;
	assert_true(qualified_is("app::Foo", "app::Foo"));
	assert_true(qualified_is("app::Foo<app::Bar>", "app::Foo"));
	assert_false(qualified_is("app::Foo2", "app::Foo"));
	assert_false(qualified_is("app::Foo::Bar", "app::Foo"));
	assert_false(qualified_is("app::Fo", "app::Foo"));
	assert_false(qualified_is("&app::Foo", "app::Foo"));
	assert_false(qualified_is("", "app::Foo"));
}

static void test_base_len(void **state)
{
	(void)state;
	assert_int_equal(qualified_base_len("poll<a, b>"), 4);
	assert_int_equal(qualified_base_len("poll"), 4);
}

static void test_first_generic(void **state)
{
	SCRATCH(a);

	(void)state;
	assert_string_equal(
		qualified_first_generic(&a, "raw::poll<app::F<u8, u16>, alloc::Arc<H>>"),
		"app::F<u8, u16>");
	assert_string_equal(qualified_first_generic(&a, "x<y>::block_on<fn(u8, u8) -> u8>"),
	                    "fn(u8, u8) -> u8");
	assert_null(qualified_first_generic(&a, "x<y>::block_on"));
	assert_null(qualified_first_generic(&a, "poll<never closed"));
}

static void test_plain(void **state)
{
	SCRATCH(a);

	(void)state;
	assert_string_equal(qualified_plain(&a, "app::run"), "app::run");
	assert_string_equal(qualified_plain(&a, "app::Queue<u8, fn(u8) -> u8>::pop<T>"),
	                    "app::Queue::pop");
	assert_string_equal(qualified_plain(&a, "<app::A as app::B<u8>>::f::{closure#0}"),
	                    "f::{closure#0}");
	assert_string_equal(qualified_plain(&a, "<"), "");
	assert_string_equal(qualified_plain(&a, ">x"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_component), cmocka_unit_test(test_is_path),
		cmocka_unit_test(test_base_len),       cmocka_unit_test(test_first_generic),
		cmocka_unit_test(test_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
