/* Finds the variables of a coroutine type's state that may contain futures, and caches them. */
#include <string.h>

#include "runtimes/common/type_class.h"
#include "runtimes/future/held_futures.h"
#include "runtimes/future/leaf.h"

/* Leaves such as task handles and channel ends are futures, too, but not worth showing unpolled. */
static bool is_worth_showing(struct inspector *in, const struct type *t)
{
	return t && type_size(t) &&
	       (type_class_of(t)->task_set || (!leaf_is_known(t) && future_is_or_has(in, t)));
}

static bool held_futures_plan_has_name(const struct member *members, size_t from, size_t to,
                                       const char *name)
{
	for (size_t i = from; i < to; i++) {
		if (members[i].name && strcmp(members[i].name, name) == 0)
			return true;
	}
	return false;
}

/* A drop flag has no name of its own: "__2" of type bool. */
static bool is_flag(const struct member *m)
{
	return m->name && m->name[0] == '_' && m->name[1] == '_' && m->type &&
	       type_kind(m->type) == TYPE_BOOL;
}

static bool is_runtime(const struct type *t)
{
	return t && type_size(t) && type_class_of(t)->forms.handle;
}

/* Whether t is a runtime handle, or a struct with a member that is one. */
static bool held_futures_plan_has_runtime(const struct type *t)
{
	const struct member *members;
	size_t n;

	if (is_runtime(t))
		return true;
	if (!t || type_kind(t) != TYPE_STRUCT || type_is_coroutine(t))
		return false;
	members = type_members(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (is_runtime(members[i].type))
			return true;
	}
	return false;
}

typedef VEC(const struct member *) member_vec;

struct variables {
	const struct member *members; /* of the state's payload */
	size_t n;
	member_vec held, flags, runtimes;
	size_t nvariables;
};

/*
 * Whether the debug info has the place of variable i, and it is one of this state. LLVM merges
 * variables of equal name into one entry, so only the first has a usable offset. What the coroutine
 * captured is listed last in every state, although it may have been moved out: an async fn moves
 * its arguments into variables of the same names.
 */
static bool is_placed(const struct variables *of, size_t i, const struct variant *unresumed)
{
	const char *name = of->members[i].name;

	if (!name || held_futures_plan_has_name(of->members, 0, i, name))
		return false;
	return held_futures_plan_has_name(of->members, i + 1, of->n, name) || !unresumed ||
	       !unresumed->payload || !type_member(unresumed->payload, name);
}

/*
 * Reads the variables from the debug info. Those of a coroutine that was not polled yet are what it
 * captured.
 */
static void work_out(struct inspector *in, const struct type *t, const struct coroutine_state *s,
                     struct variables *of)
{
	const struct variant *unresumed =
		s->state == FUTURE_UNRESUMED ? NULL : type_variant(t, "Unresumed");

	for (size_t i = 0; i < of->n; i++) {
		const struct member *m = &of->members[i];

		if (is_flag(m))
			*vec_push(&of->flags) = m;
		else if (m->name && m->type && type_kind(m->type) >= TYPE_POINTER &&
		         strncmp(m->name, "__", 2) != 0)
			of->nvariables++;
		/* Captured ones, too: handle_met() checks the memory before it trusts a handle. */
		if (m->name && m != s->awaitee && held_futures_plan_has_runtime(m->type))
			*vec_push(&of->runtimes) = m;
		if (m != s->awaitee && is_placed(of, i, unresumed) && is_worth_showing(in, m->type))
			*vec_push(&of->held) = m;
	}
}

/* ---- cache record ---- */

static uint64_t held_futures_plan_key_of(const struct type *t, const struct coroutine_state *s)
{
	size_t n;

	return record_nth_key(type_die(t), (uint64_t)(s->variant - type_variants(t, &n)));
}

/* Reads a list of ascending member indices; false if one is not valid. */
static bool held_futures_plan_know_members(struct record *record, const struct variables *of,
                                           member_vec *ret)
{
	uint64_t next = 0;

	for (size_t n = record_count(record); n; n--) {
		uint64_t i = record_number(record);

		if (i < next || i >= of->n)
			return false;
		*vec_push(ret) = &of->members[i];
		next = i + 1;
	}
	return true;
}

/*
 * Reads the variables from the cache. They depend on the tables of this layer, so a record is valid
 * only for the build of asyncdbg that wrote it.
 */
static bool know(struct inspector *in, const struct type *t, const struct coroutine_state *s,
                 struct variables *of)
{
	struct record record;

	if (!in->own_build ||
	    !record_find(debuginfo_records(type_module(t)), RECORD_HELD,
	                 held_futures_plan_key_of(t, s), NULL, &record) ||
	    record_number(&record) != in->own_build)
		return false;
	of->nvariables = record_number(&record);
	if (of->nvariables <= of->n && held_futures_plan_know_members(&record, of, &of->held) &&
	    held_futures_plan_know_members(&record, of, &of->flags) &&
	    held_futures_plan_know_members(&record, of, &of->runtimes))
		return true;
	of->nvariables = of->held.n = of->flags.n = of->runtimes.n = 0;
	return false;
}

static void held_futures_plan_record_members(struct record_writer *d, const struct variables *of,
                                             const member_vec *list)
{
	record_add_number(d, list->n);
	for (size_t i = 0; i < list->n; i++)
		record_add_number(d, (uint64_t)(list->data[i] - of->members));
}

static void record_plan(struct inspector *in, const struct type *t, const struct coroutine_state *s,
                        const struct variables *of)
{
	struct record_writer d;

	if (!in->own_build)
		return;
	record_begin(&d, debuginfo_records(type_module(t)), RECORD_HELD,
	             held_futures_plan_key_of(t, s), NULL);
	record_add_number(&d, in->own_build);
	record_add_number(&d, of->nvariables);
	held_futures_plan_record_members(&d, of, &of->held);
	held_futures_plan_record_members(&d, of, &of->flags);
	held_futures_plan_record_members(&d, of, &of->runtimes);
	record_end(&d);
}

void held_futures_plan(struct inspector *in, const struct type *t, struct coroutine_state *s)
{
	struct variables of = { 0 };

	if (s->variant->payload)
		of.members = type_members(s->variant->payload, &of.n);
	if (!know(in, t, s, &of)) {
		work_out(in, t, s, &of);
		record_plan(in, t, s, &of);
	}
	s->nvariables = of.nvariables;
	s->nflags = of.flags.n;
	s->flags = vec_to_arena(&of.flags, &in->arena);
	s->nheld = of.held.n;
	s->held = vec_to_arena(&of.held, &in->arena);
	s->nruntimes = of.runtimes.n;
	s->runtimes = vec_to_arena(&of.runtimes, &in->arena);
}
