/* Tests of rates of hits, on a clock of their own. */
#include "runtimes/hits/hit_rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MS = 1000000 };

/* Hits each so many ns, for three seconds. How often a warning is given. */
static unsigned warnings(uint64_t each_ns, uint64_t cost_ns, struct hit_cost *ret)
{
	struct hit_rate r = { 0 };
	struct hit_cost cost;
	unsigned n = 0;

	for (uint64_t now = 5 * MS; now < UINT64_C(3000) * MS; now += each_ns) {
		if (!hit_rate_add(&r, now, 1, cost_ns, &cost))
			continue;
		*ret = cost;
		n++;
	}
	return n;
}

static void test_rates(void **state)
{
	struct hit_cost cost = { 0 };

	(void)state;
	/* 1000 a second, half of the time. */
	assert_int_equal(warnings(MS, MS / 2, &cost), 1);
	assert_in_range(cost.per_second, 999, 1001);
	assert_in_range(cost.percent, 50, 51);
	/* 5 a second are few, whatever they cost. */
	assert_int_equal(warnings(200 * MS, 150 * MS, &cost), 0);
	assert_int_equal(warnings(20 * MS, 15 * MS, &cost), 1);
	/* 10,000 a second that cost little. */
	assert_int_equal(warnings(MS / 10, MS / 200, &cost), 0);
	assert_int_equal(warnings(MS / 10, MS / 5, &cost), 1);
	assert_int_equal(cost.percent, 100);
}

static void test_many_at_once(void **state)
{
	struct hit_rate r = { 0 };
	struct hit_cost cost;

	(void)state;
	assert_false(hit_rate_add(&r, 100 * MS, 500, 90 * MS, &cost));
	assert_true(hit_rate_add(&r, 1010 * MS, 9500, 810 * MS, &cost));
	assert_int_equal(cost.per_second, 10000);
	assert_int_equal(cost.percent, 90);
	assert_false(hit_rate_add(&r, 2010 * MS, 9500, 810 * MS, &cost));
}

/* Hits that come after a long pause do not make a rate with those before it. */
static void test_pauses(void **state)
{
	struct hit_rate r = { 0 };
	struct hit_cost cost;

	(void)state;
	assert_false(hit_rate_add(&r, 2 * MS, 90, MS, &cost));
	assert_false(hit_rate_add(&r, UINT64_C(60000) * MS, 90, MS, &cost));
	assert_int_equal(r.begin_ns, 0);
}

/* The program was halted, and runs again: what was before does not count. */
static void test_a_new_beginning(void **state)
{
	struct hit_rate r = { 0 };
	struct hit_cost cost;

	(void)state;
	assert_false(hit_rate_add(&r, 1 * MS, 5000, MS, &cost));
	hit_rate_begin(&r, UINT64_C(2000) * MS);
	assert_false(hit_rate_add(&r, UINT64_C(2900) * MS, 450, 400 * MS, &cost));
	assert_true(hit_rate_add(&r, UINT64_C(3000) * MS, 50, 100 * MS, &cost));
	assert_int_equal(cost.per_second, 500);
	assert_int_equal(cost.percent, 50);
	hit_rate_begin(&r, UINT64_C(4000) * MS);
	assert_false(hit_rate_add(&r, UINT64_C(5000) * MS, 500, 500 * MS, &cost));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_a_new_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
