#include "runtimes/step_rules/value_rules.h"

#include <string.h>

enum {
	MAX_CALLER = 1 << 20, /* bytes of a frame */
	MAX_CODE = 1 << 16,   /* bytes of a function */
};

/* ---- before it returns ---- */

bool value_rules_reads_code(enum step_kind kind, uint64_t size)
{
	return kind == STEP_FINISH && size <= MAX_CODE;
}

/* ---- it has returned ---- */

enum value_action value_rules_action(const struct value_function *f)
{
	if (f->kind != STEP_FINISH || !f->is_known)
		return VALUE_ABSENT;
	if (f->is_inlined)
		return VALUE_INLINED;
	return f->has_result ? VALUE_READ : VALUE_ABSENT;
}

/* ---- where the value is ---- */

bool value_rules_is_possible(const struct value_variant *v)
{
	if (!v->is_enum)
		return true;
	return v->name && (!v->is_poll || strcmp(v->name, "Ready") == 0);
}

bool value_rules_is_in_caller(uint64_t addr, uint64_t cfa)
{
	return addr >= cfa && addr - cfa < MAX_CALLER;
}

static const char *value_rules_registers_problem(const struct value_result *r)
{
	return r->keeps_registers ? NULL : "optimised code need not leave the value in registers";
}

/*
 * A function that is called from its own crate alone need not return the address of a result that
 * it leaves in memory, if it is optimised.
 */
static struct value_place value_rules_memory(const struct value_result *r)
{
	struct value_place ret = { .where = VALUE_IN_MEMORY, .addr = r->first_register };

	if (r->keeps_registers)
		return ret;
	ret.addr = r->first_argument;
	if (!ret.addr)
		ret.problem = "the code is optimised: where the value is returned is known only at "
			      "function entry, as at a breakpoint on the function";
	return ret;
}

static struct value_place value_rules_either(const struct value_result *r)
{
	struct value_place ret = { .where = VALUE_IN_REGISTERS };

	if (r->possible_in_memory)
		ret = (struct value_place){ VALUE_IN_MEMORY, r->first_register, NULL };
	if (r->possible_in_memory == r->possible_in_registers)
		ret.problem = "it may be in registers or in memory";
	else
		ret.problem = value_rules_registers_problem(r);
	return ret;
}

struct value_place value_rules_place(const struct value_result *r)
{
	switch (r->kind) {
	case RESULT_NOTHING:
		return (struct value_place){ .where = VALUE_IN_REGISTERS };
	case RESULT_REGISTERS:
		return (struct value_place){ .where = VALUE_IN_REGISTERS,
			                     .problem = value_rules_registers_problem(r) };
	case RESULT_MEMORY:
		return value_rules_memory(r);
	case RESULT_EITHER:
		return value_rules_either(r);
	default:
		return (struct value_place){ .problem = "it is not in general registers, or its "
			                                "place depends on the compiler" };
	}
}

const char *value_rules_ready_problem(const struct value_ready *r)
{
	if (r->nmembers != 1)
		return "the debug info does not describe it";
	/* A value without size needs no read. */
	return !r->size && r->is_coroutine ? NULL : r->problem;
}
