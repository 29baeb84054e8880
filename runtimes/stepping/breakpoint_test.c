/* Tests of numbered breakpoints, without a program. */
#include "runtimes/stepping/breakpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/stepping/control.h"

static struct control nothing;

static void breakpoints_freep(struct breakpoints *b)
{
	breakpoint_free_all(b);
}

static struct breakpoint *add(struct breakpoints *b, const struct breakpoint_options *options)
{
	struct breakpoint *bp = NULL;
	struct error *err = breakpoint_add(b, options, &nothing, NULL, &bp);

	if (err)
		fail_msg("%s", err->message);
	return bp;
}

/* Gives it a place, as finding it in a program does. */
static void place(struct breakpoint *bp, uint64_t addr)
{
	bp->places = NEW(&bp->find_arena, struct breakpoint_place);
	bp->places->addr = addr;
	bp->nplaces = 1;
}

static void test_places_that_can_be(void **state)
{
	static const char *const good[] = {
		"src/main.rs:41",         "main.rs:1", "app::serve", "serve",
		"app::main::{closure#0}", "0x401000",  "*4198400"
	};
	static const char *const bad[] = { "",           "main.rs:",  "main.rs:0",
		                           "main.rs:-1", "main.rs:x", "main.rs:99999999999",
		                           "a b",        "0x",        "0xgg",
		                           "*",          "* 1",       ":1" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_null(breakpoint_check(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error *err CLEANUP(error_freep) = breakpoint_check(bad[i]);

		if (!err)
			fail_msg("\"%s\" was taken for a place", bad[i]);
		assert_int_equal(err->kind, ERR_USAGE);
	}
}

static void test_numbers(void **state)
{
	struct breakpoints b CLEANUP(breakpoints_freep) = { 0 };

	(void)state;
	for (unsigned n = 1; n <= 3; n++)
		assert_int_equal(add(&b, &(struct breakpoint_options){ .text = "serve" })->number,
		                 n);
	assert_null(breakpoint_delete(&b, breakpoint_numbered(&b, 3), &nothing));
	assert_null(breakpoint_delete(&b, breakpoint_numbered(&b, 1), &nothing));
	assert_null(breakpoint_numbered(&b, 1));
	assert_int_equal(add(&b, &(struct breakpoint_options){ .text = "serve" })->number, 4);
	assert_int_equal(b.list.n, 2);
	assert_string_equal(breakpoint_numbered(&b, 2)->text, "serve");
}

static void test_hits(void **state)
{
	struct breakpoints b CLEANUP(breakpoints_freep) = { 0 };
	struct breakpoint *all =
		add(&b, &(struct breakpoint_options){ .text = "serve", .skip = 2 });
	struct breakpoint *one =
		add(&b, &(struct breakpoint_options){ .text = "serve", .task = "7" });

	(void)state;
	place(all, 0x10);
	place(one, 0x10);
	assert_null(breakpoint_hit(&b, 0x20, "7"));
	assert_false(breakpoint_asks_for_task(&b, 0x20));
	assert_true(breakpoint_asks_for_task(&b, 0x10));
	assert_null(breakpoint_hit(&b, 0x10, NULL));
	assert_null(breakpoint_hit(&b, 0x10, "8"));
	assert_ptr_equal(breakpoint_hit(&b, 0x10, "8"), all);
	assert_int_equal(one->hits, 0);
	assert_null(breakpoint_enable(&b, all, false, &nothing));
	assert_null(breakpoint_hit(&b, 0x10, "8"));
	assert_ptr_equal(breakpoint_hit(&b, 0x10, "7"), one);
	assert_int_equal(all->hits, 3);
	assert_int_equal(one->hits, 1);
	assert_null(breakpoint_enable(&b, one, false, &nothing));
	assert_false(breakpoint_asks_for_task(&b, 0x10));
	assert_null(breakpoint_enable(&b, all, true, &nothing));
	assert_ptr_equal(breakpoint_hit(&b, 0x10, NULL), all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_that_can_be),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_hits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
