/* Tests of reader.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/scan/reader.h"
#include "dwarf/test/bytes.h"

static struct reader all_of(const struct bytes *b)
{
	return reader_at(section_of_bytes(b), 0, b->n);
}

static void test_fixed_sizes(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put(&b, "\x01\x02\x03\x04\x05\x06\x07\x08\x09", 9);
	struct reader r = all_of(&b);

	assert_int_equal(read_fixed(&r, 1), 0x01);
	assert_int_equal(read_fixed(&r, 3), 0x040302);
	assert_int_equal(read_fixed(&r, 4), 0x08070605);
	assert_false(r.bad);
	/* One byte is left: two are too many, and nothing can be read after that. */
	assert_int_equal(read_fixed(&r, 2), 0);
	assert_true(r.bad);
	assert_ptr_equal(r.p, r.end);
	assert_int_equal(read_fixed(&r, 1), 0);
	free_bytes(&b);
}

static void test_sixteen_bytes_keep_the_low_half(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put_fixed(&b, 0x1122334455667788, 8);
	put_fixed(&b, UINT64_MAX, 8);
	struct reader r = all_of(&b);

	assert_int_equal(read_fixed(&r, 16), 0x1122334455667788);
	assert_ptr_equal(r.p, r.end);
	assert_false(r.bad);
	free_bytes(&b);
}

/* NULL + 0 is undefined too, as clang's sanitizer reports. */
static void test_a_section_that_is_not_there(void **state)
{
	(void)state;
	struct section absent = { 0 };
	struct reader r = reader_at(absent, 0, 0);

	assert_non_null(r.p);
	assert_false(r.bad);
	assert_int_equal(read_fixed(&r, 1), 0);
	assert_true(r.bad);
	assert_true(reader_at(absent, 0, 1).bad);
}

static void test_places_outside_the_section_are_bad(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put_fixed(&b, 0, 4);
	struct section s = section_of_bytes(&b);

	assert_false(reader_at(s, 4, 4).bad);
	assert_true(reader_at(s, 5, 5).bad);
	assert_true(reader_at(s, 0, 5).bad);
	assert_true(reader_at(s, 3, 2).bad);
	assert_true(reader_at(s, UINT64_MAX, 4).bad);
	assert_true(reader_at(s, 0, UINT64_MAX).bad);
	struct reader r = reader_at(s, UINT64_MAX, UINT64_MAX);
	assert_int_equal(read_uleb(&r), 0);
	assert_int_equal(read_fixed(&r, 8), 0);
	free_bytes(&b);
}

static void test_uleb(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put_uleb(&b, 0);
	put_uleb(&b, 127);
	put_uleb(&b, 128);
	put_uleb(&b, UINT64_MAX);
	struct reader r = all_of(&b);

	assert_int_equal(read_uleb(&r), 0);
	assert_int_equal(read_uleb(&r), 127);
	assert_int_equal(read_uleb(&r), 128);
	assert_true(read_uleb(&r) == UINT64_MAX);
	assert_false(r.bad);
	free_bytes(&b);
}

/* More bytes than 64 bits need: surplus bits are dropped, surplus bytes are skipped. */
static void test_overlong_leb(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put_fixed(&b, 0x85, 1);
	for (int i = 0; i < 40; i++)
		put_fixed(&b, 0x80, 1);
	put_fixed(&b, 0x7f, 1);
	put_fixed(&b, 0x42, 1);

	struct reader r = all_of(&b);
	assert_int_equal(read_uleb(&r), 5);
	assert_int_equal(read_fixed(&r, 1), 0x42);
	r = all_of(&b);
	assert_int_equal(read_sleb(&r), 5);
	assert_int_equal(read_fixed(&r, 1), 0x42);
	assert_false(r.bad);
	free_bytes(&b);
}

static void test_leb_without_an_end(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put(&b, "\x80\x80\xff", 3);

	struct reader r = all_of(&b);
	assert_int_equal(read_uleb(&r), 0);
	assert_true(r.bad);
	r = all_of(&b);
	assert_int_equal(read_sleb(&r), 0);
	assert_true(r.bad);
	free_bytes(&b);
}

static void test_sleb(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put(&b, "\x7f\x3f\x40\x80\x7f", 5); /* -1, 63, -64, -128 */
	put(&b, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10);
	struct reader r = all_of(&b);

	assert_int_equal(read_sleb(&r), -1);
	assert_int_equal(read_sleb(&r), 63);
	assert_int_equal(read_sleb(&r), -64);
	assert_int_equal(read_sleb(&r), -128);
	assert_true(read_sleb(&r) == INT64_MIN);
	assert_false(r.bad);
	free_bytes(&b);
}

static void test_strings_end_inside_their_section(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put(&b, "ab\0cd", 5);
	struct reader r = all_of(&b);

	assert_string_equal(read_cstr(&r), "ab");
	assert_string_equal(read_cstr(&r), "");
	assert_true(r.bad);
	assert_null(section_string(section_of_bytes(&b), 0));
	put_fixed(&b, 0, 1);
	assert_string_equal(section_string(section_of_bytes(&b), 3), "cd");
	assert_string_equal(section_string(section_of_bytes(&b), 5), "");
	assert_null(section_string(section_of_bytes(&b), 6));
	assert_null(section_string(section_of_bytes(&b), UINT64_MAX));
	assert_null(section_string((struct section){ NULL, 0 }, 0));
	free_bytes(&b);
}

static void test_skip(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put(&b, "abc", 3);
	struct reader r = all_of(&b);

	read_skip(&r, 2);
	assert_false(r.bad);
	read_skip(&r, UINT64_MAX);
	assert_true(r.bad);
	assert_ptr_equal(r.p, r.end);
	free_bytes(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed_sizes),
		cmocka_unit_test(test_sixteen_bytes_keep_the_low_half),
		cmocka_unit_test(test_a_section_that_is_not_there),
		cmocka_unit_test(test_places_outside_the_section_are_bad),
		cmocka_unit_test(test_uleb),
		cmocka_unit_test(test_overlong_leb),
		cmocka_unit_test(test_leb_without_an_end),
		cmocka_unit_test(test_sleb),
		cmocka_unit_test(test_strings_end_inside_their_section),
		cmocka_unit_test(test_skip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
