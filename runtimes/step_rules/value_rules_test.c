/* Tests of decisions about the value that a function has just returned. */
#include "runtimes/step_rules/value_rules.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_reads_code(void **state)
{
	(void)state;
	assert_true(value_rules_reads_code(STEP_FINISH, 1));
	assert_true(value_rules_reads_code(STEP_FINISH, 1 << 16));
	assert_false(value_rules_reads_code(STEP_FINISH, (1 << 16) + 1));
	assert_false(value_rules_reads_code(STEP_NEXT, 1));
}

static void test_actions(void **state)
{
	const struct value_function whole = { .kind = STEP_FINISH,
		                              .is_known = true,
		                              .has_result = true };
	struct value_function f = whole;

	(void)state;
	assert_int_equal(value_rules_action(&f), VALUE_READ);
	f.kind = STEP_INTO;
	assert_int_equal(value_rules_action(&f), VALUE_ABSENT);
	f = whole;
	f.is_inlined = true;
	assert_int_equal(value_rules_action(&f), VALUE_INLINED);
	f.has_result = false; /* of the function around */
	assert_int_equal(value_rules_action(&f), VALUE_INLINED);
	f.is_known = false;
	assert_int_equal(value_rules_action(&f), VALUE_ABSENT);
	f = whole;
	f.has_result = false;
	assert_int_equal(value_rules_action(&f), VALUE_ABSENT);
}

static bool possible(bool is_enum, const char *name, bool is_poll)
{
	return value_rules_is_possible(&(struct value_variant){ is_enum, name, is_poll });
}

static void test_possible(void **state)
{
	(void)state;
	assert_true(possible(false, NULL, false));
	assert_true(possible(true, "Some", false));
	assert_false(possible(true, NULL, false));
	assert_true(possible(true, "Ready", true));
	assert_false(possible(true, "Pending", true));
	assert_false(possible(true, NULL, true));
}

static void test_in_caller(void **state)
{
	const uint64_t cfa = UINT64_C(0x7f0000000000);

	(void)state;
	assert_true(value_rules_is_in_caller(cfa, cfa));
	assert_false(value_rules_is_in_caller(cfa - 1, cfa));
	assert_true(value_rules_is_in_caller(cfa + (1 << 20) - 1, cfa));
	assert_false(value_rules_is_in_caller(cfa + (1 << 20), cfa));
	assert_false(value_rules_is_in_caller(1, cfa));
}

/* ---- where the value is ---- */

enum { REGISTER = 0x7100, ARGUMENT = 0x7200 };

/* problem: NULL: none. */
static void assert_place(struct value_result r, enum value_where where, uint64_t addr,
                         const char *problem)
{
	r.first_register = REGISTER;
	const struct value_place at = value_rules_place(&r);

	assert_int_equal(at.where, where);
	assert_int_equal(at.addr, addr);
	if (problem)
		assert_string_equal(at.problem, problem);
	else
		assert_null(at.problem);
}

static const char optimised[] = "optimised code need not leave the value in registers";

static void test_places(void **state)
{
	struct value_result r = { .kind = RESULT_NOTHING };

	(void)state;
	assert_place(r, VALUE_IN_REGISTERS, 0, NULL);
	r.kind = RESULT_REGISTERS;
	assert_place(r, VALUE_IN_REGISTERS, 0, optimised);
	r.keeps_registers = true;
	assert_place(r, VALUE_IN_REGISTERS, 0, NULL);
	r.kind = RESULT_UNKNOWN;
	assert_place(r, VALUE_NOWHERE, 0,
	             "it is not in general registers, or its place depends on the compiler");
	r = (struct value_result){ .kind = RESULT_MEMORY, .keeps_registers = true };
	assert_place(r, VALUE_IN_MEMORY, REGISTER, NULL);
	/* Optimised code need not return the address. */
	r.first_argument = ARGUMENT;
	assert_place(r, VALUE_IN_MEMORY, REGISTER, NULL);
	r.keeps_registers = false;
	assert_place(r, VALUE_IN_MEMORY, ARGUMENT, NULL);
	r.first_argument = 0;
	assert_place(r, VALUE_IN_MEMORY, 0,
	             "the code is optimised: where the value is returned is known only at "
	             "function entry, as at a breakpoint on the function");
}

static void test_either(void **state)
{
	static const char both[] = "it may be in registers or in memory";
	struct value_result r = { .kind = RESULT_EITHER, .keeps_registers = true };

	(void)state;
	assert_place(r, VALUE_IN_REGISTERS, 0, both);
	r.possible_in_memory = true;
	assert_place(r, VALUE_IN_MEMORY, REGISTER, NULL);
	r.possible_in_registers = true;
	assert_place(r, VALUE_IN_MEMORY, REGISTER, both);
	r.possible_in_memory = false;
	assert_place(r, VALUE_IN_REGISTERS, 0, NULL);
	r.keeps_registers = false;
	assert_place(r, VALUE_IN_REGISTERS, 0, optimised);
}

static void test_ready(void **state)
{
	struct value_ready r = { .nmembers = 1, .size = 8 };

	(void)state;
	assert_null(value_rules_ready_problem(&r));
	r.problem = optimised;
	r.is_coroutine = true;
	assert_ptr_equal(value_rules_ready_problem(&r), optimised);
	/* The state of a coroutine shows that it is ready, with (). */
	r.size = 0;
	assert_null(value_rules_ready_problem(&r));
	r.is_coroutine = false;
	assert_ptr_equal(value_rules_ready_problem(&r), optimised);
	r.is_coroutine = true;
	r.nmembers = 0;
	assert_string_equal(value_rules_ready_problem(&r), "the debug info does not describe it");
	r.nmembers = 2;
	assert_string_equal(value_rules_ready_problem(&r), "the debug info does not describe it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_code), cmocka_unit_test(test_actions),
		cmocka_unit_test(test_possible),   cmocka_unit_test(test_in_caller),
		cmocka_unit_test(test_places),     cmocka_unit_test(test_either),
		cmocka_unit_test(test_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
