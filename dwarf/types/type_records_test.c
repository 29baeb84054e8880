/* Records that describe impossible types: see type_records.c. */
#include "dwarf/records/records.h"
#include "dwarf/test/module.h"
#include "dwarf/values/value.h"

enum { DIE = 0x10, OTHER = 0x20, WORD = 0x30, PLACE = 0x1000 };

struct row {
	uint64_t form, target;
	const char *name;
	uint64_t kind, size, align, count;
};

static void add_type(struct records *f, uint64_t die, const struct row *row)
{
	struct record_writer d;

	record_begin(&d, f, RECORD_TYPE, die, NULL);
	record_add_number(&d, row->form);
	record_add_number(&d, row->target);
	record_add_text(&d, row->name);
	record_add_number(&d, row->kind);
	record_add_number(&d, row->size);
	record_add_number(&d, row->align);
	record_add_number(&d, row->count);
	record_end(&d);
}

/* Writes RECORD_DETAILS; all its texts are NULL. */
static void add_details(struct records *f, uint64_t die, size_t n, const uint64_t *numbers)
{
	struct record_writer d;

	record_begin(&d, f, RECORD_DETAILS, die, NULL);
	for (size_t i = 0; i < n; i++)
		record_add_number(&d, numbers[i]);
	record_end(&d);
}

#define ADD_DETAILS(f, die, ...)                                                                   \
	do {                                                                                       \
		const uint64_t numbers[] = { __VA_ARGS__ };                                        \
                                                                                                   \
		add_details(f, die, sizeof(numbers) / sizeof(*numbers), numbers);                  \
	} while (0)

/* No discriminant. */
#define PLAIN 0, 0, 0, 0, 0

/* A program without debug info: it has only the records that a test writes, at first of u64. */
static struct fixture open_empty(struct records **records)
{
	static const struct row word = { .name = "u64", .kind = TYPE_UINT, .size = 8, .align = 8 };
	struct hand_made none = { 0 };
	struct fixture f = hand_made_open(&none);
	const uint64_t zeros[64] = { 0 };

	*records = debuginfo_records(f.dm);
	target_fake_map(f.target, PLACE, zeros, sizeof(zeros));
	add_type(*records, WORD, &word);
	return f;
}

static const struct type *a_struct(struct fixture *f, struct records *records, uint64_t kind)
{
	const struct row row = { .name = "app::A", .kind = kind, .size = 16, .align = 8 };

	add_type(records, DIE, &row);
	return type_at(f->dm, DIE);
}

static size_t count_members(const struct type *t)
{
	size_t n;

	type_members(t, &n);
	return n;
}

static void test_a_sound_record(void **state)
{
	struct records *records;
	struct fixture f = open_empty(&records);
	const struct type *t = a_struct(&f, records, TYPE_STRUCT);

	(void)state;
	ADD_DETAILS(records, DIE, PLAIN, 2, 0, WORD, 0, 0, WORD, 8, 0, 0);
	assert_int_equal(count_members(t), 2);
	assert_int_equal(type_size(t), 16);
	fixture_close(&f);
}

/* An enum whose discriminant has no type, so that it cannot be read. */
static void test_a_discriminant_without_a_type(void **state)
{
	struct records *records;
	struct fixture f = open_empty(&records);
	const struct type *t = a_struct(&f, records, TYPE_ENUM);
	const struct variant *variant;
	size_t n;

	(void)state;
	ADD_DETAILS(records, DIE, 1, 0, 0, 0 /* its type */, 0, 0, 1, 0, 0, 3, WORD, 0, 0, 0, 0);
	expect_error(value_variant(f.target, (struct value){ t, PLACE }, &variant), ERR_LAYOUT,
	             "app::A");
	assert_null(type_discr(t));
	type_variants(t, &n);
	assert_int_equal(n, 0);
	fixture_close(&f);
}

static void test_members_that_are_none(void **state)
{
	static const uint64_t bad[][12] = {
		{ PLAIN, 1, 0, 0 /* no type */, 0, 0, 0 },
		{ PLAIN, 1, 0, WORD, 17 * 2 /* beyond the end */, 0, 0 },
		{ PLAIN, 1, 0, WORD, UINT64_MAX - 7, 0, 0 },
		{ PLAIN, 1, 0, DIE /* a part of itself */, 0, 0, 0 },
		{ PLAIN, 2 /* but one follows */, 0, WORD, 0, 0, 0 },
		{ PLAIN, 1, 0, WORD, 0, 0, 1 /* an enumerator that is not there */ },
		{ PLAIN, 1, 0, WORD, 0, 0, 0, 0 /* one number more */ },
	};
	static const size_t sizes[] = { 11, 11, 11, 11, 11, 11, 12 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct records *records;
		struct fixture f = open_empty(&records);
		const struct type *t = a_struct(&f, records, TYPE_STRUCT);

		add_details(records, DIE, sizes[i], bad[i]);
		assert_int_equal(count_members(t), 0);
		assert_null(type_single_member(t));
		fixture_close(&f);
	}
}

static void test_a_record_that_is_cut_off(void **state)
{
	static const uint64_t whole[] = { PLAIN, 2, 0, WORD, 0, 0, WORD, 8 * 2, 0, 0 };

	(void)state;
	for (size_t n = 0; n < sizeof(whole) / sizeof(*whole); n++) {
		struct records *records;
		struct fixture f = open_empty(&records);
		const struct type *t = a_struct(&f, records, TYPE_STRUCT);

		add_details(records, DIE, n, whole);
		assert_int_equal(count_members(t), 0);
		fixture_close(&f);
	}
}

static void test_types_that_are_none(void **state)
{
	static const struct row bad[] = {
		/* The elements are larger or smaller than the array, or their size overflows. */
		{ 0, WORD, "[u64; 3]", TYPE_ARRAY, 16, 8, 3 },
		{ 0, WORD, "[u64; 3]", TYPE_ARRAY, 0, 8, 3 },
		{ 0, WORD, "[u64; 3]", TYPE_ARRAY, 0x20, 8, (UINT64_C(1) << 61) + 4 },
		{ 0, DIE, "[[...]; 1]", TYPE_ARRAY, 8, 8, 1 },
		{ 0, 0, "[?; 1]", TYPE_ARRAY, 8, 8, 1 },
		{ 0, WORD, "*const u64", TYPE_POINTER, UINT64_MAX, 8, 0 },
		{ 9, 0, "app::A", TYPE_STRUCT, 16, 8, 0 },
		{ 0, 0, "app::A", TYPE_FUNCTION + 2, 16, 8, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct records *records;
		struct fixture f = open_empty(&records);
		const struct type *t = type_at(f.dm, DIE);

		add_type(records, DIE, &bad[i]);
		assert_int_equal(type_kind(t), TYPE_OPAQUE);
		assert_int_equal(type_size(t), 0);
		assert_string_equal(type_name(t), "?");
		fixture_close(&f);
	}
}

/* Two arrays, each the element type of the other. */
static void test_arrays_of_each_other(void **state)
{
	static const struct row one = { 0, OTHER, "[[...]; 1]", TYPE_ARRAY, 8, 8, 1 };
	static const struct row other = { 0, DIE, "[[...]; 1]", TYPE_ARRAY, 8, 8, 1 };
	struct records *records;
	struct fixture f = open_empty(&records);

	(void)state;
	add_type(records, DIE, &one);
	add_type(records, OTHER, &other);
	type_size(type_at(f.dm, DIE));
	type_size(type_at(f.dm, OTHER));
	type_name(type_at(f.dm, DIE));
	fixture_close(&f);
}

/*
 * Two structs with thousands of members, each of the other's type: a recursive walk over their
 * parts must be bounded.
 */
static void test_types_within_each_other(void **state)
{
	enum { MEMBERS = 3000 };
	static const struct row choice = { .name = "app::E", .kind = TYPE_ENUM, .size = 16 };
	static const struct row row = { .name = "app::B", .kind = TYPE_STRUCT, .size = 16 };
	struct records *records;
	struct fixture f = open_empty(&records);
	const struct variant *variant;
	struct record_writer d;

	(void)state;
	a_struct(&f, records, TYPE_STRUCT);
	add_type(records, OTHER, &row);
	for (uint64_t die = DIE; die <= OTHER; die += OTHER - DIE) {
		record_begin(&d, records, RECORD_DETAILS, die, NULL);
		for (int i = 0; i < 5; i++)
			record_add_number(&d, 0);
		record_add_number(&d, MEMBERS);
		for (int i = 0; i < MEMBERS; i++) {
			record_add_text(&d, NULL);
			record_add_number(&d, DIE + OTHER - die);
			record_add_number(&d, 0);
		}
		record_add_number(&d, 0);
		record_add_number(&d, 0);
		record_end(&d);
	}
	add_type(records, PLACE, &choice);
	ADD_DETAILS(records, PLACE, PLAIN, 0, 2, 0, 0, 0, DIE, 0, 0, 0, 0, 0, 1, OTHER, 0, 0, 0, 0);
	const struct value v = { type_at(f.dm, PLACE), PLACE };
	expect_error(value_variant(f.target, v, &variant), ERR_LAYOUT, "discriminant");
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sound_record),
		cmocka_unit_test(test_a_discriminant_without_a_type),
		cmocka_unit_test(test_members_that_are_none),
		cmocka_unit_test(test_a_record_that_is_cut_off),
		cmocka_unit_test(test_types_that_are_none),
		cmocka_unit_test(test_arrays_of_each_other),
		cmocka_unit_test(test_types_within_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
