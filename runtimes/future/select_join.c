/* poll_fn(closure): the arms of select! and join!, and the other captures of the closure. */
#include <string.h>

#include "dwarf/names/qualified.h"
#include "runtimes/future/combinator.h"
#include "runtimes/future/leaf.h"

enum { MAX_POINTERS = 4 };

static bool is_of_a_crate(const struct type *t)
{
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		if ((*crate)->poll_fn && type_is(t, (*crate)->poll_fn))
			return true;
	}
	return false;
}

bool select_join_is_poll_fn(const struct type *t)
{
	const struct member *closure;

	if (!type_is(t, "core::future::poll_fn::PollFn") &&
	    !type_is(t, "futures_util::future::poll_fn::PollFn") && !is_of_a_crate(t))
		return false;
	closure = type_single_member(t);
	return closure && strstr(type_name(closure->type), "{closure_env#") != NULL;
}

/* Follows a captured reference to its target, also through a Pin (futures::join! pins it). */
static struct error *select_join_follow(struct finder *f, struct value *ret)
{
	for (int hop = 0; hop < MAX_POINTERS; hop++) {
		const struct member *pin;

		if (type_kind(ret->type) == TYPE_POINTER && type_target(ret->type)) {
			TRY(target_read_uint(f->d->c->in->target, ret->addr, 8, &ret->addr));
			ret->type = type_target(ret->type);
		} else if (type_is(ret->type, "core::pin::Pin") &&
		           (pin = type_single_member(ret->type))) {
			*ret = (struct value){ pin->type, ret->addr + pin->offset };
		} else {
			break;
		}
	}
	return NULL;
}

static struct error *select_join_captured(struct finder *f, struct value closure,
                                          const struct member *m, struct value *ret)
{
	*ret = (struct value){ m->type, closure.addr + m->offset };
	return select_join_follow(f, ret);
}

/* Reads which arms of a tokio::select! are finished or disabled: one bit each. */
static struct error *read_disabled(struct finder *f, struct value closure, uint64_t *mask,
                                   bool *is_select)
{
	const struct member *m = type_member(closure.type, "_ref__disabled");
	struct value place;

	m = m ? m : type_member(closure.type, "disabled");
	*is_select = m != NULL;
	*mask = 0;
	if (!m)
		return NULL;
	TRY(select_join_captured(f, closure, m, &place));
	return value_uint(f->d->c->in->target, place, mask);
}

/* Adds the arms of a select! or join!: a tuple of futures in the coroutine itself. */
static struct error *find_arms(struct finder *f, struct value tuple, uint64_t disabled,
                               bool is_select)
{
	size_t n;
	const struct member *arms = type_members(tuple.type, &n);

	for (size_t i = 0; i < n; i++) {
		struct finder arm = *f;

		if (!arms[i].type)
			continue;
		struct value v = { arms[i].type, tuple.addr + arms[i].offset };
		arm.edge = arena_printf(f->d->c->a, "%s arm %zu", is_select ? "select" : "join", i);
		if (is_select && i < 64 && disabled >> i & 1)
			arm.branch = BRANCH_DISABLED;
		/* select! polls each arm as it is, so it is a future; join! wraps it in MaybeDone.
		 */
		if (is_select)
			combinator_found(&arm, v, arm.edge);
		else
			TRY(combinator_find_futures(&arm, v, 0));
	}
	return NULL;
}

static bool holds_futures(struct inspector *in, const struct type *t)
{
	return combinator_is_maybe_done(t) || future_is_or_has_polled(in, t);
}

struct error *select_join_captures(struct finder *f, struct value poll_fn, value_vec *ret)
{
	const struct member *m = type_single_member(poll_fn.type), *members;
	struct value closure = { m->type, poll_fn.addr + m->offset };
	size_t n;

	members = type_members(closure.type, &n);
	for (size_t i = 0; i < n; i++) {
		struct value v;

		if (!members[i].type || type_size(members[i].type) == 0)
			continue;
		TRY(select_join_captured(f, closure, &members[i], &v));
		if (leaf_is_resource(v.type) || !holds_futures(f->d->c->in, v.type))
			*vec_push(ret) = v;
	}
	return NULL;
}

/* ---- futures::select! ---- */

enum { YES = 1, NO };

static unsigned count_generics(const char *name)
{
	unsigned n = 0;
	int depth = 0;

	for (; *name; name++) {
		if (*name == '<' || *name == '(' || *name == '[')
			n += ++depth == 1;
		else if (*name == ')' || *name == ']' || (*name == '>' && name[-1] != '-'))
			depth--;
		else if (*name == ',' && depth == 1)
			n++;
	}
	return n;
}

struct results {
	unsigned arms;
	bool found;
};

static void note_result(const char *name, bool has_code, void *arg)
{
	struct results *r = arg;
	const char *last = qualified_last(name);

	(void)has_code;
	r->found |= count_generics(last + qualified_base_len(last)) == r->arms;
}

/*
 * Whether the closure belongs to a futures::select!. Like other closures, it captures each arm by a
 * reference of its own. It is recognised by the enum __PrivResult, which the macro declares next to
 * the closure, with one type parameter per arm.
 */
static bool is_futures_select(struct inspector *in, const struct type *closure, unsigned arms)
{
	static char known[] = { 0, YES, NO };
	const char *name = type_name(closure), *end = qualified_last(name);
	const char *answer = map_get(&in->selects, (uintptr_t)closure);
	SCRATCH(tmp);

	if (answer)
		return *answer == YES;
	struct results r = { .arms = arms };
	lookup_each_instance(type_module(closure), type_die(closure),
	                     arena_printf(&tmp, "%.*s__PrivResult", (int)(end - name), name),
	                     note_result, &r);
	map_put(&in->selects, (uintptr_t)closure, &known[r.found ? YES : NO]);
	return r.found;
}

void select_join_learn(struct inspector *in, const struct type *poll_fn)
{
	const struct type *closure = type_single_member(poll_fn)->type;
	size_t n;

	type_members(closure, &n);
	is_futures_select(in, closure, (unsigned)n);
}

/* Whether an arm has finished and is not polled any more. Moves *arm to the future itself. */
static struct error *is_finished(struct finder *f, struct value *arm, bool *ret)
{
	const struct variant *active;

	*ret = false;
	TRY(select_join_follow(f, arm));
	const struct member *inner = type_member(arm->type, "inner");
	if (!type_is(arm->type, "futures_util::future::future::fuse::Fuse") || !inner ||
	    type_kind(inner->type) != TYPE_ENUM)
		return NULL;
	TRY(value_variant(f->d->c->in->target,
	                  (struct value){ inner->type, arm->addr + inner->offset }, &active));
	*ret = active->name && strcmp(active->name, "None") == 0;
	return NULL;
}

/* If the closure belongs to a select!, makes the futures that it captured the select's arms. */
static struct error *number_arms(struct finder *f, struct value closure, size_t first)
{
	unsigned n = (unsigned)(f->out->n - first);

	if (n == 0 || !is_futures_select(f->d->c->in, closure.type, n))
		return NULL;
	for (unsigned i = 0; i < n; i++) {
		struct child *c = &f->out->data[first + i];
		struct value arm = c->v;
		bool finished;

		c->edge = arena_printf(f->d->c->a, "select arm %u", i);
		TRY(is_finished(f, &arm, &finished));
		if (!finished)
			continue;
		c->branch = BRANCH_DISABLED;
		c->v = (struct value){ arm.type, 0 };
	}
	return NULL;
}

struct error *select_join_find(struct finder *f, struct value poll_fn)
{
	const struct member *m = type_single_member(poll_fn.type), *members;
	struct value closure = { m->type, poll_fn.addr + m->offset };
	uint64_t disabled;
	unsigned arm = 0;
	bool is_select, tuple = false;
	size_t n, first = f->out->n;

	TRY(read_disabled(f, closure, &disabled, &is_select));
	members = type_members(closure.type, &n);
	for (size_t i = 0; i < n; i++) {
		struct value v = { members[i].type, closure.addr + members[i].offset }, place;
		struct finder each = *f;

		if (!v.type || type_size(v.type) == 0)
			continue;
		each.edge = "await";
		TRY(select_join_captured(f, closure, &members[i], &place));
		if (leaf_is_resource(place.type))
			continue; /* see select_join_captures() */
		if (type_name(place.type)[0] == '(') {
			tuple = true;
			TRY(find_arms(&each, place, disabled, is_select));
			continue;
		}
		/* futures::join! captures each arm by a reference of its own, not as a tuple. */
		if (combinator_is_maybe_done(place.type))
			each.edge = arena_printf(f->d->c->a, "join arm %u", arm++);
		else if (future_is_type(f->d->c->in, v.type) ||
		         future_is_stream(f->d->c->in, v.type))
			place = v;
		TRY(combinator_find_futures(&each, place, 0));
	}
	return tuple || arm ? NULL : number_arms(f, closure, first);
}
