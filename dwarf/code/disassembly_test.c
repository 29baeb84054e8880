/* Tests of machine code as text, on shapes.rs with code of our own. */
#include "dwarf/code/disassembly.h"
#include "dwarf/lookup/code_places.h"
#include "dwarf/test/module.h"

/* A function of shapes.rs. */
static struct code_range range_of(struct fixture *f, const char *name)
{
	struct code_places places;
	struct code_range *found;
	size_t n;

	fail_on(lookup_function_places(f->di, name, &f->arena, &places));
	fail_on(disassembly_function_named(f->di, name, &places, &f->arena, &found, &n));
	assert_int_equal(n, 1);
	return found[0];
}

static struct disassembly rows_of(struct fixture *f, const struct code_range *range)
{
	const struct disassembly_options options = { .lines = true };
	struct disassembly ret;

	fail_on(disassembly_read(f->di, range, &options, &f->arena, &ret));
	return ret;
}

static void test_functions(void **state)
{
	struct fixture f = shapes_open();
	struct code_range range = range_of(&f, "boxed"), same;
	const struct code_places none = { 0 };
	struct code_range *found;
	size_t n;

	(void)state;
	assert_string_equal(range.function, "shapes::boxed");
	assert_true(range.low < range.high);
	assert_int_equal(range.start, range.low);
	fail_on(disassembly_function_at(f.di, range.high - 1, &f.arena, &same));
	assert_int_equal(same.low, range.low);
	expect_error(disassembly_function_at(f.di, 16, &f.arena, &same), ERR_STATE,
	             "no function at 0x10");
	expect_error(disassembly_function_named(f.di, "no::such", &none, &f.arena, &found, &n),
	             ERR_STATE, "no function named no::such has code");
	fixture_close(&f);
}

/* Calls of the function itself and of nothing, a pointer to it, and no instruction. */
static void test_rows(void **state)
{
	struct fixture f = shapes_open();
	struct code_range range = range_of(&f, "boxed");
	/* nop; call low; mov 2(%rip), %rax; .byte 0x06; nop; the pointer */
	uint8_t code[] = { 0x90, 0xe8, 0xfa, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x05, 2, 0, 0,
		           0,    0x06, 0x90, 0,    0,    0,    0,    0,    0,    0, 0 };

	(void)state;
	memcpy(code + 15, &range.low, sizeof(range.low));
	target_fake_map(f.target, range.low, code, sizeof(code));
	range.high = range.low + 15;
	struct disassembly d = rows_of(&f, &range);

	assert_int_equal(d.nrows, 5);
	assert_null(d.problem);
	assert_string_equal(d.rows[0].insn.text, "nop");
	assert_non_null(d.rows[0].file);
	assert_true(strstr(d.rows[0].file, "shapes.rs") != NULL);
	assert_true(d.rows[0].line > 0);
	assert_int_equal(d.rows[1].insn.target, range.low);
	assert_string_equal(d.rows[1].symbol, "shapes::boxed");
	assert_memory_equal(d.rows[1].bytes, code + 1, 5);
	assert_null(d.rows[2].insn.is_branch ? "" : NULL);
	assert_string_equal(d.rows[2].symbol, "shapes::boxed+15");
	assert_true(d.rows[3].insn.bad);
	/* Within the last instruction. */
	range.high = range.low + 2;
	assert_int_equal(rows_of(&f, &range).nrows, 2);
	fixture_close(&f);
}

static void test_missing(void **state)
{
	struct fixture f = shapes_open();
	struct code_range range = range_of(&f, "boxed");
	const struct disassembly_options options = { 0 };
	struct disassembly d;

	(void)state;
	expect_error(disassembly_read(f.di, &range, &options, &f.arena, &d), ERR_FAULT,
	             "is not readable");
	target_fake_map(f.target, range.low, "\x90\x90", 2);
	d = rows_of(&f, &range);
	assert_int_equal(d.nrows, 2);
	assert_non_null(strstr(d.problem, "cannot be read"));
	range.high = range.low;
	expect_error(disassembly_read(f.di, &range, &options, &f.arena, &d), ERR_USAGE, "empty");
	range = (struct code_range){ .low = 1, .high = UINT64_MAX };
	expect_error(disassembly_read(f.di, &range, &options, &f.arena, &d), ERR_FAULT, "0x1");
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
