#include "runtimes/step_rules/instance_rules.h"

#include <string.h>

#include "debugger/base/str.h"

enum {
	MAX_IN_REGISTERS = 16, /* bytes */
	MAX_DEPTH = 64,
	MAX_VALUES = 4096,
};

/* ---- the state of a coroutine ---- */

enum instance_state instance_rules_state(const char *variant)
{
	if (!variant)
		return INSTANCE_UNKNOWN;
	if (strcmp(variant, "Unresumed") == 0)
		return INSTANCE_UNRESUMED;
	if (strcmp(variant, "Returned") == 0)
		return INSTANCE_RETURNED;
	if (strcmp(variant, "Panicked") == 0)
		return INSTANCE_PANICKED;
	return str_begins(variant, "Suspend") ? INSTANCE_SUSPENDED : INSTANCE_OTHER;
}

bool instance_rules_is_polled(enum instance_state state)
{
	return state != INSTANCE_UNKNOWN && state != INSTANCE_RETURNED &&
	       state != INSTANCE_PANICKED;
}

const struct variant *instance_rules_variant(const struct variant *v, size_t n, uint64_t discr)
{
	const struct variant *other = NULL;

	for (size_t i = 0; i < n; i++) {
		if (v[i].is_default)
			other = &v[i];
		else if (v[i].discr == discr)
			return &v[i];
	}
	return other;
}

/* ---- its object ---- */

bool instance_rules_is_argument(enum result_kind result, unsigned n)
{
	switch (result) {
	case RESULT_NOTHING:
	case RESULT_REGISTERS:
		return n == 0;
	case RESULT_MEMORY:
		return n == 1;
	default:
		return true;
	}
}

bool instance_rules_is_member(const struct variable *v, const struct member *m)
{
	return v->in_memory && !v->depth && v->name && v->type && m->type == v->type && m->name &&
	       strcmp(m->name, v->name) == 0;
}

void instance_rules_add_owner(struct instance_owner *o, uint64_t addr)
{
	o->doubtful |= o->known && o->addr != addr;
	o->known = true;
	o->addr = addr;
}

uint64_t instance_rules_owner(const struct instance_owner *o)
{
	return o->doubtful ? 0 : o->addr;
}

/* ---- the result of a poll ---- */

enum instance_result_place instance_rules_result(const struct instance_result *r)
{
	if (!r->discr_size || r->discr_size > sizeof(uint64_t))
		return INSTANCE_RESULT_UNKNOWN;
	/* Up to two words are in registers, a larger result is where the first one points to. */
	if (r->size > MAX_IN_REGISTERS)
		return INSTANCE_RESULT_MEMORY;
	return r->discr_offset ? INSTANCE_RESULT_UNKNOWN : INSTANCE_RESULT_REGISTER;
}

uint64_t instance_rules_low_bytes(uint64_t value, uint64_t size)
{
	return size < sizeof(value) ? value & ((UINT64_C(1) << (8 * size)) - 1) : value;
}

bool instance_rules_is_pending(const struct instance_poll *p)
{
	if (!p->is_future)
		return false;
	if (!p->by_state)
		return p->result && strcmp(p->result, "Pending") == 0;
	/* Code around an inlined one may have dropped it since it returned. */
	return p->is_inlined ? p->state == INSTANCE_SUSPENDED : p->state != INSTANCE_RETURNED;
}

/* ---- an instance within another one ---- */

enum instance_look instance_rules_look(const struct instance_value *v)
{
	if (v->depth > MAX_DEPTH || v->nvalues > MAX_VALUES)
		return INSTANCE_LOOK_NOWHERE;
	if (v->kind == TYPE_STRUCT)
		return INSTANCE_LOOK_MEMBERS;
	if (v->kind != TYPE_ENUM)
		return INSTANCE_LOOK_NOWHERE;
	if (!v->is_type)
		return INSTANCE_LOOK_VARIANT;
	return v->is_suspended ? INSTANCE_LOOK_FOUND : INSTANCE_LOOK_NOWHERE;
}

bool instance_rules_is_only(size_t nfound, size_t nvalues)
{
	return nfound == 1 && nvalues <= MAX_VALUES;
}
