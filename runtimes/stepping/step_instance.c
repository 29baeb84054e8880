/* The instance of a coroutine that a thread polls, and the state of its object. */
#include <string.h>

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

static enum instance_state step_instance_state_of(struct step_plan *p,
                                                  const struct step_instance *of);

/* ---- by its variables: optimised code has no place for the argument ---- */

struct step_instance_owner {
	const struct type *type; /* of the coroutine that a variable is part of */
	struct instance_owner found;
};

/* A variable that lies in the coroutine has the name and type of a member. */
static void visit_variable(const struct variable *v, void *arg)
{
	struct step_instance_owner *o = arg;
	size_t nvariants, n;
	const struct variant *variants = type_variants(o->type, &nvariants);

	for (size_t i = 0; i < nvariants; i++) {
		n = 0;
		const struct member *m =
			variants[i].payload ? type_members(variants[i].payload, &n) : NULL;

		for (size_t j = 0; j < n; j++) {
			if (!instance_rules_is_member(v, &m[j]))
				continue;
			instance_rules_add_owner(&o->found,
			                         v->addr - variants[i].offset - m[j].offset);
			return;
		}
	}
}

static uint64_t step_instance_find_by_variables(struct step_plan *p, const struct frame *frame,
                                                uint64_t cfa, const struct type *t)
{
	struct step_instance_owner owner = { .type = t };

	if (type_is_coroutine(t))
		variables_in_frame(p->in->di, frame, cfa, visit_variable, &owner);
	return instance_rules_owner(&owner.found);
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
		const enum instance_state state =
			found.addr ? step_instance_state_of(p, &found) : INSTANCE_UNKNOWN;
		if (!instance_rules_is_polled(state))
			continue;
		*ret = found;
		p->subject.polled_call = call;
		p->subject.was_suspended = state == INSTANCE_SUSPENDED;
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
	bool is_new = step_instance_state(p) == INSTANCE_UNRESUMED;
	p->where.at = before.where.at;
	p->subject.instance = before.subject.instance;
	p->subject.polled_call = before.subject.polled_call;
	return is_new;
}

static bool may_be_argument(const struct function *f, unsigned n)
{
	const struct type *result = function_read_result(f);
	struct result_place place = { .kind = RESULT_UNKNOWN };

	if (result)
		result_place(result, &place);
	return instance_rules_is_argument(place.kind, n);
}

void step_instance_enter(struct step_plan *p, const struct step_frame *f)
{
	const struct type *t = step_instance_type(p->where.at.function);

	p->subject.polled_call = 0;
	for (unsigned i = 0; t && type_is_coroutine(t) && i < 2; i++) {
		if (!may_be_argument(p->where.at.function, i))
			continue;
		p->subject.instance = (struct step_instance){ t, f->regs.r[p->arch->arguments[i]] };
		if (instance_rules_is_polled(step_instance_state(p)))
			return;
	}
	p->subject.instance = (struct step_instance){ 0 };
}

/* ---- the result of a poll ---- */

enum { RESULT_REGISTER = 0 }; /* DWARF numbers: rax and x0 */

/* The discriminant of a Poll<T> that was returned; false: where it is is not known. */
static bool read_result(struct step_plan *p, const struct type *t, const struct member *discr,
                        const struct regs *regs, uint64_t *ret)
{
	const struct instance_result result = { .size = type_size(t),
		                                .discr_size = type_size(discr->type),
		                                .discr_offset = discr->offset };
	const enum instance_result_place place = instance_rules_result(&result);

	*ret = regs->r[RESULT_REGISTER];
	if (place == INSTANCE_RESULT_UNKNOWN)
		return false;
	if (place == INSTANCE_RESULT_MEMORY) {
		struct error *err CLEANUP(error_freep) =
			control_read(&p->d->control, *ret + discr->offset, ret, sizeof(*ret));

		if (err)
			return false;
	}
	*ret = instance_rules_low_bytes(*ret, result.discr_size);
	return true;
}

/* The variant of a Poll<T> that was returned; NULL: unknown. */
static const struct variant *returned_variant(struct step_plan *p, const struct regs *regs)
{
	const struct type *t = function_read_result(p->where.at.function);
	const struct member *discr = t ? type_discr(t) : NULL;
	uint64_t value;
	size_t n;

	if (!discr || !read_result(p, t, discr, regs, &value))
		return NULL;
	const struct variant *v = type_variants(t, &n);
	return instance_rules_variant(v, n, value);
}

static struct error *read_returned(struct step_plan *p, pid_t tid, const char **ret)
{
	SCRATCH(tmp);
	struct regs regs;

	TRY(control_registers(&p->d->control, tid, &tmp, &regs));
	const struct variant *v = returned_variant(p, &regs);
	*ret = v ? v->name : NULL;
	return NULL;
}

struct error *step_instance_is_pending(struct step_plan *p, pid_t tid, bool *ret)
{
	const struct type *t = p->subject.instance.type;
	struct instance_poll poll = {
		.is_future = t != NULL,
		.by_state = t && type_is_coroutine(t) && p->subject.instance.addr,
		.is_inlined = p->subject.polled_call != 0,
	};

	*ret = false;
	if (poll.by_state)
		poll.state = step_instance_state(p);
	else if (poll.is_future)
		TRY(read_returned(p, tid, &poll.result));
	*ret = instance_rules_is_pending(&poll);
	return NULL;
}

/* ---- the state of a coroutine ---- */

/* The variant that an enum in memory has; NULL: unknown. */
static const struct variant *step_instance_variant_at(struct step_plan *p, const struct type *t,
                                                      uint64_t addr)
{
	const struct member *discr = type_discr(t);
	uint64_t size = discr ? type_size(discr->type) : 0, value = 0;
	size_t n;

	if (!size || size > sizeof(value))
		return NULL;
	struct error *err CLEANUP(error_freep) =
		control_read(&p->d->control, addr + discr->offset, &value, size);
	if (err)
		return NULL;
	const struct variant *v = type_variants(t, &n);
	return instance_rules_variant(v, n, value);
}

static enum instance_state step_instance_state_of(struct step_plan *p,
                                                  const struct step_instance *of)
{
	const struct variant *v = of->type ? step_instance_variant_at(p, of->type, of->addr) : NULL;

	return instance_rules_state(v ? v->name : NULL);
}

enum instance_state step_instance_state(struct step_plan *p)
{
	return step_instance_state_of(p, &p->subject.instance);
}

unsigned step_instance_line(struct step_plan *p)
{
	const bool is_inlined = p->where.at.call != p->subject.polled_call;
	const struct step_instance *of = is_inlined ? &p->subject.inlined : &p->subject.instance;
	const bool known = of->addr && of->type && type_is_coroutine(of->type);
	const struct variant *v = known ? step_instance_variant_at(p, of->type, of->addr) : NULL;

	return v && instance_rules_state(v->name) == INSTANCE_SUSPENDED ? v->line : 0;
}

bool step_instance_has_returned(struct step_plan *p)
{
	bool own = p->subject.instance.addr && type_is_coroutine(p->subject.instance.type) &&
	           p->where.at.call == p->subject.polled_call;

	return own && step_instance_state(p) == INSTANCE_RETURNED;
}

bool step_instance_is_suspended(struct step_plan *p, const struct step_instance *of)
{
	return of->type && type_is_coroutine(of->type) &&
	       step_instance_state_of(p, of) == INSTANCE_SUSPENDED;
}

/* ---- an instance within another one ---- */

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

	if (!t)
		return;
	struct instance_value value = { .kind = type_kind(t),
		                        .depth = depth,
		                        .nvalues = w->nvalues++ };
	value.is_type = value.kind == TYPE_ENUM && strcmp(type_name(t), w->type) == 0;
	value.is_suspended = value.is_type && step_instance_is_suspended(w->p, &here);
	switch (instance_rules_look(&value)) {
	case INSTANCE_LOOK_MEMBERS:
		look_in_members(w, t, addr, depth);
		break;
	case INSTANCE_LOOK_VARIANT:
		look_in_variant(w, t, addr, depth);
		break;
	case INSTANCE_LOOK_FOUND:
		w->found = here;
		w->nfound++;
		break;
	case INSTANCE_LOOK_NOWHERE:
		break;
	}
}

struct step_instance step_instance_within(struct step_plan *p, const struct type *type)
{
	struct within w = { .p = p, .type = type_name(type) };

	if (p->subject.instance.type && p->subject.instance.addr)
		step_instance_look_within(&w, p->subject.instance.type, p->subject.instance.addr,
		                          0);
	return instance_rules_is_only(w.nfound, w.nvalues) ? w.found : (struct step_instance){ 0 };
}
