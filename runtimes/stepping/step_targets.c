/*
 * The coroutines that a call into a library may poll: a step stops in them. They are found by types
 * alone: what the coroutine that steps awaits, and the generics of the function that is called.
 */
#include <string.h>

#include "dwarf/lookup/code_places.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/names/demangle.h"
#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

enum { MAX_DEPTH = 12, MAX_TYPES = 1000, MAX_TARGETS = 64 };

struct search {
	struct step_plan *p;
	VEC(const struct type *) seen;
	VEC(uint64_t) found;            /* run-time addresses of poll functions */
	VEC(const struct type *) types; /* coroutines that may be inlined */
};

static bool is_news(struct search *s, const struct type *t)
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

static void collect(struct search *s, const struct type *t, int depth);

static void collect_members(struct search *s, const struct type *t, int depth)
{
	size_t n = 0;
	const struct member *m = t ? type_members(t, &n) : NULL;

	for (size_t i = 0; i < n; i++)
		collect(s, m[i].type, depth + 1);
}

/* By its declaration: a function that is inlined everywhere has no code of its own. */
static bool is_users(struct step_plan *p, const struct function *f)
{
	const struct function_lines *lines = step_cache_lines(p->d->step_cache, f);
	const struct location l = { .function = f,
		                    .file = lines->ncalls ? lines->calls[0].file : NULL,
		                    .comp_dir = lines->comp_dir };

	return l.file && step_place_is_users_at(p, &l);
}

/* The poll function of a coroutine, if it is the user's. */
static bool add_coroutine(struct search *s, const struct type *t)
{
	uint64_t die = lookup_dwarf_poll(t);
	const struct function *f = die ? lookup_function_die(type_module(t), die) : NULL;
	struct step_place place;

	if (!f || s->types.n >= MAX_TARGETS || !is_users(s->p, f))
		return false;
	*vec_push(&s->types) = t;
	if (!f->low)
		return true;
	step_place_at(s->p, f->low, &place);
	if (place.users && s->found.n < MAX_TARGETS)
		*vec_push(&s->found) = f->low;
	return true;
}

static void collect(struct search *s, const struct type *t, int depth)
{
	const struct variant *v;
	size_t n;

	if (!t || depth > MAX_DEPTH || !is_news(s, t))
		return;
	switch (type_kind(t)) {
	case TYPE_POINTER:
		collect(s, type_target(t), depth + 1);
		break;
	case TYPE_STRUCT:
	case TYPE_UNION:
		collect_members(s, t, depth);
		break;
	case TYPE_ENUM:
		if (type_is_coroutine(t) && add_coroutine(s, t))
			break;
		v = type_variants(t, &n);
		for (size_t i = 0; i < n; i++)
			collect_members(s, v[i].payload, depth);
		break;
	default:
		break;
	}
}

/* An await of a macro has a line of the macro's file. */
static bool may_be_here(const struct step_plan *p, const struct variant *v)
{
	return v->line == p->at.line || !v->file || !p->at.file || strcmp(v->file, p->at.file) != 0;
}

static void collect_awaited(struct search *s)
{
	const struct type *t = s->p->instance.type;
	size_t n = 0;
	const struct variant *v = t ? type_variants(t, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		const struct member *m =
			v[i].payload ? type_member(v[i].payload, "__awaitee") : NULL;

		if (m && may_be_here(s->p, &v[i]))
			collect(s, m->type, 0);
	}
}

static bool collect_generic(enum function_part part, const struct type *t, void *arg)
{
	if (part == FUNCTION_GENERIC)
		collect(arg, t, 0);
	return false;
}

static bool has_found(const struct search *s, const struct type *t)
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
 * Where the body of a coroutine begins, in copies and in other functions, into which it is inlined:
 * a thread comes there at its first poll.
 */
static struct error *plant_bodies(struct search *s, const struct type *t, trap_decide *decide,
                                  trap_vec *ret)
{
	struct code_places places;
	SCRATCH(tmp);

	TRY(lookup_function_places(s->p->in->di, name_function(&tmp, type_name(t)), &tmp, &places));
	for (size_t i = 0; i < places.n && i < MAX_TARGETS && !places.every_poll; i++) {
		if (places.data[i].inlined || !has_found(s, t))
			TRY(step_trap(s->p, ret, places.data[i].addr, NULL, decide));
	}
	return NULL;
}

struct error *step_targets_plant(struct step_plan *p, const struct function *called,
                                 trap_decide *decide, trap_decide *inside, trap_vec *ret)
{
	struct search s = { .p = p };
	struct error *err = NULL;

	if (!p->options->spawned)
		collect_awaited(&s);
	if (called)
		function_read_types(called, collect_generic, &s);
	for (size_t i = 0; i < s.found.n && !err; i++)
		err = step_trap(p, ret, s.found.data[i], NULL, decide);
	for (size_t i = 0; inside && i < s.types.n && !err; i++)
		err = plant_bodies(&s, s.types.data[i], inside, ret);
	vec_free(&s.types);
	vec_free(&s.seen);
	vec_free(&s.found);
	return err;
}
