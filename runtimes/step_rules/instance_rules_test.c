/* Tests of decisions about the future that a step follows. */
#include "runtimes/step_rules/instance_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- the state of a coroutine ---- */

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(instance_rules_state(NULL), INSTANCE_UNKNOWN);
	assert_int_equal(instance_rules_state("Unresumed"), INSTANCE_UNRESUMED);
	assert_int_equal(instance_rules_state("Suspend0"), INSTANCE_SUSPENDED);
	assert_int_equal(instance_rules_state("Suspend12"), INSTANCE_SUSPENDED);
	assert_int_equal(instance_rules_state("Returned"), INSTANCE_RETURNED);
	assert_int_equal(instance_rules_state("Panicked"), INSTANCE_PANICKED);
	assert_int_equal(instance_rules_state("Some"), INSTANCE_OTHER);
	assert_true(instance_rules_is_polled(INSTANCE_UNRESUMED));
	assert_true(instance_rules_is_polled(INSTANCE_SUSPENDED));
	assert_true(instance_rules_is_polled(INSTANCE_OTHER));
	assert_false(instance_rules_is_polled(INSTANCE_UNKNOWN));
	assert_false(instance_rules_is_polled(INSTANCE_RETURNED));
	assert_false(instance_rules_is_polled(INSTANCE_PANICKED));
}

static void test_variants(void **state)
{
	const struct variant v[] = {
		{ .name = "Niche", .is_default = true }, /* its discriminant counts for nothing */
		{ .name = "None", .discr = 3 },
		{ .name = "Other", .discr = 0 },
	};

	(void)state;
	assert_ptr_equal(instance_rules_variant(v, 3, 3), &v[1]);
	assert_ptr_equal(instance_rules_variant(v, 3, 0), &v[2]);
	assert_ptr_equal(instance_rules_variant(v, 3, 4), &v[0]);
	/* Without a default one a discriminant may be of none. */
	assert_null(instance_rules_variant(v + 1, 2, 4));
	assert_ptr_equal(instance_rules_variant(v + 1, 2, 0), &v[2]);
	assert_null(instance_rules_variant(v + 1, 1, 0));
	assert_null(instance_rules_variant(v, 0, 0));
}

/* ---- its object ---- */

static void test_arguments(void **state)
{
	(void)state;
	assert_true(instance_rules_is_argument(RESULT_NOTHING, 0));
	assert_false(instance_rules_is_argument(RESULT_NOTHING, 1));
	assert_true(instance_rules_is_argument(RESULT_REGISTERS, 0));
	assert_false(instance_rules_is_argument(RESULT_REGISTERS, 1));
	assert_false(instance_rules_is_argument(RESULT_MEMORY, 0));
	assert_true(instance_rules_is_argument(RESULT_MEMORY, 1));
	for (unsigned n = 0; n < 2; n++) {
		assert_true(instance_rules_is_argument(RESULT_EITHER, n));
		assert_true(instance_rules_is_argument(RESULT_UNKNOWN, n));
	}
}

static void test_members(void **state)
{
	/* Types are compared by their identity alone. */
	static const char some, other;
	const struct type *const t = (const void *)&some;
	const struct variable whole = { .name = "delay", .type = t, .in_memory = true };
	const struct member m = { .name = "delay", .type = t };
	struct variable v = whole;

	(void)state;
	assert_true(instance_rules_is_member(&v, &m));
	v.in_memory = false;
	assert_false(instance_rules_is_member(&v, &m));
	/* A variable of an inlined function */
	v = whole;
	v.depth = 1;
	assert_false(instance_rules_is_member(&v, &m));
	v = whole;
	v.name = "delays";
	assert_false(instance_rules_is_member(&v, &m));
	v.name = NULL;
	assert_false(instance_rules_is_member(&v, &m));
	v = whole;
	v.type = (const void *)&other;
	assert_false(instance_rules_is_member(&v, &m));
	v.type = NULL;
	assert_false(instance_rules_is_member(&v, &(struct member){ .name = "delay" }));
	assert_false(instance_rules_is_member(&whole, &(struct member){ .type = t }));
}

static void test_owners(void **state)
{
	struct instance_owner o = { 0 };

	(void)state;
	assert_int_equal(instance_rules_owner(&o), 0);
	instance_rules_add_owner(&o, 0x7000);
	assert_int_equal(instance_rules_owner(&o), 0x7000);
	instance_rules_add_owner(&o, 0x7000);
	assert_int_equal(instance_rules_owner(&o), 0x7000);
	/* Variables of two coroutines, whatever comes then */
	instance_rules_add_owner(&o, 0x7008);
	assert_int_equal(instance_rules_owner(&o), 0);
	instance_rules_add_owner(&o, 0x7008);
	assert_int_equal(instance_rules_owner(&o), 0);
	o = (struct instance_owner){ 0 };
	instance_rules_add_owner(&o, 0);
	instance_rules_add_owner(&o, 0x7008);
	assert_int_equal(instance_rules_owner(&o), 0);
}

/* ---- the result of a poll ---- */

static enum instance_result_place place(uint64_t size, uint64_t discr_size, uint64_t offset)
{
	return instance_rules_result(&(struct instance_result){ size, discr_size, offset });
}

static void test_results(void **state)
{
	(void)state;
	assert_int_equal(place(1, 1, 0), INSTANCE_RESULT_REGISTER);
	assert_int_equal(place(16, 8, 0), INSTANCE_RESULT_REGISTER);
	/* The discriminant is in another register, or behind something in the same. */
	assert_int_equal(place(16, 8, 8), INSTANCE_RESULT_UNKNOWN);
	assert_int_equal(place(16, 4, 1), INSTANCE_RESULT_UNKNOWN);
	assert_int_equal(place(17, 8, 0), INSTANCE_RESULT_MEMORY);
	assert_int_equal(place(24, 8, 16), INSTANCE_RESULT_MEMORY);
	/* None, or a larger one than there is: hostile debug info. */
	assert_int_equal(place(8, 0, 0), INSTANCE_RESULT_UNKNOWN);
	assert_int_equal(place(24, 0, 0), INSTANCE_RESULT_UNKNOWN);
	assert_int_equal(place(24, 9, 0), INSTANCE_RESULT_UNKNOWN);
	assert_int_equal(place(16, 9, 0), INSTANCE_RESULT_UNKNOWN);
}

static void test_low_bytes(void **state)
{
	const uint64_t value = UINT64_C(0xfedcba9876543211);

	(void)state;
	assert_int_equal(instance_rules_low_bytes(value, 1), 0x11);
	assert_int_equal(instance_rules_low_bytes(value, 4), 0x76543211);
	assert_int_equal(instance_rules_low_bytes(value, 7), UINT64_C(0xdcba9876543211));
	assert_int_equal(instance_rules_low_bytes(value, 8), value);
	assert_int_equal(instance_rules_low_bytes(UINT64_MAX, 1), 0xff);
	assert_int_equal(instance_rules_low_bytes(UINT64_MAX, 4), UINT32_MAX);
}

static void test_pending(void **state)
{
	struct instance_poll p = { .is_future = true };

	(void)state;
	/* A hand-written future, by what it returns */
	assert_false(instance_rules_is_pending(&p));
	p.result = "Pending";
	assert_true(instance_rules_is_pending(&p));
	p.is_future = false;
	assert_false(instance_rules_is_pending(&p));
	p = (struct instance_poll){ .is_future = true, .result = "Ready" };
	assert_false(instance_rules_is_pending(&p));
	/* A coroutine, by its state: a poll that has not returned it has left it suspended. */
	p = (struct instance_poll){ .is_future = true, .by_state = true, .result = "Pending" };
	p.state = INSTANCE_RETURNED;
	assert_false(instance_rules_is_pending(&p));
	p.state = INSTANCE_SUSPENDED;
	assert_true(instance_rules_is_pending(&p));
	p.state = INSTANCE_UNKNOWN;
	assert_true(instance_rules_is_pending(&p));
	/* The code around an inlined one may have dropped it. */
	p.is_inlined = true;
	assert_false(instance_rules_is_pending(&p));
	p.state = INSTANCE_UNRESUMED;
	assert_false(instance_rules_is_pending(&p));
	p.state = INSTANCE_SUSPENDED;
	assert_true(instance_rules_is_pending(&p));
}

/* ---- an instance within another one ---- */

static void test_looks(void **state)
{
	const struct instance_value searched = { .kind = TYPE_ENUM, .is_type = true };
	struct instance_value v = { .kind = TYPE_STRUCT };

	(void)state;
	assert_int_equal(instance_rules_look(&v), INSTANCE_LOOK_MEMBERS);
	v.kind = TYPE_POINTER;
	assert_int_equal(instance_rules_look(&v), INSTANCE_LOOK_NOWHERE);
	v.kind = TYPE_ENUM;
	assert_int_equal(instance_rules_look(&v), INSTANCE_LOOK_VARIANT);
	v = searched;
	assert_int_equal(instance_rules_look(&v), INSTANCE_LOOK_NOWHERE);
	v.is_suspended = true;
	assert_int_equal(instance_rules_look(&v), INSTANCE_LOOK_FOUND);
	/* Limits: nesting, and number of values */
	v.depth = 64;
	v.nvalues = 4096;
	assert_int_equal(instance_rules_look(&v), INSTANCE_LOOK_FOUND);
	v.depth = 65;
	assert_int_equal(instance_rules_look(&v), INSTANCE_LOOK_NOWHERE);
	v.depth = 64;
	v.nvalues = 4097;
	assert_int_equal(instance_rules_look(&v), INSTANCE_LOOK_NOWHERE);
}

static void test_only(void **state)
{
	(void)state;
	assert_true(instance_rules_is_only(1, 1));
	assert_false(instance_rules_is_only(0, 1));
	assert_false(instance_rules_is_only(2, 2));
	/* Another one may be among the values that were not looked at. */
	assert_true(instance_rules_is_only(1, 4096));
	assert_false(instance_rules_is_only(1, 4097));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),    cmocka_unit_test(test_variants),
		cmocka_unit_test(test_arguments), cmocka_unit_test(test_members),
		cmocka_unit_test(test_owners),    cmocka_unit_test(test_results),
		cmocka_unit_test(test_low_bytes), cmocka_unit_test(test_pending),
		cmocka_unit_test(test_looks),     cmocka_unit_test(test_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
