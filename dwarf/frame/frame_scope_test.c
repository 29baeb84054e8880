/* The life of variables of slots.rs, in stacks that are made by hand. */
#include "dwarf/frame/frame_scope.h"

#include <string.h>

#include "dwarf/test/module.h"
#include "dwarf/unwind/unwind.h"

enum {
	SP = 0x70000000,
	CFA = SP + 0x48, /* of `early`: a call has pushed the return address */
	PLACE = SP + 16, /* the variable `place` */
	RETURNS = BIAS + 0x1234,
	NREGS = 17,
};

struct made {
	struct fixture f;
	const struct function *function;
	uint64_t registers[NREGS];
	struct frame frames[3];
	struct stack stack;
};

static const struct function *function_of(struct fixture *f, const char *name)
{
	size_t n;
	const struct scope *scopes = read_scopes(f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct function *found =
			scopes[i].tag == DW_TAG_subprogram && scopes[i].has_address
				? lookup_function(f->di, scopes[i].low + BIAS)
				: NULL;

		if (found && found->name && strcmp(found->name, name) == 0)
			return found;
	}
	fail_msg("no function %s", name);
	return NULL;
}

/* The innermost frame is at the last instruction before the end of the function. */
static void made_open(struct made *m, const char *function)
{
	*m = (struct made){ .f = fixture_open_file("testdata/unit/slots.elf") };
	m->function = function_of(&m->f, function);
	for (size_t i = 0; i < NREGS; i++)
		m->registers[i] = SP;
	m->frames[0] = (struct frame){
		.sp = SP, .has_sp = true, .regs = m->registers, .known_regs = (1 << NREGS) - 1
	};
	m->frames[1] = (struct frame){ .pc = RETURNS,
		                       .lookup_pc = RETURNS - 1,
		                       .sp = CFA,
		                       .has_sp = true,
		                       .regs = m->registers };
	m->stack = (struct stack){ .frames = m->frames, .nframes = 2 };
}

static void made_close(struct made *m)
{
	fixture_close(&m->f);
}

static void stand_at(struct made *m, uint64_t pc)
{
	m->frames[0].pc = m->frames[0].lookup_pc = pc;
}

/* The first address from which on the variable is visible, or behind which it is not. */
static uint64_t edge_of(struct made *m, uint64_t from, bool visible)
{
	struct frame_scope scope;

	while (from < m->function->high &&
	       frame_scope_find_named(m->f.di, from, 0, "place", 5, &scope) != visible)
		from++;
	return from;
}

static struct frame_scope find(struct made *m, const char *name)
{
	struct frame_scope ret;

	assert_true(frame_scope_find(m->f.di, &m->stack, PLACE + 8, name, strlen(name), &ret));
	return ret;
}

static enum frame_scope_life look(struct made *m, const struct frame_scope *scope, bool behind)
{
	return frame_scope_look(m->f.di, scope, &m->stack, behind);
}

static void test_block(void **state)
{
	struct made m;

	(void)state;
	made_open(&m, "slots::early");
	uint64_t begin = edge_of(&m, m.function->low, true), end = edge_of(&m, begin, false);
	assert_in_range(end, begin + 1, m.function->high - 1);
	stand_at(&m, begin);
	struct frame_scope scope = find(&m, "place");
	assert_int_equal(scope.cfa, CFA);
	assert_int_equal(scope.returns, RETURNS);
	assert_int_equal(scope.function, m.function->low);
	assert_int_not_equal(scope.variable, 0);
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_LIVES);
	stand_at(&m, end);
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_LEFT);
	/* The instruction that has written is the one before. */
	assert_int_equal(look(&m, &scope, true), FRAME_SCOPE_LIVES);
	made_close(&m);
}

/* Without a name the frame counts, and so it does in its callees; it ends with the frame. */
static void test_frame(void **state)
{
	struct made m;

	(void)state;
	made_open(&m, "slots::early");
	stand_at(&m, m.function->high - 1);
	struct frame_scope scope = find(&m, "other");
	assert_int_equal(scope.variable, 0);
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_LIVES);
	m.frames[1].pc++;
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_GONE);
	m.frames[1].pc--;
	stand_at(&m, function_of(&m.f, "slots::late")->low);
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_GONE);
	m.stack.nframes = 1;
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_GONE);
	made_close(&m);
}

/* Elsewhere in memory, as a variable of a coroutine: any call that is in its block will do. */
static void test_calls(void **state)
{
	struct made m;
	struct frame_scope scope;

	(void)state;
	made_open(&m, "slots::early");
	uint64_t begin = edge_of(&m, m.function->low, true), end = edge_of(&m, begin, false);
	stand_at(&m, begin);
	assert_true(frame_scope_find_named(m.f.di, begin, 0, "place.x", 5, &scope));
	assert_int_equal(scope.cfa, 0);
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_LIVES);
	stand_at(&m, end);
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_LEFT);
	m.frames[1].lookup_pc = begin;
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_LIVES);
	m.stack.nframes = 0;
	assert_int_equal(look(&m, &scope, false), FRAME_SCOPE_LIVES);
	assert_false(frame_scope_find_named(m.f.di, begin, 1, "place", 5, &scope));
	assert_false(frame_scope_find_named(m.f.di, begin, 0, "places", 6, &scope));
	made_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block),
		cmocka_unit_test(test_frame),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
