#include "runtimes/future.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/demangle.h"
#include "runtimes/leaf.h"
#include "runtimes/locals.h"

/* Wrappers that poll straight through to what they hold and are no frame of their own. */
static const char *const transparent[] = {
	"core::pin::Pin",
	"core::mem::manually_drop::ManuallyDrop",
	"core::mem::maybe_dangling::MaybeDangling",
	"core::mem::maybe_uninit::MaybeUninit",
	"core::cell::UnsafeCell",
	"core::future::from_generator::GenFuture", /* rustc up to 1.66 wraps coroutines in it */
};

static bool is_transparent(const struct type *t)
{
	for (size_t i = 0; i < sizeof(transparent) / sizeof(transparent[0]); i++) {
		if (type_is(t, transparent[i]))
			return true;
	}
	return false;
}

static struct future *problem(struct decoder *d, struct future *f, const char *text)
{
	f->problem = clean_name(d->c->a, text);
	d->faults++;
	if (!d->strict)
		d->c->out->complete = false;
	return f;
}

static struct future *problem_error(struct decoder *d, struct future *f, struct error *err)
{
	problem(d, f, err->message);
	error_free(err);
	return f;
}

/* The concrete place behind a trait object. */
static struct error *resolve_dyn(struct decoder *d, struct value *v, struct future *f)
{
	struct target *t = d->c->in->target;
	const struct member *data = type_member(v->type, "pointer");
	const struct member *vtable = type_member(v->type, "vtable");
	enum { POLL_SLOT = 3 }; /* drop, size, align, then Future's only method */
	uint64_t data_addr, vtable_addr;
	bool exact;

	TRY(target_read_uint(t, v->addr + data->offset, 8, &data_addr));
	TRY(target_read_uint(t, v->addr + vtable->offset, 8, &vtable_addr));
	const struct type *concrete = lookup_vtable(d->c->in->di, vtable_addr, POLL_SLOT, &exact);
	if (!concrete)
		return error_new(ERR_LAYOUT,
		                 "no debug info describes the vtable 0x%" PRIx64 " of this %s",
		                 vtable_addr, type_name(v->type));
	*v = (struct value){ concrete, data_addr };
	f->dyn = true;
	f->uncertain |= !exact;
	return NULL;
}

/* Looks through pointers, trait objects and transparent wrappers to the future itself. */
static struct error *strip(struct decoder *d, struct value *v, struct future *f)
{
	for (int hop = 0; hop < 32; hop++) {
		const struct member *m;

		if (type_is_dyn(v->type)) {
			TRY(resolve_dyn(d, v, f));
			continue;
		}
		if (type_kind(v->type) == TYPE_POINTER) {
			const struct type *target = type_target(v->type);
			uint64_t addr;

			if (!target)
				return error_new(ERR_LAYOUT, "%s points at no known type",
				                 type_name(v->type));
			TRY(target_read_uint(d->c->in->target, v->addr, 8, &addr));
			if (addr == 0)
				return error_new(ERR_CORRUPT, "%s is null", type_name(v->type));
			*v = (struct value){ target, addr };
			continue;
		}
		if (!is_transparent(v->type))
			return NULL;
		m = type_single_member(v->type);
		if (!m)
			return NULL;
		*v = (struct value){ m->type, v->addr + m->offset };
	}
	return error_new(ERR_CORRUPT, "too many pointers one behind another");
}

static void set_children(struct decoder *d, struct future *f, const struct value *values,
                         const char *const *edges, size_t n)
{
	f->children = NEW_ARRAY(d->c->a, struct future *, n);
	for (size_t i = 0; i < n; i++) {
		f->children[i] = future_decode(d, values[i]);
		f->children[i]->edge = edges[i];
	}
	f->nchildren = n;
}

static struct future *decode_coroutine(struct decoder *d, struct value v, struct future *f)
{
	const struct coroutine_plan *plan = coroutine_plan(d->c->in, v.type);
	const struct coroutine_state *s = NULL;
	const struct variant *active;
	struct error *err;

	f->kind = plan->kind;
	f->function = plan->function;
	f->type = plan->type;
	err = value_variant(d->c->in->target, v, &active);
	if (err)
		return problem_error(d, f, err);
	for (size_t i = 0; i < plan->nstates; i++) {
		if (plan->states[i].variant == active)
			s = &plan->states[i];
	}
	if (!s)
		return problem(d, f, "its state is none that the debug info knows");
	if (s->state == FUTURE_STATE_NONE)
		return problem(d, f, "its state has a name that is not understood");
	f->state = s->state;
	f->await_point = s->await_point;
	locals_of_coroutine(d, v, active, f);
	if (s->state != FUTURE_SUSPENDED) {
		/* What a suspended coroutine awaits was polled, so it is suspended too. */
		d->faults++;
		return f;
	}
	d->suspended++;
	f->file = s->file;
	f->file_short = s->file_short;
	f->line = s->line;
	if (!s->awaitee)
		return problem(d, f, "the debug info does not say what it awaits");
	static const char *const edge[] = { "await" };
	struct value awaitee = { s->awaitee->type, v.addr + active->offset + s->awaitee->offset };
	set_children(d, f, &awaitee, edge, 1);
	return f;
}

static struct future *decode_other(struct decoder *d, struct value v, struct future *f)
{
	struct value children[FUTURE_MAX_CHILDREN];
	const char *edges[FUTURE_MAX_CHILDREN];
	size_t n = 0;
	struct error *err;

	f->kind = FUTURE_OTHER;
	f->type = clean_name(d->c->a, type_name(v.type));
	f->function = clean_name(d->c->a, name_without_generics(d->c->a, type_name(v.type)));
	locals_of_other(d, v, f);
	if (leaf_decode(d, v, f))
		return f;
	const char *left_out = combinator_leaves_out(v.type);
	if (left_out)
		snapshot_incomplete(d->c->out, "%s", left_out);
	err = combinator_children(d, v, children, edges, FUTURE_MAX_CHILDREN, &n);
	if (err)
		problem_error(d, f, err);
	set_children(d, f, children, edges, n);
	return f;
}

struct future *future_decode(struct decoder *d, struct value v)
{
	struct future *f = NEW(d->c->a, struct future);
	struct error *err;

	f->kind = FUTURE_OTHER;
	f->await_point = -1;
	f->function = f->type = clean_name(d->c->a, type_name(v.type));
	if (d->depth >= FUTURE_MAX_DEPTH)
		return problem(d, f, "nested too deep, not followed further");
	if (++d->nodes > FUTURE_MAX_NODES)
		return problem(d, f, "too many futures in one task, not followed further");
	err = strip(d, &v, f);
	if (err)
		return problem_error(d, f, err);
	f->addr = v.addr;
	struct ancestor self = { d->above, v, f };
	d->above = &self;
	d->depth++;
	if (type_is_coroutine(v.type))
		decode_coroutine(d, v, f);
	else
		decode_other(d, v, f);
	d->depth--;
	d->above = self.up;
	return f;
}

struct future *future_by_name(struct collector *c, const char *name)
{
	struct future *f = NEW(c->a, struct future);

	f->await_point = -1;
	f->type = clean_name(c->a, name);
	f->kind = coroutine_kind(name);
	f->function = clean_name(c->a, f->kind == FUTURE_OTHER ? name_without_generics(c->a, name)
	                                                       : name_function(c->a, name));
	return f;
}
