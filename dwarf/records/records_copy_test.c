/* Tests of records_copy.c. */
#include "dwarf/records/records_copy.h"
#include "dwarf/test/module.h"

enum { TYPE_FORM_SHELL = 0 };

/* Writes the records of a struct with one member, as type_records.c does. */
static void add_struct(struct records *f, uint64_t die, const char *name, const char *member,
                       uint64_t member_type)
{
	struct record_writer d;

	record_begin(&d, f, RECORD_TYPE, die, NULL);
	record_add_number(&d, TYPE_FORM_SHELL);
	record_add_number(&d, 0); /* target */
	record_add_text(&d, name);
	record_add_number(&d, TYPE_STRUCT);
	record_add_number(&d, 8);
	record_add_number(&d, 8);
	record_add_number(&d, 0);
	record_end(&d);
	record_begin(&d, f, RECORD_DETAILS, die, NULL);
	record_add_number(&d, 0);
	record_add_text(&d, NULL);
	record_add_text(&d, NULL); /* no discriminant */
	record_add_number(&d, 0);
	record_add_number(&d, 0);
	record_add_number(&d, 1);
	record_add_text(&d, member);
	record_add_number(&d, member_type);
	record_add_number(&d, 0);
	for (int i = 0; i < 3; i++)
		record_add_number(&d, 0); /* variants, enumerators, parameters */
	record_end(&d);
}

static void add_function(struct records *f, uint64_t pc, uint64_t die)
{
	struct record_writer d;

	record_begin(&d, f, RECORD_PARAM, die, "T");
	record_add_number(&d, pc);
	record_end(&d);
}

/* The type of the function's template parameter. */
static uint64_t param_of(const struct records *f, uint64_t function)
{
	struct record record;

	for (uint64_t die = 1; die < 100; die++) {
		if (die == function && record_find(f, RECORD_PARAM, die, "T", &record))
			return record_number(&record);
	}
	return 0;
}

static void test_equal_types_become_one(void **state)
{
	struct records *f = records_new(), *merged;
	size_t n[2];
	struct record record;

	(void)state;
	add_struct(f, 0x100, "app::A", "next", 0x200);
	add_struct(f, 0x200, "app::B", "next", 0x100);
	add_struct(f, 0x1100, "app::A", "next", 0x1200);
	add_struct(f, 0x1200, "app::B", "next", 0x1100);
	merged = records_merged(f, n);
	assert_int_equal(n[0], 4);
	assert_int_equal(n[1], 2);
	assert_true(record_find(merged, RECORD_DETAILS, 1, NULL, &record));
	assert_true(record_find(merged, RECORD_DETAILS, 2, NULL, &record));
	assert_false(record_find(merged, RECORD_DETAILS, 3, NULL, &record));
	records_free(merged);
	records_free(f);
}

/* Two crates can have different types of one name. The difference may be many references away. */
static void test_a_name_makes_no_type(void **state)
{
	enum { CHAIN = 12 };
	struct records *f = records_new(), *merged;
	size_t n[2];

	(void)state;
	for (uint64_t unit = 1; unit <= 2; unit++) {
		for (uint64_t i = 0; i < CHAIN; i++)
			add_struct(f, unit * 0x1000 + i, "app::Link", "next",
			           unit * 0x1000 + i + 1);
		add_struct(f, unit * 0x1000 + CHAIN, "app::Link", unit == 1 ? "last" : "end", 0);
	}
	merged = records_merged(f, n);
	assert_int_equal(n[0], 2 * (CHAIN + 1));
	assert_int_equal(n[1], 2 * (CHAIN + 1));
	records_free(merged);
	records_free(f);
}

static void test_references_follow(void **state)
{
	struct records *f = records_new(), *merged;
	size_t n[2];

	(void)state;
	add_struct(f, 0x100, "app::A", "x", 0);
	add_struct(f, 0x1100, "app::A", "x", 0);
	add_struct(f, 0x2100, "app::A", "y", 0);
	add_function(f, 0x100, 0x90);
	add_function(f, 0x1100, 0x1090);
	add_function(f, 0x2100, 0x2090);
	merged = records_merged(f, n);
	assert_int_equal(n[1], 2);
	/* Numbers are given to types first, then to functions as they are visited. */
	unsigned same = 0, other = 0;
	for (uint64_t die = 3; die <= 5; die++) {
		same += param_of(merged, die) == 1;
		other += param_of(merged, die) == 2;
	}
	assert_int_equal(same, 2);
	assert_int_equal(other, 1);
	records_free(merged);
	records_free(f);
}

static void add_instance(struct records *f, uint64_t home, const char *path, const char *name)
{
	struct record_writer d;

	record_begin(&d, f, RECORD_INSTANCES, home, path);
	record_add_number(&d, 1);
	record_add_text(&d, name);
	record_add_number(&d, 1);
	record_end(&d);
}

static size_t instances(const struct records *f, uint64_t home, const char *path)
{
	struct record record;

	return record_find(f, RECORD_INSTANCES, home, path, &record) ? record_count(&record) : 0;
}

static void test_instances_of_all_crates(void **state)
{
	struct records *f = records_new(), *merged;

	(void)state;
	add_struct(f, 0x100, "app::A", "x", 0);
	add_instance(f, 7, "a::poll", "a::poll<app::A>");
	add_instance(f, 8, "a::poll", "a::poll<app::B>");
	add_instance(f, 7, "core::ptr::drop_in_place", "core::ptr::drop_in_place<app::A>");
	add_instance(f, 8, "core::ptr::drop_in_place", "core::ptr::drop_in_place<app::B>");
	merged = records_merged(f, NULL);
	assert_int_equal(instances(merged, 7, "a::poll"), 1);
	assert_int_equal(instances(merged, 0, "a::poll"), 2);
	/* Drop glue of a type that no task can reach is dropped. */
	assert_int_equal(instances(merged, 0, "core::ptr::drop_in_place"), 1);
	records_free(merged);
	records_free(f);
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
