/* ownership_is_inside() on deep and cyclic types, and the limits of a walk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/types/type_private.h"
#include "runtimes/common/type_class.h"
#include "runtimes/ownership/ownership.h"

enum { LENGTH = 60 }; /* deeper than one query goes */

static const struct ownership_row row = { .type = "Guard", .role = HOLDING_LOCK, .kind = "mutex" };

/* A struct whose only member is the next, and so on. */
struct chain {
	struct type types[LENGTH];
	struct type_details details[LENGTH];
	struct member members[LENGTH];
	struct type_class type_class[LENGTH];
};

static void chain_init(struct chain *c)
{
	*c = (struct chain){ 0 };
	for (size_t i = 0; i < LENGTH; i++) {
		c->types[i] = (struct type){ .name = "Link",
			                     .size = 8,
			                     .kind = TYPE_STRUCT,
			                     .shell_read = true,
			                     .shell_known = true,
			                     .name_known = true,
			                     .found = true,
			                     .details_queried = true,
			                     .details = &c->details[i],
			                     .memo = { .above = &c->type_class[i] } };
		c->type_class[i].name = "Link";
		c->type_class[i].visit.rule = VISIT_MEMBERS;
		if (i + 1 == LENGTH)
			break;
		c->members[i] = (struct member){ .name = "next", .type = &c->types[i + 1] };
		c->details[i].members = &c->members[i];
		c->details[i].nmembers = 1;
	}
}

/*
 * A type that leads to a guard is walked, however deep the guard and whatever was queried before.
 */
static void test_deep_guard(void **state)
{
	struct chain c;

	(void)state;
	chain_init(&c);
	c.type_class[LENGTH - 1].rows.holding = &row;
	for (size_t i = 0; i < LENGTH; i++)
		assert_true(ownership_is_inside(&c.types[i]));
}

/* A type too deep for one query still gets its own result. */
static void test_deep_nothing(void **state)
{
	struct chain c;

	(void)state;
	chain_init(&c);
	assert_true(ownership_is_inside(&c.types[0]));
	assert_false(ownership_is_inside(&c.types[LENGTH - 1]));
	assert_false(ownership_is_inside(&c.types[LENGTH - 10]));
}

/*
 * A NO of a type on a cycle is not cached when the result depended on one that was cut off by
 * depth.
 */
static void test_cycle_and_depth(void **state)
{
	struct chain c;
	struct chain back;
	struct member both[2];

	(void)state;
	chain_init(&c);
	chain_init(&back);
	c.type_class[LENGTH - 1].rows.holding = &row;
	back.members[0].type = &c.types[0];
	both[0] = (struct member){ .name = "back", .type = &back.types[0] };
	both[1] = c.members[0];
	c.details[0].members = both;
	c.details[0].nmembers = 2;
	assert_true(ownership_is_inside(&c.types[0]));
	assert_true(ownership_is_inside(&back.types[0]));
}

/* ---- limits of a walk ---- */

enum { WIDTH = 512 };

/*
 * Many trees of few values reach the snapshot's limit. The types are made up, so no memory is read.
 */
static void test_walks_end(void **state)
{
	struct chain c;
	struct member many[2][WIDTH];
	struct snapshot out = { 0 };
	struct inspector in = { 0 };
	struct collector collector = {
		.in = &in, .want = WANT_HOLDINGS, .out = &out, .a = &out.arena
	};
	struct ownership_start start = { .name = "all", .v = { .type = &c.types[0] } };
	const struct ownership_data *all;

	(void)state;
	chain_init(&c);
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < WIDTH; k++)
			many[i][k] = c.members[i];
		c.details[i].members = many[i];
		c.details[i].nmembers = WIDTH;
	}
	c.details[2].nmembers = 0;
	c.type_class[2].answers.holds = YES;
	for (int i = 0; i < 8; i++)
		ownership_walk_variable(&collector, &start);
	all = collector.holdings;
	assert_int_equal(all->visited, 1 << 20);
	assert_true(all->over);
	assert_non_null(
		strstr(all->unsearched.data[all->unsearched.n - 1], "the limit was reached"));
	ownership_free(&collector);
	arena_free(&out.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deep_guard),
		cmocka_unit_test(test_deep_nothing),
		cmocka_unit_test(test_cycle_and_depth),
		cmocka_unit_test(test_walks_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
