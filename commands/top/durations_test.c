#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "commands/top/durations.h"

static void test_few(void **state)
{
	SCRATCH(a);
	struct durations d = { 0 };

	(void)state;
	assert_int_equal(durations_percentile(&d, 99), 0);
	durations_add(&d, &a, 700);
	assert_int_equal(durations_percentile(&d, 50), 700);
	durations_add(&d, &a, 30);
	durations_add(&d, &a, 5000);
	assert_int_equal(durations_percentile(&d, 1), 30);
	assert_int_equal(durations_percentile(&d, 50), 700);
	assert_int_equal(durations_percentile(&d, 99), 5000);
	assert_int_equal(d.longest, 5000);
	assert_null(d.buckets);
}

/* The percentile is at least as long as the true one, and at most a quarter longer. */
static void test_many(void **state)
{
	SCRATCH(a);
	struct durations d = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 10000; i++)
		durations_add(&d, &a, i * 1000);
	for (unsigned percent = 1; percent <= 100; percent++) {
		uint64_t wanted = percent * UINT64_C(100000);

		assert_in_range(durations_percentile(&d, percent), wanted, wanted + wanted / 4);
	}
	assert_int_equal(durations_percentile(&d, 100), 10000000);
	assert_int_equal(d.n, 10000);
}

static void test_extremes(void **state)
{
	SCRATCH(a);
	struct durations d = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		durations_add(&d, &a, 0);
		durations_add(&d, &a, UINT64_MAX);
	}
	assert_int_equal(durations_percentile(&d, 50), 255);
	assert_true(durations_percentile(&d, 99) == UINT64_MAX);
}

static void test_merge(void **state)
{
	SCRATCH(a);
	struct durations few = { 0 }, many = { 0 }, sum = { 0 };

	(void)state;
	durations_add(&few, &a, 9000);
	for (int i = 0; i < 99; i++)
		durations_add(&many, &a, 100);
	durations_merge(&sum, &a, &few);
	assert_int_equal(durations_percentile(&sum, 50), 9000);
	durations_merge(&sum, &a, &many);
	assert_int_equal(sum.n, 100);
	assert_int_equal(sum.longest, 9000);
	assert_int_equal(durations_percentile(&sum, 99), 255);
	durations_merge(&many, &a, &few);
	assert_int_equal(durations_percentile(&many, 100), 9000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
