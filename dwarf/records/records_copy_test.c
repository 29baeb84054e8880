#include "dwarf/records/records_copy.h"
#include "dwarf/test/module.h"

enum { TYPE_FORM_SHELL = 0 };

/* A struct of one member, as type_records.c writes it. */
static void tell_struct(struct facts *f, uint64_t die, const char *name, const char *member,
                        uint64_t member_type)
{
	struct fact_draft d;

	fact_begin(&d, f, FACT_TYPE, die, NULL);
	fact_add_number(&d, TYPE_FORM_SHELL);
	fact_add_number(&d, 0); /* target */
	fact_add_text(&d, name);
	fact_add_number(&d, TYPE_STRUCT);
	fact_add_number(&d, 8);
	fact_add_number(&d, 8);
	fact_add_number(&d, 0);
	fact_end(&d);
	fact_begin(&d, f, FACT_DETAILS, die, NULL);
	fact_add_number(&d, 0);
	fact_add_text(&d, NULL);
	fact_add_text(&d, NULL); /* no discriminant */
	fact_add_number(&d, 0);
	fact_add_number(&d, 0);
	fact_add_number(&d, 1);
	fact_add_text(&d, member);
	fact_add_number(&d, member_type);
	fact_add_number(&d, 0);
	for (int i = 0; i < 3; i++)
		fact_add_number(&d, 0); /* variants, enumerators, parameters */
	fact_end(&d);
}

static void tell_function(struct facts *f, uint64_t pc, uint64_t die)
{
	struct fact_draft d;

	fact_begin(&d, f, FACT_PARAM, die, "T");
	fact_add_number(&d, pc);
	fact_end(&d);
}

/* The type that the function's parameter leads to. */
static uint64_t param_of(const struct facts *f, uint64_t function)
{
	struct fact fact;

	for (uint64_t die = 1; die < 100; die++) {
		if (die == function && fact_find(f, FACT_PARAM, die, "T", &fact))
			return fact_number(&fact);
	}
	return 0;
}

static void test_equal_types_become_one(void **state)
{
	struct facts *f = facts_new(), *merged;
	size_t n[2];
	struct fact fact;

	(void)state;
	tell_struct(f, 0x100, "app::A", "next", 0x200);
	tell_struct(f, 0x200, "app::B", "next", 0x100);
	tell_struct(f, 0x1100, "app::A", "next", 0x1200);
	tell_struct(f, 0x1200, "app::B", "next", 0x1100);
	merged = facts_merged(f, n);
	assert_int_equal(n[0], 4);
	assert_int_equal(n[1], 2);
	assert_true(fact_find(merged, FACT_DETAILS, 1, NULL, &fact));
	assert_true(fact_find(merged, FACT_DETAILS, 2, NULL, &fact));
	assert_false(fact_find(merged, FACT_DETAILS, 3, NULL, &fact));
	facts_free(merged);
	facts_free(f);
}

/* Two crates can have a type of the same name; what they differ in may be far away. */
static void test_a_name_makes_no_type(void **state)
{
	enum { CHAIN = 12 };
	struct facts *f = facts_new(), *merged;
	size_t n[2];

	(void)state;
	for (uint64_t unit = 1; unit <= 2; unit++) {
		for (uint64_t i = 0; i < CHAIN; i++)
			tell_struct(f, unit * 0x1000 + i, "app::Link", "next",
			            unit * 0x1000 + i + 1);
		tell_struct(f, unit * 0x1000 + CHAIN, "app::Link", unit == 1 ? "last" : "end", 0);
	}
	merged = facts_merged(f, n);
	assert_int_equal(n[0], 2 * (CHAIN + 1));
	assert_int_equal(n[1], 2 * (CHAIN + 1));
	facts_free(merged);
	facts_free(f);
}

static void test_references_follow(void **state)
{
	struct facts *f = facts_new(), *merged;
	size_t n[2];

	(void)state;
	tell_struct(f, 0x100, "app::A", "x", 0);
	tell_struct(f, 0x1100, "app::A", "x", 0);
	tell_struct(f, 0x2100, "app::A", "y", 0);
	tell_function(f, 0x100, 0x90);
	tell_function(f, 0x1100, 0x1090);
	tell_function(f, 0x2100, 0x2090);
	merged = facts_merged(f, n);
	assert_int_equal(n[1], 2);
	/* Types come first, then functions, in the order that they are met. */
	unsigned same = 0, other = 0;
	for (uint64_t die = 3; die <= 5; die++) {
		same += param_of(merged, die) == 1;
		other += param_of(merged, die) == 2;
	}
	assert_int_equal(same, 2);
	assert_int_equal(other, 1);
	facts_free(merged);
	facts_free(f);
}

static void tell_instance(struct facts *f, uint64_t home, const char *path, const char *name)
{
	struct fact_draft d;

	fact_begin(&d, f, FACT_INSTANCES, home, path);
	fact_add_number(&d, 1);
	fact_add_text(&d, name);
	fact_add_number(&d, 1);
	fact_end(&d);
}

static size_t instances(const struct facts *f, uint64_t home, const char *path)
{
	struct fact fact;

	return fact_find(f, FACT_INSTANCES, home, path, &fact) ? fact_count(&fact) : 0;
}

static void test_instances_of_all_crates(void **state)
{
	struct facts *f = facts_new(), *merged;

	(void)state;
	tell_struct(f, 0x100, "app::A", "x", 0);
	tell_instance(f, 7, "a::poll", "a::poll<app::A>");
	tell_instance(f, 8, "a::poll", "a::poll<app::B>");
	tell_instance(f, 7, "core::ptr::drop_in_place", "core::ptr::drop_in_place<app::A>");
	tell_instance(f, 8, "core::ptr::drop_in_place", "core::ptr::drop_in_place<app::B>");
	merged = facts_merged(f, NULL);
	assert_int_equal(instances(merged, 7, "a::poll"), 1);
	assert_int_equal(instances(merged, 0, "a::poll"), 2);
	/* Glue of what no task can reach is of no use. */
	assert_int_equal(instances(merged, 0, "core::ptr::drop_in_place"), 1);
	facts_free(merged);
	facts_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_types_become_one),
		cmocka_unit_test(test_a_name_makes_no_type),
		cmocka_unit_test(test_references_follow),
		cmocka_unit_test(test_instances_of_all_crates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
