/*
 * The user's code that a call into a library may come to: a step stops in it. Coroutines and
 * closures are found by types: what the coroutine that steps awaits, and the generics of the
 * function that is called. Of a trait object that is awaited, the vtable tells.
 */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/code_places.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

enum {
	MAX_DEPTH = 12,
	MAX_TYPES = 1000,
	MAX_TARGETS = 64,
	POLL_SLOT = 3, /* of the vtable of a dyn Future: behind drop, size and alignment */
};

struct step_targets_search {
	struct step_plan *p;
	VEC(const struct type *) seen;
	VEC(uint64_t) found;            /* run-time addresses of poll functions */
	VEC(const struct type *) types; /* coroutines that may be inlined */
	VEC(const struct type *) closures;
	size_t nvalues; /* number of values searched for trait objects */
};

static bool is_news(struct step_targets_search *s, const struct type *t)
{
	for (size_t i = 0; i < s->seen.n; i++) {
		if (s->seen.data[i] == t)
			return false;
	}
	if (s->seen.n >= MAX_TYPES)
		return false;
	*vec_push(&s->seen) = t;
	return true;
}

static void step_targets_collect(struct step_targets_search *s, const struct type *t, int depth);

static void step_targets_collect_members(struct step_targets_search *s, const struct type *t,
                                         int depth)
{
	size_t n = 0;
	const struct member *m = t ? type_members(t, &n) : NULL;

	for (size_t i = 0; i < n; i++)
		step_targets_collect(s, m[i].type, depth + 1);
}

/*
 * Whether the declaration is in code of the user's: a function that is inlined everywhere has no
 * code of its own.
 */
static bool step_targets_is_users(struct step_plan *p, const struct function *f)
{
	const struct function_lines *lines = step_cache_lines(p->d->step_cache, f);
	const struct location l = { .function = f,
		                    .file = lines->ncalls ? lines->calls[0].file : NULL,
		                    .comp_dir = lines->comp_dir };

	return l.file && step_place_is_users_at(p, &l);
}

/* The poll function of a coroutine, if it is the user's. */
static bool add_coroutine(struct step_targets_search *s, const struct type *t)
{
	uint64_t die = lookup_dwarf_poll(t);
	const struct function *f = die ? lookup_function_die(type_module(t), die) : NULL;
	struct step_place place;

	if (!f || s->types.n >= MAX_TARGETS || !step_targets_is_users(s->p, f))
		return false;
	*vec_push(&s->types) = t;
	if (!f->low)
		return true;
	step_place_at(s->p, f->low, &place);
	if (place.users && s->found.n < MAX_TARGETS)
		*vec_push(&s->found) = f->low;
	return true;
}

/* Values that the closure has captured may be of interest, too. */
static void add_closure(struct step_targets_search *s, const struct type *t)
{
	if (s->closures.n < MAX_TARGETS &&
	    str_begins(qualified_last(type_name(t)), "{closure_env#"))
		*vec_push(&s->closures) = t;
}

static void step_targets_collect(struct step_targets_search *s, const struct type *t, int depth)
{
	const struct variant *v;
	size_t n;

	if (!t || depth > MAX_DEPTH || !is_news(s, t))
		return;
	switch (type_kind(t)) {
	case TYPE_POINTER:
		step_targets_collect(s, type_target(t), depth + 1);
		break;
	case TYPE_STRUCT:
		add_closure(s, t);
		step_targets_collect_members(s, t, depth);
		break;
	case TYPE_UNION:
		step_targets_collect_members(s, t, depth);
		break;
	case TYPE_ENUM:
		if (type_is_coroutine(t) && add_coroutine(s, t))
			break;
		v = type_variants(t, &n);
		for (size_t i = 0; i < n; i++)
			step_targets_collect_members(s, v[i].payload, depth);
		break;
	default:
		break;
	}
}

/* ---- trait objects ---- */

/* The future behind a fat pointer, of which nothing is known but that memory should have one. */
static void collect_object(struct step_targets_search *s, const struct type *t, uint64_t addr,
                           int depth)
{
	struct control *c = &s->p->d->control;
	uint64_t vtable, poll = 0;

	struct error *err =
		control_read(c, addr + type_member(t, "vtable")->offset, &vtable, sizeof(vtable));
	if (!err)
		err = control_read(c, vtable + POLL_SLOT * sizeof(poll), &poll, sizeof(poll));
	const struct function *f = err ? NULL : lookup_function(s->p->in->di, poll);
	error_free(err);
	if (f && f->low == poll)
		step_targets_collect(s, step_instance_type(f), depth + 1);
}

/* Looks for trait objects in a value, which may not be there yet. */
static void step_targets_collect_objects(struct step_targets_search *s, const struct type *t,
                                         uint64_t addr, int depth)
{
	size_t n;

	if (!t || type_kind(t) != TYPE_STRUCT || depth > MAX_DEPTH || s->nvalues++ > MAX_TYPES)
		return;
	if (type_wide(t).has_vtable) {
		collect_object(s, t, addr, depth);
		return;
	}
	const struct member *m = type_members(t, &n);
	for (size_t i = 0; i < n; i++)
		step_targets_collect_objects(s, m[i].type, addr + m[i].offset, depth + 1);
}

/* ---- what is awaited ---- */

/* An await of a macro has a line of the macro's file. */
static bool may_be_here(const struct step_plan *p, const struct variant *v)
{
	return v->line == p->where.at.line || !v->file || !p->where.at.file ||
	       strcmp(v->file, p->where.at.file) != 0;
}

static void collect_awaited(struct step_targets_search *s)
{
	const struct type *t = s->p->subject.instance.type;
	size_t n = 0;
	const struct variant *v = t ? type_variants(t, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		const struct member *m =
			v[i].payload ? type_member(v[i].payload, "__awaitee") : NULL;

		if (!m || !may_be_here(s->p, &v[i]))
			continue;
		step_targets_collect(s, m->type, 0);
		if (s->p->subject.instance.addr)
			step_targets_collect_objects(
				s, m->type, s->p->subject.instance.addr + v[i].offset + m->offset,
				0);
	}
}

static bool collect_generic(enum function_part part, const struct type *t, void *arg)
{
	if (part == FUNCTION_GENERIC)
		step_targets_collect(arg, t, 0);
	return false;
}

static bool has_found(const struct step_targets_search *s, const struct type *t)
{
	uint64_t die = lookup_dwarf_poll(t);
	const struct function *f = die ? lookup_function_die(type_module(t), die) : NULL;

	for (size_t i = 0; f && i < s->found.n; i++) {
		if (s->found.data[i] == f->low)
			return true;
	}
	return false;
}

/*
 * Internal breakpoints at the beginnings of a coroutine's body, in copies and in other functions,
 * into which it is inlined: a thread comes there at its first poll.
 */
static struct error *plant_bodies(struct step_targets_search *s, const struct type *t,
                                  hit_callback *decide, internal_breakpoint_vec *ret)
{
	struct code_places places;
	SCRATCH(tmp);

	TRY(lookup_function_places(s->p->in->di, name_function(&tmp, type_name(t)), &tmp, &places));
	for (size_t i = 0; i < places.n && i < MAX_TARGETS && !places.every_poll; i++) {
		if (places.data[i].inlined || !has_found(s, t))
			TRY(step_add_breakpoint(s->p, ret, INTERNAL_STEP_TARGET,
			                        places.data[i].addr, NULL, decide));
	}
	return NULL;
}

static struct error *plant_closure(struct step_targets_search *s, const struct type *t,
                                   hit_callback *decide, internal_breakpoint_vec *ret)
{
	const struct step_addresses *at = step_cache_closure(s->p->d->step_cache, s->p->in->di, t);
	struct step_place place;

	for (size_t i = 0; i < at->n && i < MAX_TARGETS; i++) {
		step_place_at(s->p, at->data[i], &place);
		if (place.users)
			TRY(step_add_breakpoint(s->p, ret, INTERNAL_STEP_TARGET, at->data[i], NULL,
			                        decide));
	}
	return NULL;
}

static struct error *step_targets_plant_all(struct step_targets_search *s,
                                            const struct step_target_deciders *deciders,
                                            internal_breakpoint_vec *ret)
{
	for (size_t i = 0; i < s->found.n; i++)
		TRY(step_add_breakpoint(s->p, ret, INTERNAL_STEP_TARGET, s->found.data[i], NULL,
		                        deciders->entry));
	for (size_t i = 0; deciders->inside && i < s->types.n; i++)
		TRY(plant_bodies(s, s->types.data[i], deciders->inside, ret));
	for (size_t i = 0; deciders->closure && i < s->closures.n; i++)
		TRY(plant_closure(s, s->closures.data[i], deciders->closure, ret));
	return NULL;
}

struct error *step_targets_plant(struct step_plan *p, const struct function *called,
                                 const struct type *polled, uint64_t at,
                                 const struct step_target_deciders *deciders,
                                 internal_breakpoint_vec *ret)
{
	struct step_targets_search s = { .p = p };

	if (!p->options->spawned)
		collect_awaited(&s);
	if (called)
		function_read_types(called, collect_generic, &s);
	step_targets_collect_objects(&s, polled, at, 0);
	struct error *err = step_targets_plant_all(&s, deciders, ret);
	vec_free(&s.types);
	vec_free(&s.seen);
	vec_free(&s.found);
	vec_free(&s.closures);
	return err;
}

void step_targets_act(struct step_plan *p, enum target_place place, const struct target_hit *hit,
                      bool *stop)
{
	const enum target_action action = target_rules_at(place, hit);

	if (action == TARGET_ENTER)
		*stop = p->walk.entered = true;
	else if (action == TARGET_END)
		step_exit_set(p, STEP_LINE, stop);
}
