/* Tests of scan_function.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/scan/scan.h"

enum { MANY = 1000, TIMES = 4 /* after some searches there is a list in order */ };

static struct unit unit_of(struct unit_function *functions, size_t n)
{
	return (struct unit){ .found.functions = functions, .found.nfunctions = n };
}

/*
 * Which function covers an address: the one with the nearest start, and of equal starts the
 * longest.
 */
static void test_at(void **state)
{
	struct unit_function functions[] = {
		{ 0x3000, 0x10, 0 }, { 0x1000, 0x20, 1 }, { 0x1008, 8, 2 }, { 0x2000, 4, 3 },
		{ 0x2000, 8, 4 },    { 0x2000, 8, 5 },    { 0x2000, 2, 6 }, { 0x4000, 0, 7 },
	};
	static const struct {
		uint64_t pc;
		uint32_t scope;
	} rows[] = {
		{ 0x3000, 0 },          { 0x300f, 0 },
		{ 0x3010, SCOPE_NONE }, { 0x1000, 1 },
		{ 0x1007, 1 },          { 0x1008, 2 },
		{ 0x100f, 2 },          { 0x1010, SCOPE_NONE },
		{ 0x2000, 5 },          { 0x2007, 5 },
		{ 0x2008, SCOPE_NONE }, { 0x4000, SCOPE_NONE },
		{ 0x4001, SCOPE_NONE }, { 0xfff, SCOPE_NONE },
		{ 0, SCOPE_NONE },      { UINT64_MAX, SCOPE_NONE },
	};
	struct unit u = unit_of(functions, sizeof(functions) / sizeof(functions[0]));

	(void)state;
	for (size_t i = 0; i < TIMES * sizeof(rows) / sizeof(rows[0]); i++) {
		size_t row = i % (sizeof(rows) / sizeof(rows[0]));

		assert_int_equal(scan_function_at(&u, rows[row].pc), rows[row].scope);
	}
	scan_forget(&u);
}

/* All that start at an address, in their order. */
static void test_from(void **state)
{
	struct unit_function functions[MANY];
	struct unit u = unit_of(functions, MANY);

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		functions[i] = (struct unit_function){ 0x1000 + i % 300 * 16, 16, i };
	for (uint32_t start = 0; start < 300; start++) {
		const struct unit_function *f = NULL;

		for (uint32_t i = start; i < MANY; i += 300) {
			f = scan_function_from(&u, 0x1000 + start * 16, f);
			assert_ptr_equal(f, &functions[i]);
		}
		assert_null(scan_function_from(&u, 0x1000 + start * 16, f));
		assert_null(scan_function_from(&u, 0x1000 + start * 16 + 1, NULL));
	}
	scan_forget(&u);
}

static void test_none(void **state)
{
	struct unit u = unit_of(NULL, 0);

	(void)state;
	for (size_t i = 0; i < TIMES * TIMES * TIMES; i++)
		assert_int_equal(scan_function_at(&u, 0x1000), SCOPE_NONE);
	assert_null(scan_function_from(&u, 0, NULL));
	scan_forget(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at),
		cmocka_unit_test(test_from),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
