/* Numbers of messages in queues of crossbeam's design. */
#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

#include "dwarf/values/queue_length.h"

/* Of a queue for 4 messages the mark is 8 and a lap 16. */
static void test_bounded(void **state)
{
	(void)state;
	assert_int_equal(queue_length_bounded(0, 0, 8, 4), 0);
	assert_int_equal(queue_length_bounded(1, 3, 8, 4), 2);
	assert_int_equal(queue_length_bounded(0, 16, 8, 4), 4);
	assert_int_equal(queue_length_bounded(3, 17, 8, 4), 2);
	/* closed */
	assert_int_equal(queue_length_bounded(2, 2 | 8, 8, 4), 0);
	assert_int_equal(queue_length_bounded(2, 18 | 8, 8, 4), 4);
}

static void test_unbounded(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(queue_length_unbounded(0, 0, &n));
	assert_int_equal(n, 0);
	assert_true(queue_length_unbounded(0, 5 << 1 | 1, &n));
	assert_int_equal(n, 5);
	/* 31 messages fill a block; the place behind them has none. */
	assert_true(queue_length_unbounded(0, 31 << 1, &n));
	assert_int_equal(n, 31);
	assert_true(queue_length_unbounded(0, 32 << 1, &n));
	assert_int_equal(n, 31);
	assert_true(queue_length_unbounded(31 << 1, 33 << 1, &n));
	assert_int_equal(n, 1);
	assert_true(queue_length_unbounded(30 << 1, 65 << 1, &n));
	assert_int_equal(n, 33);
	assert_false(queue_length_unbounded(5 << 1, 4 << 1, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_unbounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
