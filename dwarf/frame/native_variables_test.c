/* Tests of the variables of native frames, on the unoptimised functions of shapes.rs. */
#include "dwarf/frame/native_variables.h"

#include <dwarf.h>

#include "dwarf/test/module.h"
#include "dwarf/unwind/cfa_rule.h"

enum { STACK = 0x70000000, STACK_SIZE = 0x1000 };

static uint64_t registers[17];

/* The function of shapes.rs with that symbol. */
static const struct function *find(struct fixture *f, const char *linkage)
{
	size_t n;
	const struct scope *scopes = read_scopes(f, &n);

	for (size_t i = 0; i < n; i++) {
		if (scopes[i].tag == DW_TAG_subprogram && scopes[i].has_address && scopes[i].name &&
		    strcmp(scopes[i].name, linkage) == 0)
			return lookup_function(f->di, scopes[i].low + BIAS);
	}
	fail_msg("no function %s", linkage);
	return NULL;
}

/* A frame at the last instruction of a function, with a stack of ones. */
static struct frame frame_in(struct fixture *f, const struct function *function)
{
	static unsigned char stack[STACK_SIZE];

	memset(stack, 1, sizeof(stack));
	target_fake_map(f->target, STACK, stack, sizeof(stack));
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		registers[i] = STACK + STACK_SIZE / 2;
	return (struct frame){ .pc = function->high - 1,
		               .lookup_pc = function->high - 1,
		               .sp = STACK + STACK_SIZE / 2,
		               .has_sp = true,
		               .regs = registers,
		               .known_regs = (1 << 17) - 1 };
}

static void test_in_memory(void **state)
{
	struct fixture f = shapes_open();
	struct frame frame = frame_in(&f, find(&f, "structs"));
	const struct native_scope scope = { .frame = &frame };
	struct native_variable *list;
	size_t n, found = 0;

	(void)state;
	fail_on(native_variables_list(f.di, &scope, &f.arena, &list, &n, NULL));
	for (size_t i = 0; i < n; i++) {
		const struct location_value *v = &list[i].value;

		assert_non_null(list[i].name);
		assert_int_equal(v->in_memory + (v->bytes != NULL) + (v->problem != NULL), 1);
		assert_true(!v->in_memory || (v->addr >= STACK && v->addr < STACK + STACK_SIZE));
		found += v->in_memory;
	}
	assert_true(found > 0);
	fixture_close(&f);
}

/* Without registers each has a reason in place of its value. */
static void test_unknown_registers(void **state)
{
	struct fixture f = shapes_open();
	struct frame frame = frame_in(&f, find(&f, "structs"));
	const struct native_scope scope = { .frame = &frame };
	struct native_variable *list;
	size_t n;

	(void)state;
	frame.known_regs = 0;
	fail_on(native_variables_list(f.di, &scope, &f.arena, &list, &n, NULL));
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		assert_false(list[i].value.in_memory);
		assert_non_null(list[i].value.problem);
		assert_non_null(strstr(list[i].value.problem, "not known"));
	}
	fixture_close(&f);
}

/*
 * A large frame has its base at a distance from the CFA. That follows from the unwind rule of the
 * frame itself, where no caller is known.
 */
static void test_base_from_cfa(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/probed.elf");
	const struct function *function = find(&f, "probed");
	struct frame frame = frame_in(&f, function);
	const struct native_scope scope = { .frame = &frame };
	struct native_variable *list;
	struct cfa_rule rule;
	size_t n;

	(void)state;
	/* In the middle of the function: behind the probes, before the frame is given back. */
	frame.pc = frame.lookup_pc = function->low + (function->high - function->low) / 2;
	assert_true(cfa_rule_at(f.target, frame.lookup_pc, &rule));
	assert_true(rule.offset > 4096);
	fail_on(native_variables_list(f.di, &scope, &f.arena, &list, &n, NULL));
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		assert_null(list[i].value.problem);
		assert_true(list[i].value.in_memory);
		assert_in_range(list[i].value.addr, frame.sp, frame.sp + (uint64_t)rule.offset - 1);
	}
	fixture_close(&f);
}

static void test_no_function(void **state)
{
	struct fixture f = shapes_open();
	struct frame frame = frame_in(&f, find(&f, "structs"));
	const struct native_scope scope = { .frame = &frame, .level = 99 };
	struct native_variable *list;
	size_t n;

	(void)state;
	/* A level that is not there means the function itself. */
	fail_on(native_variables_list(f.di, &scope, &f.arena, &list, &n, NULL));
	frame.lookup_pc = 16;
	expect_error(native_variables_list(f.di, &scope, &f.arena, &list, &n, NULL),
	             ERR_NO_DEBUGINFO, "has no debug info of its variables");
	fixture_close(&f);
}

/* Lists the variables of each function that is inlined at an address; how many those are. */
static size_t list_inlined(struct fixture *f, const struct frame *frame)
{
	struct native_variable *list;
	size_t n, nvariables;

	lookup_functions_at(f->di, frame->lookup_pc, &f->arena, &n);
	for (size_t level = 0; level + 1 < n; level++) {
		const struct native_scope scope = { .frame = frame, .level = level };

		fail_on(native_variables_list(f->di, &scope, &f->arena, &list, &nvariables, NULL));
	}
	return n - 1;
}

/* Also where the functions there are known from records. */
static void test_inlined(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/inlined.elf");
	size_t n, found = 0;
	const struct scope *scopes = read_scopes(&f, &n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (scopes[i].tag != DW_TAG_subprogram || !scopes[i].has_address)
			continue;
		const struct function *function = lookup_function(f.di, scopes[i].low + BIAS);
		struct frame frame = function ? frame_in(&f, function) : (struct frame){ 0 };

		for (uint64_t pc = function ? function->low : 1; function && pc < function->high;
		     pc += 4) {
			frame.pc = frame.lookup_pc = pc;
			found += list_inlined(&f, &frame);
		}
	}
	assert_true(found > 0);
	fixture_close(&f);
}

/* ---- locations written by hand ---- */

static struct location_value evaluate(struct fixture *f, const struct frame *frame,
                                      const Dwarf_Op *ops, size_t n, uint64_t size)
{
	const struct location_frame at = { .target = f->target, .frame = frame, .cfa = STACK + 64 };

	return location_value_run(&at, NULL, ops, n, size, &f->arena);
}

#define EVALUATE(size, ...)                                                                        \
	evaluate(&f, &frame, (const Dwarf_Op[]){ __VA_ARGS__ },                                    \
	         sizeof((const Dwarf_Op[]){ __VA_ARGS__ }) / sizeof(Dwarf_Op), (size))
#define ADD(atom_)                                                                                 \
	{                                                                                          \
		.atom = (atom_)                                                                    \
	}
#define WITH(atom_, number_)                                                                       \
	{                                                                                          \
		.atom = (atom_), .number = (uint64_t)(number_)                                     \
	}

static void test_operations(void **state)
{
	struct fixture f = shapes_open();
	struct frame frame = frame_in(&f, find(&f, "structs"));
	struct location_value v;

	(void)state;
	registers[3] = 0x1122334455667788;
	v = EVALUATE(4, ADD(DW_OP_reg3));
	assert_memory_equal(v.bytes, "\x88\x77\x66\x55", 4);
	v = EVALUATE(8, ADD(DW_OP_call_frame_cfa), ADD(DW_OP_lit8), ADD(DW_OP_minus));
	assert_true(v.in_memory && v.addr == STACK + 56);
	v = EVALUATE(8, WITH(DW_OP_breg7, -8));
	assert_true(v.in_memory && v.addr == STACK + STACK_SIZE / 2 - 8);
	v = EVALUATE(1, ADD(DW_OP_lit7), ADD(DW_OP_lit3), ADD(DW_OP_mul), ADD(DW_OP_stack_value));
	assert_int_equal(v.bytes[0], 21);
	/* 1 below 2 below 3: the third becomes the first. */
	v = EVALUATE(1, ADD(DW_OP_lit1), ADD(DW_OP_lit2), ADD(DW_OP_lit3), ADD(DW_OP_rot),
	             ADD(DW_OP_stack_value));
	assert_int_equal(v.bytes[0], 2);
	/* Two registers, as of a slice. */
	v = EVALUATE(16, ADD(DW_OP_reg3), WITH(DW_OP_piece, 8), ADD(DW_OP_lit5),
	             ADD(DW_OP_stack_value), WITH(DW_OP_piece, 8));
	assert_memory_equal(v.bytes, "\x88\x77\x66\x55\x44\x33\x22\x11\x05\0\0\0\0\0\0\0", 16);
	/* A piece in memory. */
	v = EVALUATE(2, WITH(DW_OP_breg7, 0), WITH(DW_OP_piece, 2));
	assert_memory_equal(v.bytes, "\1\1", 2);
	/* Over an operation. */
	v = EVALUATE(1, ADD(DW_OP_lit1), { .atom = DW_OP_skip, .number = 1, .offset = 1 },
	             { .atom = DW_OP_neg, .offset = 4 },
	             { .atom = DW_OP_stack_value, .offset = 5 });
	assert_int_equal(v.bytes[0], 1);
	fixture_close(&f);
}

static void assert_problem(struct location_value v, const char *part)
{
	assert_false(v.in_memory);
	assert_null(v.bytes);
	assert_non_null(v.problem);
	if (!strstr(v.problem, part))
		fail_msg("\"%s\" has no \"%s\"", v.problem, part);
}

static void test_no_value(void **state)
{
	struct fixture f = shapes_open();
	struct frame frame = frame_in(&f, find(&f, "structs"));

	(void)state;
	assert_problem(EVALUATE(16, ADD(DW_OP_reg3), WITH(DW_OP_piece, 8), WITH(DW_OP_piece, 8)),
	               "part of it");
	assert_problem(EVALUATE(16, ADD(DW_OP_reg3), WITH(DW_OP_piece, 8)), "part of it");
	assert_problem(EVALUATE(8, WITH(DW_OP_piece, 8)), "optimised out");
	assert_problem(EVALUATE(8, ADD(DW_OP_entry_value), ADD(DW_OP_stack_value)),
	               "when the function began");
	assert_problem(EVALUATE(8, WITH(DW_OP_regx, 40)), "register");
	assert_problem(EVALUATE(16, ADD(DW_OP_reg3)), "register");
	assert_problem(EVALUATE(8, ADD(DW_OP_implicit_pointer)), "no longer has an address");
	/* Hostile: an endless loop, an empty stack, a division by 0, memory that is not there. */
	assert_problem(EVALUATE(8, { .atom = DW_OP_skip, .number = 0xfffd }), "not valid");
	assert_problem(EVALUATE(8, ADD(DW_OP_plus)), "not valid");
	assert_problem(EVALUATE(8, ADD(DW_OP_lit1), ADD(DW_OP_lit0), ADD(DW_OP_div)), "not valid");
	assert_problem(EVALUATE(8, ADD(DW_OP_lit1), ADD(DW_OP_deref)), "cannot be read");
	assert_problem(EVALUATE(8, WITH(DW_OP_fbreg, 0)), "where the frame begins");
	assert_problem(EVALUATE(8, ADD(DW_OP_xderef)), "not supported");
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_memory),     cmocka_unit_test(test_unknown_registers),
		cmocka_unit_test(test_base_from_cfa), cmocka_unit_test(test_no_function),
		cmocka_unit_test(test_operations),    cmocka_unit_test(test_no_value),
		cmocka_unit_test(test_inlined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
