/* The instance of a coroutine that a thread polls, and the state of its object. */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/frame/await_states.h"
#include "dwarf/frame/result_place.h"
#include "dwarf/frame/variables.h"
#include "dwarf/lookup/argument_place.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

static bool step_instance_returns_poll(const struct function *f)
{
	const struct type *result = function_read_result(f);

	return result && type_is(result, "core::task::poll::Poll");
}

const struct type *step_instance_type(const struct function *f)
{
	const struct type *t =
		debuginfo_need(f->dm) ? await_states_pinned(function_first_argument(f)) : NULL;

	return t && (type_is_coroutine(t) || step_instance_returns_poll(f)) ? t : NULL;
}

static const char *step_instance_state_of(struct step_plan *p, const struct step_instance *of);

/* A state that no poll begins with. */
static bool is_final(const char *state)
{
	return strcmp(state, "Returned") == 0 || strcmp(state, "Panicked") == 0;
}

/* ---- by its variables: optimised code has no place for the argument ---- */

struct step_instance_owner {
	const struct type *type;
	uint64_t addr; /* of the coroutine that a variable is part of */
	bool known, doubtful;
};

static void step_instance_add_owner(struct step_instance_owner *o, uint64_t addr)
{
	o->doubtful |= o->known && o->addr != addr;
	o->known = true;
	o->addr = addr;
}

/* A variable that lies in the coroutine has the name and type of a member. */
static void visit_variable(const struct variable *v, void *arg)
{
	struct step_instance_owner *o = arg;
	size_t nvariants, n;
	const struct variant *variants = type_variants(o->type, &nvariants);

	if (!v->in_memory || v->depth || !v->name || !v->type)
		return;
	for (size_t i = 0; i < nvariants; i++) {
		n = 0;
		const struct member *m =
			variants[i].payload ? type_members(variants[i].payload, &n) : NULL;

		for (size_t j = 0; j < n; j++) {
			if (m[j].type == v->type && m[j].name && strcmp(m[j].name, v->name) == 0) {
				step_instance_add_owner(o,
				                        v->addr - variants[i].offset - m[j].offset);
				return;
			}
		}
	}
}

static uint64_t step_instance_find_by_variables(struct step_plan *p, const struct frame *frame,
                                                uint64_t cfa, const struct type *t)
{
	struct step_instance_owner owner = { .type = t };

	if (type_is_coroutine(t))
		variables_in_frame(p->in->di, frame, cfa, visit_variable, &owner);
	return owner.doubtful ? 0 : owner.addr;
}

static struct error *step_instance_read_argument(struct step_plan *p, const struct frame *frame,
                                                 const struct argument_place *place, uint64_t *ret)
{
	*ret = 0;
	if (place->reg >= p->arch->nregs || !(frame->known_regs >> place->reg & 1))
		return NULL;
	*ret = frame->regs[place->reg] + (uint64_t)place->offset;
	if (!place->in_memory)
		return NULL;
	return control_read(&p->d->control, *ret, ret, sizeof(*ret));
}

struct error *step_instance_address(struct step_plan *p, const struct function *f,
                                    const struct frame *frame, uint64_t *ret)
{
	struct argument_place place;

	*ret = 0;
	return argument_place_at(f, frame->lookup_pc, &place)
	               ? step_instance_read_argument(p, frame, &place, ret)
	               : NULL;
}

/*
 * Finds the innermost coroutine that is inlined around the line, and of which the debug info has
 * the place of the argument.
 */
static struct error *find_inlined(struct step_plan *p, const struct frame *frame,
                                  struct step_instance *ret)
{
	const struct function_lines *l = p->where.at.lines;
	struct argument_place place;

	for (size_t call = l && l->ncalls ? p->where.at.call : 0; call;
	     call = l->calls[call].parent) {
		const struct function_call *c = &l->calls[call];
		struct step_instance found = {
			.type = c->is_coroutine ? step_instance_type(c->function) : NULL,
		};

		if (!found.type || !argument_place_inlined_at(p->where.at.function, c->site,
		                                              frame->lookup_pc, &place))
			continue;
		TRY(step_instance_read_argument(p, frame, &place, &found.addr));
		const char *state = found.addr ? step_instance_state_of(p, &found) : NULL;
		if (!state || is_final(state))
			continue;
		*ret = found;
		p->subject.polled_call = call;
		p->subject.was_suspended = str_begins(state, "Suspend");
		return NULL;
	}
	return NULL;
}

struct error *step_instance_find(struct step_plan *p, const struct step_frame *f,
                                 struct step_instance *ret)
{
	const struct frame frame = { .pc = f->pc,
		                     .lookup_pc = f->pc,
		                     .sp = f->sp,
		                     .has_sp = true,
		                     .regs = f->regs.r,
		                     .known_regs = (UINT64_C(1) << p->arch->nregs) - 1 };

	*ret = (struct step_instance){ 0 };
	if (!p->where.at.function)
		return NULL;
	ret->type = step_instance_type(p->where.at.function);
	if (!ret->type)
		return find_inlined(p, &frame, ret);
	TRY(step_instance_address(p, p->where.at.function, &frame, &ret->addr));
	if (!ret->addr)
		ret->addr = step_instance_find_by_variables(p, &frame, f->cfa, ret->type);
	return ret->addr ? NULL : find_inlined(p, &frame, ret);
}

bool step_instance_is_new(struct step_plan *p, uint64_t pc, const struct step_frame *f)
{
	const struct step_plan before = *p;

	step_place_at(p, pc, &p->where.at);
	if (p->where.at.function)
		step_instance_enter(p, f);
	const char *state = step_instance_state(p);
	bool is_new = state && strcmp(state, "Unresumed") == 0;
	p->where.at = before.where.at;
	p->subject.instance = before.subject.instance;
	p->subject.polled_call = before.subject.polled_call;
	return is_new;
}

/*
 * The address of a result that is returned in memory is the first argument (System V psABI, 3.2.3),
 * the future that is polled the second one. If the type of the result does not tell, the other
 * argument has memory that is in no state of the coroutine, as a rule.
 */
static bool may_be_argument(const struct function *f, unsigned n)
{
	const struct type *result = function_read_result(f);
	struct result_place place = { .kind = RESULT_UNKNOWN };

	if (result)
		result_place(result, &place);
	switch (place.kind) {
	case RESULT_NOTHING:
	case RESULT_REGISTERS:
		return n == 0;
	case RESULT_MEMORY:
		return n == 1;
	default:
		return true;
	}
}

void step_instance_enter(struct step_plan *p, const struct step_frame *f)
{
	const struct type *t = step_instance_type(p->where.at.function);

	p->subject.polled_call = 0;
	for (unsigned i = 0; t && type_is_coroutine(t) && i < 2; i++) {
		if (!may_be_argument(p->where.at.function, i))
			continue;
		p->subject.instance = (struct step_instance){ t, f->regs.r[p->arch->arguments[i]] };
		const char *state = step_instance_state(p);

		if (state && !is_final(state))
			return;
	}
	p->subject.instance = (struct step_instance){ 0 };
}

/* ---- the result of a poll ---- */

/* DWARF numbers: rax and x0. */
enum { RESULT_REGISTER = 0, MAX_IN_REGISTERS = 16 };

/* The discriminant of a Poll<T> that was returned; false: where it is is not known. */
static bool read_result(struct step_plan *p, const struct type *t, const struct member *discr,
                        const struct regs *regs, uint64_t *ret)
{
	/* Up to two words are in registers, a larger result is where the first one points to. */
	bool in_memory = type_size(t) > MAX_IN_REGISTERS;
	uint64_t size = type_size(discr->type);

	*ret = regs->r[RESULT_REGISTER];
	if (!size || size > sizeof(*ret) || (!in_memory && discr->offset))
		return false;
	if (in_memory) {
		struct error *err CLEANUP(error_freep) =
			control_read(&p->d->control, *ret + discr->offset, ret, sizeof(*ret));

		if (err)
			return false;
	}
	if (size < sizeof(*ret))
		*ret &= (UINT64_C(1) << (8 * size)) - 1;
	return true;
}

/* The variant of a Poll<T> that was returned; NULL: unknown. */
static const struct variant *returned_variant(struct step_plan *p, const struct regs *regs)
{
	const struct type *t = function_read_result(p->where.at.function);
	const struct member *discr = t ? type_discr(t) : NULL;
	const struct variant *other = NULL;
	uint64_t value;
	size_t n;

	if (!discr || !read_result(p, t, discr, regs, &value))
		return NULL;
	const struct variant *v = type_variants(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (v[i].is_default)
			other = &v[i];
		else if (v[i].discr == value)
			return &v[i];
	}
	return other;
}

struct error *step_instance_is_pending(struct step_plan *p, pid_t tid, bool *ret)
{
	SCRATCH(tmp);
	struct regs regs;

	*ret = false;
	if (!p->subject.instance.type)
		return NULL;
	if (type_is_coroutine(p->subject.instance.type) && p->subject.instance.addr) {
		const char *state = step_instance_state(p);

		/* Code around an inlined one may have dropped it since it returned. */
		*ret = p->subject.polled_call ? step_instance_is_suspended(p, &p->subject.instance)
		                              : !state || strcmp(state, "Returned") != 0;
		return NULL;
	}
	TRY(control_registers(&p->d->control, tid, &tmp, &regs));
	const struct variant *v = returned_variant(p, &regs);
	*ret = v && v->name && strcmp(v->name, "Pending") == 0;
	return NULL;
}

/* ---- the state of a coroutine ---- */

/* The variant that an enum in memory has; NULL: unknown. */
static const struct variant *step_instance_variant_at(struct step_plan *p, const struct type *t,
                                                      uint64_t addr)
{
	const struct member *discr = type_discr(t);
	uint64_t size = discr ? type_size(discr->type) : 0, value = 0;
	const struct variant *variants, *other = NULL;
	size_t n;

	if (!size || size > sizeof(value))
		return NULL;
	struct error *err CLEANUP(error_freep) =
		control_read(&p->d->control, addr + discr->offset, &value, size);
	if (err)
		return NULL;
	variants = type_variants(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (variants[i].is_default)
			other = &variants[i];
		else if (variants[i].discr == value)
			return &variants[i];
	}
	return other;
}

static const char *step_instance_state_of(struct step_plan *p, const struct step_instance *of)
{
	const struct variant *v = of->type ? step_instance_variant_at(p, of->type, of->addr) : NULL;

	return v ? v->name : NULL;
}

const char *step_instance_state(struct step_plan *p)
{
	return step_instance_state_of(p, &p->subject.instance);
}

unsigned step_instance_line(struct step_plan *p)
{
	const bool is_inlined = p->where.at.call != p->subject.polled_call;
	const struct step_instance *of = is_inlined ? &p->subject.inlined : &p->subject.instance;
	const bool known = of->addr && of->type && type_is_coroutine(of->type);
	const struct variant *v = known ? step_instance_variant_at(p, of->type, of->addr) : NULL;

	return v && str_begins(v->name, "Suspend") ? v->line : 0;
}

bool step_instance_has_returned(struct step_plan *p)
{
	bool own = p->subject.instance.addr && type_is_coroutine(p->subject.instance.type) &&
	           p->where.at.call == p->subject.polled_call;
	const char *state = own ? step_instance_state(p) : NULL;

	return state && strcmp(state, "Returned") == 0;
}

bool step_instance_is_suspended(struct step_plan *p, const struct step_instance *of)
{
	const char *state =
		of->type && type_is_coroutine(of->type) ? step_instance_state_of(p, of) : NULL;

	return state && str_begins(state, "Suspend");
}

/* ---- an instance within another one ---- */

enum { MAX_DEPTH = 64, MAX_VALUES = 4096 };

struct within {
	struct step_plan *p;
	const char *type;
	struct step_instance found;
	size_t nfound, nvalues;
};

static void step_instance_look_within(struct within *w, const struct type *t, uint64_t addr,
                                      int depth);

static void look_in_members(struct within *w, const struct type *t, uint64_t addr, int depth)
{
	size_t n = 0;
	const struct member *m = t ? type_members(t, &n) : NULL;

	for (size_t i = 0; i < n; i++)
		step_instance_look_within(w, m[i].type, addr + m[i].offset, depth + 1);
}

/* A coroutine polls what it awaits. Its other variables may be what was moved or dropped. */
static void look_in_variant(struct within *w, const struct type *t, uint64_t addr, int depth)
{
	const struct variant *v = step_instance_variant_at(w->p, t, addr);
	const struct member *m;

	if (!v || !v->payload)
		return;
	if (!type_is_coroutine(t)) {
		look_in_members(w, v->payload, addr + v->offset, depth);
		return;
	}
	m = type_member(v->payload, "__awaitee");
	if (m)
		step_instance_look_within(w, m->type, addr + v->offset + m->offset, depth + 1);
}

static void step_instance_look_within(struct within *w, const struct type *t, uint64_t addr,
                                      int depth)
{
	const struct step_instance here = { t, addr };

	if (!t || depth > MAX_DEPTH || w->nvalues++ > MAX_VALUES)
		return;
	if (type_kind(t) == TYPE_STRUCT) {
		look_in_members(w, t, addr, depth);
	} else if (type_kind(t) == TYPE_ENUM && strcmp(type_name(t), w->type) != 0) {
		look_in_variant(w, t, addr, depth);
	} else if (type_kind(t) == TYPE_ENUM && step_instance_is_suspended(w->p, &here)) {
		w->found = here;
		w->nfound++;
	}
}

struct step_instance step_instance_within(struct step_plan *p, const struct type *type)
{
	struct within w = { .p = p, .type = type_name(type) };

	if (p->subject.instance.type && p->subject.instance.addr)
		step_instance_look_within(&w, p->subject.instance.type, p->subject.instance.addr,
		                          0);
	return w.nfound == 1 && w.nvalues <= MAX_VALUES ? w.found : (struct step_instance){ 0 };
}
