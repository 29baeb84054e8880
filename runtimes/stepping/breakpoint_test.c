/* Tests of numbered breakpoints, without a program. */
#include "runtimes/stepping/breakpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/stepping/debuggee.h"

static struct breakpoint *add(struct debuggee *d, const struct breakpoint_options *options)
{
	struct breakpoint *bp = NULL;
	struct error *err = breakpoint_add(d, options, &bp);

	if (err)
		fail_msg("%s", err->message);
	return bp;
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
	struct debuggee d CLEANUP(debuggee_close) = { 0 };

	(void)state;
	for (unsigned n = 1; n <= 3; n++)
		assert_int_equal(add(&d, &(struct breakpoint_options){ .text = "serve" })->number,
		                 n);
	assert_null(breakpoint_delete(breakpoint_numbered(&d.breakpoints, 3)));
	assert_null(breakpoint_delete(breakpoint_numbered(&d.breakpoints, 1)));
	assert_null(breakpoint_numbered(&d.breakpoints, 1));
	assert_int_equal(add(&d, &(struct breakpoint_options){ .text = "serve" })->number, 4);
	assert_int_equal(d.breakpoints.list.n, 2);
	assert_string_equal(breakpoint_numbered(&d.breakpoints, 2)->text, "serve");
}

static void test_hits(void **state)
{
	struct debuggee d CLEANUP(debuggee_close) = { 0 };
	struct breakpoint *some =
		add(&d, &(struct breakpoint_options){ .text = "serve", .skip = 2 });
	struct breakpoint *third =
		add(&d, &(struct breakpoint_options){ .text = "serve", .skip = 1, .every = 3 });

	(void)state;
	for (unsigned n = 1; n <= 8; n++) {
		assert_int_equal(breakpoint_hit(some), n > 2);
		assert_int_equal(breakpoint_hit(third), n == 4 || n == 7);
	}
	assert_int_equal(some->hits, 8);
	/* In the next program the same hits are passed. */
	breakpoint_count_anew(&d);
	assert_int_equal(some->hits, 0);
	for (unsigned n = 1; n <= 4; n++) {
		assert_int_equal(breakpoint_hit(some), n > 2);
		assert_int_equal(breakpoint_hit(third), n == 4);
	}
}

static void test_conditions(void **state)
{
	struct debuggee d CLEANUP(debuggee_close) = { 0 };
	struct breakpoint *bp =
		add(&d, &(struct breakpoint_options){ .text = "serve", .condition = "n == 3" });
	struct breakpoint *none = NULL;

	(void)state;
	assert_string_equal(bp->condition, "n == 3");
	struct error *err CLEANUP(error_freep) = breakpoint_set_condition(bp, "n = 3");
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_USAGE);
	assert_string_equal(bp->condition, "n == 3");
	assert_null(breakpoint_set_condition(bp, "n > 3"));
	assert_string_equal(bp->condition, "n > 3");
	assert_null(breakpoint_set_condition(bp, ""));
	assert_null(bp->condition);
	struct error *refused CLEANUP(error_freep) = breakpoint_add(
		&d, &(struct breakpoint_options){ .text = "serve", .condition = "(" }, &none);
	assert_non_null(refused);
	assert_int_equal(d.breakpoints.list.n, 1);
	assert_int_equal(d.breakpoints.last, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_that_can_be),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_conditions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
