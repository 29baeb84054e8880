#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtimes/places/place_groups.h"

static const struct trace_frame frames[] = { { "app::run", "main.rs", 9, false, NULL },
	                                     { "lib::copy", "copy.rs", 5, true, NULL },
	                                     { "lib::fill", "fill.rs", 7, true, NULL } };
static const struct trace_frame other[] = { { "app::run", "main.rs", 8, false, NULL },
	                                    { "lib::copy", "copy.rs", 5, true, NULL } };
static const struct trace_place whole = { .frames = frames, .nframes = 3, .leaf = "Readiness" };
static const struct trace_place same = { .frames = frames, .nframes = 3, .leaf = "Readiness" };
static const struct trace_place leaf = { .frames = frames, .nframes = 3, .leaf = "Sleep" };
static const struct trace_place cut = { .frames = frames, .nframes = 2, .cut = true };
static const struct trace_place outer = { .frames = frames, .nframes = 1 };
static const struct trace_place elsewhere = { .frames = other, .nframes = 2 };

static void add_all(struct place_groups *g)
{
	place_groups_add(g, &whole, 0);
	place_groups_add(g, &same, 0);
	place_groups_add(g, &leaf, 0);
	place_groups_add(g, &outer, 0);
	place_groups_add(g, &elsewhere, 0);
	place_groups_add(g, NULL, 0);
}

static void test_equal_ones(void **state)
{
	struct place_groups g = { 0 };

	(void)state;
	add_all(&g);
	assert_ptr_equal(place_groups_find(&g, &whole, 0), &whole);
	assert_ptr_equal(place_groups_find(&g, &same, 0), &whole);
	assert_ptr_equal(place_groups_find(&g, &leaf, 0), &leaf);
	assert_ptr_equal(place_groups_find(&g, &outer, 0), &outer);
	assert_null(place_groups_find(&g, NULL, 0));
	place_groups_free(&g);
}

/* The one that is cut comes last, and stands for those that came before. */
static void test_cut_ones(void **state)
{
	struct place_groups g = { 0 };

	(void)state;
	add_all(&g);
	place_groups_add(&g, &cut, 0);
	assert_ptr_equal(place_groups_find(&g, &whole, 0), &cut);
	assert_ptr_equal(place_groups_find(&g, &leaf, 0), &cut);
	assert_ptr_equal(place_groups_find(&g, &cut, 0), &cut);
	/* Neither chain goes on from the last frame of the cut one. */
	assert_ptr_equal(place_groups_find(&g, &outer, 0), &outer);
	assert_ptr_equal(place_groups_find(&g, &elsewhere, 0), &elsewhere);
	place_groups_add(&g, &whole, 1);
	assert_ptr_equal(place_groups_find(&g, &whole, 1), &whole);
	place_groups_free(&g);
}

/* Two crates of one name have one line of one file, as it is shown. */
static void test_files_of_one_name(void **state)
{
	static const struct trace_frame one[] = { { "part::f", "src/lib.rs", 2, false,
		                                    "/w/one/src/lib.rs" } };
	static const struct trace_frame two[] = { { "part::f", "src/lib.rs", 2, false,
		                                    "/w/two/src/lib.rs" } };
	static const struct trace_frame named[] = { { "part::f", "one/src/lib.rs", 2, false,
		                                      "/w/one/src/lib.rs" } };
	const struct trace_place a = { .frames = one, .nframes = 1 };
	const struct trace_place b = { .frames = two, .nframes = 1 };
	const struct trace_place c = { .frames = named, .nframes = 1 };
	const struct trace_place cut_there = { .frames = one, .nframes = 1, .cut = true };
	struct place_groups g = { 0 };

	(void)state;
	place_groups_add(&g, &a, 0);
	place_groups_add(&g, &b, 0);
	place_groups_add(&g, &c, 0);
	assert_ptr_equal(place_groups_find(&g, &b, 0), &b);
	assert_ptr_equal(place_groups_find(&g, &c, 0), &a);
	place_groups_add(&g, &cut_there, 0);
	assert_ptr_equal(place_groups_find(&g, &c, 0), &cut_there);
	assert_ptr_equal(place_groups_find(&g, &b, 0), &b);
	place_groups_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_ones),
		cmocka_unit_test(test_cut_ones),
		cmocka_unit_test(test_files_of_one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
