/* Tests of state_set.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwarf/frame/state_set.h"

static void test_many(void **state)
{
	struct state_set s = { 0 }, low = { 0 };
	SCRATCH(a);

	(void)state;
	assert_true(state_set_is_empty(&s));
	state_set_add(&s, &a, 3);
	low = s;
	state_set_add(&s, &a, 64);
	state_set_add(&s, &a, 1000);
	assert_true(state_set_has(&s, 3) && state_set_has(&s, 64) && state_set_has(&s, 1000));
	assert_false(state_set_has(&s, 63) || state_set_has(&s, 65) || state_set_has(&s, 100000));
	/* The copy has its own states. */
	assert_false(state_set_has(&low, 64));
	assert_true(state_set_is_within(&low, &s));
	assert_false(state_set_is_within(&s, &low));
}

static void test_combined(void **state)
{
	struct state_set a = { 0 }, b = { 0 }, s;
	SCRATCH(arena);

	(void)state;
	state_set_add(&a, &arena, 1);
	state_set_add(&a, &arena, 70);
	state_set_add(&b, &arena, 70);
	state_set_add(&b, &arena, 300);
	s = a;
	state_set_unite(&s, &arena, &b);
	assert_true(state_set_has(&s, 1) && state_set_has(&s, 70) && state_set_has(&s, 300));
	s = a;
	state_set_keep(&s, &arena, &b);
	assert_true(state_set_has(&s, 70) && !state_set_has(&s, 1) && !state_set_has(&s, 300));
	s = a;
	state_set_remove(&s, &arena, &b);
	assert_true(state_set_has(&s, 1) && !state_set_has(&s, 70));
	state_set_remove(&s, &arena, &a);
	assert_true(state_set_is_empty(&s));
}

/* A number from a corrupt target makes no set of gigabytes. */
static void test_absurd(void **state)
{
	struct state_set s = { 0 };
	SCRATCH(a);

	(void)state;
	state_set_add(&s, &a, SIZE_MAX);
	assert_true(state_set_is_empty(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_combined),
		cmocka_unit_test(test_absurd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
