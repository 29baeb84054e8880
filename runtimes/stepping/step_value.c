/* Return value of a function, read at the instruction behind its call. */
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/code/entry_register.h"
#include "dwarf/frame/result_place.h"
#include "dwarf/lookup/argument_place.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/values/show.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

enum {
	MAX_RESULT = 16,      /* bytes in registers */
	MAX_CALLER = 1 << 20, /* bytes of a frame */
	MAX_CODE = 1 << 16,   /* bytes of a function */
};

const char step_inlined_value[] = "its code is inlined into another function";

struct result {
	struct step_plan *p;
	const struct regs *regs;
	const struct type *type; /* return type of the function */
	bool is_poll;            /* only what it is ready with counts */
	const char *problem;     /* why the value is not known; NULL: it is */
	struct value value;
};

static bool step_value_read_variant(const struct result *r, struct value v, const char **name)
{
	const struct variant *variant = NULL;
	struct error *err CLEANUP(error_freep) = value_variant(r->p->in->target, v, &variant);

	*name = !err && variant ? variant->name : NULL;
	return *name != NULL;
}

/* Whether the place can have the value. */
static bool step_value_is_possible(const struct result *r, struct value v)
{
	const char *name;

	if (type_kind(v.type) != TYPE_ENUM || !type_discr(v.type))
		return true;
	return step_value_read_variant(r, v, &name) && (!r->is_poll || strcmp(name, "Ready") == 0);
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

/* Whether the first register can have the address of a value in the frame of the caller. */
static bool may_be_address(const struct result *r)
{
	uint64_t addr = r->regs->r[result_place_register(0)];

	return addr >= r->p->where.cfa && addr - r->p->where.cfa < MAX_CALLER;
}

/*
 * Unoptimised code has the argument in its frame. Elsewhere a function whose callers do not use the
 * result, or know it, may leave anything in the registers.
 */
static bool step_value_keeps_registers(const struct function *f)
{
	struct argument_place place;

	return argument_place_at(f, f->low, &place) && place.in_memory;
}

/*
 * A function that is called from its own crate alone need not return the address of a result that
 * it leaves in memory, if it is optimised.
 */
static void find_in_memory(struct result *r)
{
	bool optimised = !step_value_keeps_registers(r->p->where.at.function);

	r->value = (struct value){ r->type, optimised ? r->p->where.first_argument
		                                      : r->regs->r[result_place_register(0)] };
	if (optimised && !r->p->where.first_argument)
		r->problem = "the code is optimised: where the value is returned is known only at "
			     "function entry, as at a breakpoint on the function";
}

static void find_either(struct result *r, const struct result_place *place)
{
	struct value memory = { r->type, r->regs->r[result_place_register(0)] };
	struct value registers = step_value_in_registers(r, place);
	bool as_memory = may_be_address(r) && step_value_is_possible(r, memory);
	bool as_registers = step_value_is_possible(r, registers);

	r->value = as_memory ? memory : registers;
	if (as_memory == as_registers)
		r->problem = "it may be in registers or in memory";
	else if (!step_value_keeps_registers(r->p->where.at.function))
		r->problem = "optimised code need not leave the value in registers";
}

static void step_value_find(struct result *r)
{
	struct result_place place;

	result_place(r->type, &place);
	switch (place.kind) {
	case RESULT_NOTHING:
		r->value = step_value_in_registers(r, &place);
		break;
	case RESULT_REGISTERS:
		r->value = step_value_in_registers(r, &place);
		if (!step_value_keeps_registers(r->p->where.at.function))
			r->problem = "optimised code need not leave the value in registers";
		break;
	case RESULT_MEMORY:
		find_in_memory(r);
		break;
	case RESULT_EITHER:
		find_either(r, &place);
		break;
	default:
		r->problem = "it is not in general registers, or its place depends on the compiler";
		break;
	}
	if (!r->problem && !step_value_is_possible(r, r->value))
		r->problem = "the memory at its location does not hold such a value";
}

/* Poll::Ready(value): the value. */
static void take_ready(struct result *r)
{
	size_t n = 0;
	const struct variant *ready = type_variant(r->type, "Ready");
	const struct member *m = ready && ready->payload ? type_members(ready->payload, &n) : NULL;

	if (n != 1) {
		r->problem = "the debug info does not describe it";
		return;
	}
	/* A value without size needs no read. */
	if (!type_size(m->type) && type_is_coroutine(r->p->subject.instance.type))
		r->problem = NULL;
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
	if (p->options->kind != STEP_FINISH || !function ||
	    function->high - function->low > MAX_CODE)
		return;
	size_t size = function->high - function->low;
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

	if (p->options->kind != STEP_FINISH || !p->where.at.function)
		return NULL;
	if (p->where.at.call) {
		p->exit.end.value_problem = step_inlined_value;
		return NULL;
	}
	r.type = function_read_result(p->where.at.function);
	if (!r.type)
		return NULL;
	r.is_poll = p->subject.instance.type && type_is(r.type, "core::task::poll::Poll");
	TRY(control_registers(&p->d->control, tid, &tmp, &regs));
	r.regs = &regs;
	return step_value_take_result(&r);
}
