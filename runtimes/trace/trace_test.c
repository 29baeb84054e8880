#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "debugger/target/module.h"
#include "dwarf/module/code_map.h"
#include "dwarf/module/debuginfo.h"
#include "runtimes/trace/trace_private.h"

enum { AT = 0x401000, BIAS = 0x555555554000 };

static uint64_t address_in(struct trace t, uint64_t module_bias)
{
	struct module module = { .bias = module_bias };
	struct dwarf_module dm = { .module = &module };
	struct code_map code = { .dm = &dm };
	struct trace_point point = { .address = AT, .code = &code };

	return trace_point_address(&t, &point);
}

/* A process that exists: its modules are where they are, in a program without PIE as well. */
static void test_address_in_a_process(void **state)
{
	(void)state;
	assert_int_equal(address_in((struct trace){ .is_mapped = true }, BIAS), AT + BIAS);
	assert_int_equal(address_in((struct trace){ .is_mapped = true }, 0), AT);
}

/* Before it is executed no address is known, and behind that also one with a bias of 0 is. */
static void test_address_in_a_program(void **state)
{
	struct trace t = { .options.pid = 7 };

	(void)state;
	assert_int_equal(address_in(t, 0), 0);
	t.is_mapped = true;
	assert_int_equal(address_in(t, 0), AT);
	t.bias = BIAS;
	assert_int_equal(address_in(t, 0), AT + BIAS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address_in_a_process),
		cmocka_unit_test(test_address_in_a_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
