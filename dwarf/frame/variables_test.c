/* Which variables are in scope, on the optimised function of shadowed.rs. */
#include "dwarf/frame/variables.h"

#include <string.h>

#include "dwarf/frame/native_variables.h"
#include "dwarf/test/module.h"

static uint64_t registers[17];

static const struct function *find(struct fixture *f, const char *name)
{
	size_t n;
	const struct scope *scopes = read_scopes(f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct function *at =
			scopes[i].tag == DW_TAG_subprogram && scopes[i].has_address
				? lookup_function(f->di, scopes[i].low + BIAS)
				: NULL;

		if (at && at->name && strcmp(at->name, name) == 0)
			return at;
	}
	fail_msg("no function");
	return NULL;
}

static void visit(const struct variable *v, void *arg)
{
	if (v->name && strcmp(v->name, "value") == 0 && v->depth == 0)
		++*(size_t *)arg;
}

/* What native frames say of `value` there: the innermost one counts. */
enum native_answer { ABSENT, LOST, PLACED };

static enum native_answer native_answer_at(struct fixture *f, const struct frame *frame)
{
	size_t n, nfunctions;
	lookup_functions_at(f->di, frame->lookup_pc, &f->arena, &nfunctions);
	const struct native_scope scope = { .frame = frame, .level = nfunctions - 1 };
	struct native_variable *list;
	enum native_answer ret = ABSENT;

	fail_on(native_variables_list(f->di, &scope, &f->arena, &list, &n, NULL));
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, "value") == 0)
			ret = list[i].value.problem ? LOST : PLACED;
	}
	return ret;
}

/* A variable without a place hides the outer one of its name: its value is not the one asked for.
 */
static void test_hidden(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/shadowed.elf");
	const struct function *function = find(&f, "shadowed::shadowed");
	size_t lost = 0, placed = 0, in_register = 0;

	(void)state;
	for (uint64_t pc = function->low; pc < function->high; pc++) {
		const struct frame frame = {
			.pc = pc, .lookup_pc = pc, .regs = registers, .known_regs = (1 << 17) - 1
		};
		enum native_answer native = native_answer_at(&f, &frame);
		struct variable_access access;
		size_t n = 0;

		variables_in_frame(f.di, &frame, 0, visit, &n);
		bool found = variables_access_at(f.di, pc, 0, "value", &access);
		if (native == LOST)
			assert_true(n == 0 && !found);
		if (native == PLACED)
			assert_true(n > 0);
		lost += native == LOST;
		placed += native == PLACED;
		in_register += found && !access.in_memory && access.nloads == 0;
	}
	assert_true(lost > 0 && placed > 0 && in_register > 0);
	fixture_close(&f);
}

static void count_in_memory(const struct variable *v, void *arg)
{
	if (v->in_memory && v->addr >= registers[0] && v->addr < registers[0] + 0x8000)
		++*(size_t *)arg;
}

static void count_placed(const struct variable *v, void *arg)
{
	*(size_t *)arg += v->in_memory;
}

/* A frame base at a distance from the CFA is found where no caller is known, but not without the
 * CFA. */
static void test_base_from_cfa(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/probed.elf");
	const struct function *function = find(&f, "probed::probed");
	const uint64_t middle = function->low + (function->high - function->low) / 2;
	const struct frame frame = {
		.pc = middle, .lookup_pc = middle, .regs = registers, .known_regs = (1 << 17) - 1
	};
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		registers[i] = 0x70000000;
	variables_in_frame(f.di, &frame, 0, count_in_memory, &n);
	assert_true(n >= 1);
	n = 0;
	variables_in_frame(f.di, &(struct frame){ .pc = middle, .lookup_pc = middle }, 0,
	                   count_placed, &n);
	assert_int_equal(n, 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_hidden),
		                            cmocka_unit_test(test_base_from_cfa) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
