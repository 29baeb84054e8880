/* Variables that a step has changed, also in a frame of thousands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "commands/base/seen_variables.h"

enum { MANY = 3000 };

static struct local locals[MANY];
static char names[MANY][8];

static struct native_frame large_frame(void)
{
	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "v%zu", i);
		locals[i] = (struct local){
			.name = names[i], .type = "u32", .value = "0", .addr = 0x1000 + 4 * i
		};
	}
	return (struct native_frame){ .found = true, .locals = locals, .nlocals = MANY };
}

static void test_last_of_many(void **state)
{
	const struct resumed_object none = { 0, 0 };
	struct native_frame frame = large_frame();
	struct seen_variables seen = { 0 };
	struct arena a = { 0 };
	size_t n;

	(void)state;
	seen_variables_keep(&seen, "f", &frame);
	seen_variables_changed(&seen, "f", &frame, &none, &a, &n);
	assert_int_equal(n, 0);
	locals[MANY - 1].value = "1";
	const struct changed_variable *changed =
		seen_variables_changed(&seen, "f", &frame, &none, &a, &n);
	assert_int_equal(n, 1);
	assert_string_equal(changed->now->name, "v2999");
	assert_string_equal(changed->before, "0");
	seen_variables_changed(&seen, "g", &frame, &none, &a, &n);
	assert_int_equal(n, 0);
	seen_variables_free(&seen);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_last_of_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
