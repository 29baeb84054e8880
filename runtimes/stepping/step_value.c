/* Return value of a function, read at the instruction behind its call. */
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/code/entry_register.h"
#include "dwarf/frame/result_place.h"
#include "dwarf/lookup/argument_place.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/values/show.h"
#include "runtimes/common/inspector.h"
#include "runtimes/step_rules/value_rules.h"
#include "runtimes/stepping/step_plan.h"

enum { MAX_RESULT = 16 }; /* bytes in registers */

const char step_inlined_value[] = "its code is inlined into another function";

struct result {
	struct step_plan *p;
	const struct regs *regs;
	const struct type *type; /* return type of the function */
	bool is_poll;            /* only what it is ready with counts */
	const char *problem;     /* why the value is not known; NULL: it is */
	struct value value;
};

static const char *step_value_read_variant(const struct result *r, struct value v)
{
	const struct variant *variant = NULL;
	struct error *err CLEANUP(error_freep) = value_variant(r->p->in->target, v, &variant);

	return !err && variant ? variant->name : NULL;
}

/* Whether the place can have the value. */
static bool step_value_is_possible(const struct result *r, struct value v)
{
	struct value_variant there = { .is_enum =
		                               type_kind(v.type) == TYPE_ENUM && type_discr(v.type),
		                       .is_poll = r->is_poll };

	there.name = there.is_enum ? step_value_read_variant(r, v) : NULL;
	return value_rules_is_possible(&there);
}

static struct value step_value_in_registers(struct result *r, const struct result_place *place)
{
	unsigned char bytes[MAX_RESULT] = { 0 };

	for (unsigned i = 0; i < place->nparts; i++)
		memcpy(bytes + place->parts[i].offset, &r->regs->r[result_place_register(i)],
		       place->parts[i].size);
	uint64_t addr = target_lay_out(r->p->in->target, bytes, type_size(r->type));
	return (struct value){ r->type, addr };
}

/* Unoptimised code has the argument in its frame. */
static bool step_value_keeps_registers(const struct function *f)
{
	struct argument_place place;

	return argument_place_at(f, f->low, &place) && place.in_memory;
}

/* Takes RESULT_EITHER: whether the value can be in memory, or in registers. */
static void find_possible(const struct result *r, struct value in_registers,
                          struct value_result *ret)
{
	const struct value in_memory = { r->type, ret->first_register };

	ret->possible_in_memory = value_rules_is_in_caller(ret->first_register, r->p->where.cfa) &&
	                          step_value_is_possible(r, in_memory);
	ret->possible_in_registers = step_value_is_possible(r, in_registers);
}

static void step_value_find(struct result *r)
{
	struct result_place place;
	struct value registers = { 0 };

	result_place(r->type, &place);
	struct value_result result = {
		.kind = place.kind,
		.keeps_registers = step_value_keeps_registers(r->p->where.at.function),
		.first_register = r->regs->r[result_place_register(0)],
		.first_argument = r->p->where.first_argument,
	};
	if (place.kind != RESULT_MEMORY && place.kind != RESULT_UNKNOWN)
		registers = step_value_in_registers(r, &place);
	if (place.kind == RESULT_EITHER)
		find_possible(r, registers, &result);
	const struct value_place at = value_rules_place(&result);
	r->problem = at.problem;
	if (at.where == VALUE_IN_REGISTERS)
		r->value = registers;
	else if (at.where == VALUE_IN_MEMORY)
		r->value = (struct value){ r->type, at.addr };
	if (!r->problem && !step_value_is_possible(r, r->value))
		r->problem = "the memory at its location does not hold such a value";
}

/* Poll::Ready(value): the value. */
static void take_ready(struct result *r)
{
	size_t n = 0;
	const struct variant *ready = type_variant(r->type, "Ready");
	const struct member *m = ready && ready->payload ? type_members(ready->payload, &n) : NULL;

	const struct value_ready payload = {
		.nmembers = n,
		.size = n == 1 ? type_size(m->type) : 0,
		.is_coroutine = type_is_coroutine(r->p->subject.instance.type),
		.problem = r->problem,
	};
	r->problem = value_rules_ready_problem(&payload);
	if (n == 1)
		r->value = (struct value){ m->type, r->value.addr + ready->offset + m->offset };
}

static void step_value_note(struct result *r)
{
	struct arena *a = &r->p->d->step_cache->arena;
	struct step_exit *end = &r->p->exit.end;
	struct inspector *in = r->p->in;
	struct redaction redaction = { .secrets = in->secrets };

	end->value_problem = r->problem;
	if (r->problem)
		return;
	end->value = show_value(in->target, in->di, &in->show, a, r->value, &redaction);
	end->value_type = inspector_clean_name(a, type_name(r->value.type));
}

static struct error *step_value_take_result(struct result *r)
{
	struct target *t = r->p->in->target;

	/* Reads see the memory as it is now. */
	TRY(target_stop(t));
	step_value_find(r);
	if (r->is_poll)
		take_ready(r);
	step_value_note(r);
	target_resume(t);
	return NULL;
}

void step_value_begin(struct step_plan *p, const struct step_frame *f)
{
	const struct function *function = p->where.at.function;
	SCRATCH(tmp);

	p->where.first_argument = 0;
	if (!function)
		return;
	size_t size = function->high - function->low;
	if (!value_rules_reads_code(p->options->kind, size))
		return;
	uint8_t *code = arena_alloc(&tmp, size);
	struct error *err CLEANUP(error_freep) =
		control_read(&p->d->control, function->low, code, size);

	if (!err && entry_register_is_kept(p->arch->elf_machine, function->low, code, size, f->pc))
		p->where.first_argument = f->regs.r[p->arch->arguments[0]];
}

struct error *step_value_take(struct step_plan *p, pid_t tid)
{
	struct result r = { .p = p };
	struct regs regs;
	SCRATCH(tmp);

	const struct function *function = p->where.at.function;
	r.type = function ? function_read_result(function) : NULL;
	const struct value_function of = { .kind = p->options->kind,
		                           .is_known = function != NULL,
		                           .is_inlined = p->where.at.call != 0,
		                           .has_result = r.type != NULL };
	switch (value_rules_action(&of)) {
	case VALUE_ABSENT:
		return NULL;
	case VALUE_INLINED:
		p->exit.end.value_problem = step_inlined_value;
		return NULL;
	case VALUE_READ:
		break;
	}
	r.is_poll = p->subject.instance.type && type_is(r.type, "core::task::poll::Poll");
	TRY(control_registers(&p->d->control, tid, &tmp, &regs));
	r.regs = &regs;
	return step_value_take_result(&r);
}
