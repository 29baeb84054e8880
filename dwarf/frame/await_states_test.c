/* Which variables an await loses, on the coroutines of resumed.rs and the optimised one of
 * taken.rs. */
#include "dwarf/frame/await_states.h"

#include <string.h>

#include "dwarf/frame/native_variables.h"
#include "dwarf/frame/variables.h"
#include "dwarf/lookup/argument_place.h"
#include "dwarf/test/module.h"

enum {
	STACK = 0x70000000,
	STACK_SIZE = 0x1000,
	SP = STACK + STACK_SIZE / 2,
	OBJECT = 0x60000000,
	NOWHERE = 0x10
};

/* A poll of a coroutine, in a stack of its own. */
struct poll {
	struct fixture f;
	const struct type *coroutine;
	const struct function *function;
	bool optimised;
	uint64_t registers[17];
	unsigned char stack[STACK_SIZE], object[256];
};

/* Finds the poll function. */
static void poll_find(struct poll *p, const char *crate, const char *fn)
{
	SCRATCH(a);
	size_t n;

	*p = (struct poll){ .f = fixture_open_file(
				    arena_printf(&a, "testdata/unit/%s.elf", crate)) };
	p->coroutine = must_find(&p->f, arena_printf(&a, "%s::%s::{async_fn_env#0}", crate, fn));
	const struct scope *scopes = read_scopes(&p->f, &n);
	const char *name = arena_printf(&a, "%s::%s::{async_fn#0}", crate, fn);
	for (size_t i = 0; i < n && !p->function; i++) {
		const struct function *at =
			scopes[i].tag == DW_TAG_subprogram && scopes[i].has_address
				? lookup_function(p->f.di, scopes[i].low + BIAS)
				: NULL;

		if (at && at->name && strcmp(at->name, name) == 0)
			p->function = at;
	}
	assert_non_null(p->function);
	assert_true(type_size(p->coroutine) < sizeof(p->object));
}

/* The argument is in the frame. */
static void poll_open(struct poll *p, const char *fn)
{
	struct argument_place place;
	const uint64_t object = OBJECT;

	poll_find(p, "resumed", fn);
	assert_true(argument_place_at(p->function, p->function->high - 1, &place));
	assert_true(place.in_memory);
	for (size_t i = 0; i < 17; i++)
		p->registers[i] = SP;
	memcpy(p->stack + STACK_SIZE / 2 + place.offset, &object, sizeof(object));
	target_fake_map(p->f.target, STACK, p->stack, sizeof(p->stack));
	target_fake_map(p->f.target, OBJECT, p->object, sizeof(p->object));
}

/* The argument is in a register, whichever. */
static void poll_open_optimised(struct poll *p, const char *fn)
{
	poll_find(p, "taken", fn);
	p->optimised = true;
	for (size_t i = 0; i < 17; i++)
		p->registers[i] = OBJECT;
	p->registers[p->f.target->arch->sp] = SP;
	target_fake_map(p->f.target, STACK, p->stack, sizeof(p->stack));
	target_fake_map(p->f.target, OBJECT, p->object, sizeof(p->object));
}

static void poll_begin_at(struct poll *p, const char *state)
{
	const struct variant *v = type_variant(p->coroutine, state);

	assert_non_null(v);
	const unsigned char discr = (unsigned char)v->discr;
	target_fake_poke(p->f.target, OBJECT + type_discr(p->coroutine)->offset, &discr, 1);
}

/* What the two readers of variables say of one of that name. */
struct answer {
	const char *name;
	int lost; /* -1: it is not in scope; the last one of the name counts */
};

static void visit(const struct variable *v, void *arg)
{
	struct answer *answer = arg;

	if (v->name && strcmp(v->name, answer->name) == 0)
		answer->lost = v->may_be_lost;
}

static int ask_at(struct poll *p, uint64_t pc, const char *name)
{
	struct frame frame = { .pc = pc,
		               .lookup_pc = pc,
		               .sp = SP,
		               .has_sp = true,
		               .regs = p->registers,
		               .known_regs = (1 << 17) - 1 };
	const struct native_scope scope = { .frame = &frame };
	struct native_variable *list;
	struct answer answer = { name, -1 };
	int ret = -1;
	size_t n;

	fail_on(native_variables_list(p->f.di, &scope, &p->f.arena, &list, &n, NULL));
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) == 0)
			ret = list[i].may_be_lost;
	}
	/* First from DWARF, then from records. */
	for (int i = 0; i < 2; i++) {
		variables_in_frame(p->f.di, &frame, 0, visit, &answer);
		/* In what is inlined the list has the variables of that alone. */
		ret = ret < 0 && p->optimised ? answer.lost : ret;
		assert_int_equal(answer.lost, ret);
	}
	return ret;
}

/* Where the variable is in scope, the answer is the same everywhere. */
static bool may_be_lost(struct poll *p, const char *name)
{
	int ret = -1;

	for (uint64_t pc = p->function->low; pc < p->function->high; pc++) {
		int here = ask_at(p, pc, name);

		if (ret >= 0 && here >= 0)
			assert_int_equal(ret, here);
		ret = here >= 0 ? here : ret;
	}
	assert_true(ret >= 0);
	return ret > 0;
}

struct expected {
	const char *name;
	const char *states; /* "012": Suspend0, Suspend1, Suspend2 */
};

static void expect(struct poll *p, const struct expected *list, size_t n, const char *all)
{
	SCRATCH(a);

	for (size_t i = 0; i < n; i++) {
		poll_begin_at(p, "Unresumed");
		assert_false(may_be_lost(p, list[i].name));
		for (const char *state = all; *state; state++) {
			bool lost = strchr(list[i].states, *state) != NULL;

			poll_begin_at(p, arena_printf(&a, "Suspend%c", *state));
			if (may_be_lost(p, list[i].name) != lost)
				fail_msg("%s in state %c", list[i].name, *state);
		}
	}
}

static void test_each_await(void **state)
{
	static const struct expected list[] = { { "kept", "" },
		                                { "before", "012" },
		                                { "between", "12" },
		                                { "after", "2" },
		                                { "last", "" } };
	struct poll p;

	(void)state;
	poll_open(&p, "lines");
	expect(&p, list, 5, "012");
	/* A poll has ended, or the coroutine cannot be read. */
	poll_begin_at(&p, "Returned");
	assert_true(may_be_lost(&p, "after"));
	assert_false(may_be_lost(&p, "last"));
	fixture_close(&p.f);
}

/* Neither place nor line tells the awaits apart: each may be that of both states. */
static void test_awaits_alike(void **state)
{
	static const struct expected list[] = { { "before", "01" }, { "between", "01" } };
	struct poll p;

	(void)state;
	poll_open(&p, "spread");
	expect(&p, list, 2, "01");
	fixture_close(&p.f);
}

static void test_loop(void **state)
{
	static const struct expected list[] = { { "round", "0" },
		                                { "sum", "" },
		                                { "no_await", "" } };
	struct poll p;

	(void)state;
	poll_open(&p, "rounds");
	expect(&p, list, 3, "0");
	fixture_close(&p.f);
}

/* Types alone tell the awaits, two of which are of one. */
static void test_optimised(void **state)
{
	static const struct expected list[] = { { "last", "" } };
	struct poll p;

	(void)state;
	poll_open_optimised(&p, "lines");
	expect(&p, list, 1, "012");
	fixture_close(&p.f);
}

static void test_unreadable(void **state)
{
	struct argument_place place;
	const uint64_t nowhere = NOWHERE;
	struct poll p;

	(void)state;
	poll_open(&p, "rounds");
	assert_true(argument_place_at(p.function, p.function->high - 1, &place));
	target_fake_poke(p.f.target, SP + (uint64_t)place.offset, &nowhere, sizeof(nowhere));
	assert_true(may_be_lost(&p, "round"));
	assert_false(may_be_lost(&p, "no_await"));
	fixture_close(&p.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_await), cmocka_unit_test(test_awaits_alike),
		cmocka_unit_test(test_loop),       cmocka_unit_test(test_optimised),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
