#include "runtimes/query/frame_filter.h"

#include <ctype.h>
#include <string.h>

#include "dwarf/frame/variables.h"
#include "dwarf/values/unwrap_newtype.h"
#include "runtimes/common/inspector.h"
#include "runtimes/future/needs_drop.h"

enum { MAX_STEPS = 32 };

/* A place while the expression is followed. */
struct frame_filter_walk {
	struct arena *a;
	struct variable_access at; /* type: of what is there */
	const char *rest;
};

/* ---- steps, as expression_follow() and frame_value() take them ---- */

static bool load(struct frame_filter_walk *w)
{
	const struct type *target = type_target(w->at.type);

	if (!target)
		return false;
	if (w->at.in_memory) {
		if (w->at.nloads == VARIABLE_MAX_LOADS)
			return false;
		w->at.nloads++;
	}
	/* The value of a register is an address now. */
	w->at.in_memory = true;
	w->at.type = target;
	return true;
}

static bool frame_filter_enter(struct frame_filter_walk *w, const struct member *m)
{
	if (!m || !m->type || !w->at.in_memory)
		return false;
	w->at.offset[w->at.nloads] += (int64_t)m->offset;
	w->at.type = m->type;
	return true;
}

/* Types with parameters may be smart pointers, which only the values themselves lead through. */
static bool may_be_smart(const struct type *t)
{
	size_t n;

	type_params(t, &n);
	return n != 0;
}

static bool frame_filter_is_cell(const struct type *t)
{
	return type_is(t, "core::cell::UnsafeCell") || type_is(t, "core::cell::Cell") ||
	       type_is(t, "core::num::nonzero::NonZero");
}

static bool is_reference(const struct type *t)
{
	return type_kind(t) == TYPE_POINTER && type_name(t)[0] == '&';
}

static bool step_to_member(struct frame_filter_walk *w, const char *name)
{
	for (int i = 0; i < MAX_STEPS; i++) {
		if (type_kind(w->at.type) == TYPE_POINTER) {
			if (!load(w))
				return false;
			continue;
		}
		return type_kind(w->at.type) == TYPE_STRUCT && !may_be_smart(w->at.type) &&
		       frame_filter_enter(w, type_member(w->at.type, name));
	}
	return false;
}

static bool is_scalar(const struct type *t)
{
	enum type_kind kind = type_kind(t);

	return kind == TYPE_BOOL || kind == TYPE_INT || kind == TYPE_UINT ||
	       (kind == TYPE_POINTER && type_name(t)[0] == '*');
}

static bool reach_scalar(struct frame_filter_walk *w)
{
	for (int i = 0; i < MAX_STEPS && w->at.type; i++) {
		const struct type *t = w->at.type;

		if (is_scalar(t))
			return type_size(t) >= 1 && type_size(t) <= sizeof(uint64_t);
		if (is_reference(t)) {
			if (!load(w))
				return false;
			continue;
		}
		if (type_kind(t) != TYPE_STRUCT || (may_be_smart(t) && !frame_filter_is_cell(t)))
			return false;
		struct unwrapped_newtype p = unwrap_newtype(t);
		if (!frame_filter_enter(w, p.member ? p.member : type_single_member(t)))
			return false;
	}
	return false;
}

/* ---- the expression ---- */

static const char *take_name(struct frame_filter_walk *w)
{
	size_t n = 0;

	while (isalnum((unsigned char)w->rest[n]) || w->rest[n] == '_')
		n++;
	const char *name = arena_strndup(w->a, w->rest, n);
	w->rest += n;
	return n && !isdigit((unsigned char)name[0]) ? name : NULL;
}

static bool frame_filter_follow(struct frame_filter_walk *w)
{
	while (*w->rest == '.') {
		w->rest++;
		const char *name = take_name(w);

		if (!name || !step_to_member(w, name))
			return false;
	}
	return *w->rest == '\0' && reach_scalar(w);
}

/* The bytes of the literal, if the type has that number. */
static bool convert(const struct type *t, const struct frame_filter_literal *l, uint64_t *ret)
{
	bool is_signed = type_kind(t) == TYPE_INT;
	unsigned bits = (unsigned)type_size(t) * 8;
	uint64_t most = is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);

	if ((type_kind(t) == TYPE_BOOL) != l->is_bool || l->number > most ||
	    (l->negative && !is_signed))
		return false;
	*ret = l->negative ? 0 - l->number : l->number;
	return true;
}

static bool frame_filter_finish(const struct frame_filter_walk *w, struct tracer_filter *ret)
{
	const struct variable_access *at = &w->at;
	unsigned nloads = at->nloads + at->in_memory;

	/* A value that was loaded and then added to cannot be compared. */
	if (nloads > TRACER_MAX_LOADS ||
	    (!at->in_memory && at->nloads && at->offset[at->nloads] != 0))
		return false;
	ret->reg = at->reg;
	ret->nloads = nloads;
	for (unsigned i = 0; i < TRACER_MAX_LOADS && i <= at->nloads; i++)
		ret->offset[i] = at->offset[i];
	ret->size = (unsigned)type_size(at->type);
	ret->is_signed = type_kind(at->type) == TYPE_INT;
	return true;
}

bool frame_filter(struct inspector *in, uint64_t pc, const char *expression,
                  const struct frame_filter_literal *literal, struct tracer_filter *ret)
{
	SCRATCH(tmp);
	struct frame_filter_walk w = { .a = &tmp, .rest = expression };
	size_t nlocations;
	const char *name = take_name(&w);

	*ret = (struct tracer_filter){ 0 };
	lookup_functions_at(in->di, pc, &tmp, &nlocations);
	return name && variables_access_at(in->di, pc, (unsigned)nlocations - 1, name, &w.at) &&
	       (w.at.certain || !needs_drop(in, w.at.type)) && frame_filter_follow(&w) &&
	       convert(w.at.type, literal, &ret->value) && frame_filter_finish(&w, ret);
}
