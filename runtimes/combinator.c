/*
 * Futures that poll other futures. The general rule follows the types: a struct or the active
 * variant of an enum polls the future that it holds. A row of the table names the members
 * where the rule would not see, or would see too much.
 */
#include <string.h>

#include "dwarf/path.h"
#include "runtimes/future.h"
#include "runtimes/leaf.h"

enum {
	MAX_POINTERS = 4,      /* one behind another */
	MAX_MEMBER_DEPTH = 12, /* structs inside structs: hyper's connections are 8 deep */
	MAX_PATHS = 2,
};

static const struct {
	const char *type;
	const char *children[MAX_PATHS]; /* paths from the type; in order of polling */
} table[] = {
	{ "tokio::time::timeout::Timeout", { "value", "delay" } },
	{ "tracing::instrument::Instrumented", { "inner" } },
	{ "tokio::task::coop::unconstrained::Unconstrained", { "inner" } },
	{ "tokio::task::unconstrained::Unconstrained", { "inner" } },
	{ "tokio::task::task_local::TaskLocalFuture", { "future.Some.0" } },
};

/* Futures that drive tasks of their own, which are no children. */
static const struct {
	const char *type, *note;
} left_out_table[] = {
	{ "tokio::task::local::RunUntil", "the tasks of a LocalSet are not listed yet" },
	{ "tokio::task::local::LocalSet", "the tasks of a LocalSet are not listed yet" },
};

const char *combinator_leaves_out(const struct type *t)
{
	for (size_t i = 0; i < sizeof(left_out_table) / sizeof(left_out_table[0]); i++) {
		if (type_is(t, left_out_table[i].type))
			return left_out_table[i].note;
	}
	return NULL;
}

static bool has_row(const struct type *t, size_t *row)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (type_is(t, table[i].type)) {
			*row = i;
			return true;
		}
	}
	return false;
}

static bool is_future(struct inspector *in, const struct type *t, int depth);

/* Pin<P>, Box<F>, &mut F: a future when what they point at is one. */
static bool points_at_future(struct inspector *in, const struct type *t, int depth)
{
	const char *name = type_name(t);

	if (type_kind(t) == TYPE_POINTER) {
		const struct type *target = type_target(t);
		bool owns = strncmp(name, "alloc::boxed::Box<", 18) == 0;
		bool borrows = strncmp(name, "&mut ", 5) == 0;

		return (owns || borrows) && target && is_future(in, target, depth + 1);
	}
	if (type_is(t, "core::pin::Pin")) {
		const struct member *m = type_single_member(t);

		return m && is_future(in, m->type, depth + 1);
	}
	return false;
}

static bool is_future(struct inspector *in, const struct type *t, int depth)
{
	size_t row;
	void *known;

	if (depth > MAX_POINTERS)
		return false;
	if (map_has(&in->futures, (uintptr_t)t)) {
		known = map_get(&in->futures, (uintptr_t)t);
		return known != NULL;
	}
	/* A type that holds itself behind a pointer must not ask for itself. */
	map_put(&in->futures, (uintptr_t)t, NULL);
	bool is = type_is_coroutine(t) || leaf_is_known(t) || has_row(t, &row) ||
	          points_at_future(in, t, depth) ||
	          type_is(t, "core::future::from_generator::GenFuture");
	if (!is && type_is_dyn(t))
		is = strstr(type_name(t), "core::future::future::Future") != NULL;
	if (!is && (type_kind(t) == TYPE_STRUCT || type_kind(t) == TYPE_ENUM))
		is = lookup_has_poll(t);
	map_put(&in->futures, (uintptr_t)t, is ? in : NULL);
	return is;
}

bool future_is_type(struct inspector *in, const struct type *t)
{
	return is_future(in, t, 0);
}

struct found {
	struct value *values;
	const char **edges;
	size_t n, max;
};

static void add(struct found *out, struct value v, const char *edge)
{
	if (out->n < out->max) {
		out->values[out->n] = v;
		out->edges[out->n] = edge;
	}
	out->n++;
}

static bool is_closure(const struct type *t)
{
	return strstr(type_name(t), "{closure_env#") != NULL;
}

static struct error *find_in(struct decoder *d, struct value v, struct found *out, int depth);

/* T of an Option<T> that lies behind Pin and Box or nothing, when T is a future; else NULL. */
static const struct type *optional_future(struct inspector *in, const struct type *t)
{
	for (int hop = 0; t && hop < MAX_POINTERS; hop++) {
		const struct variant *some = NULL;
		const struct member *m;

		if (type_is(t, "core::option::Option"))
			some = type_variant(t, "Some");
		if (some) {
			m = type_single_member(some->payload);
			return m && future_is_type(in, m->type) ? m->type : NULL;
		}
		if (type_is(t, "core::pin::Pin") && (m = type_single_member(t)))
			t = m->type;
		else if (type_kind(t) == TYPE_POINTER &&
		         strncmp(type_name(t), "alloc::boxed::Box<", 18) == 0)
			t = type_target(t);
		else
			return NULL;
	}
	return NULL;
}

/* Adds what an optional_future() holds: nothing for None. */
static struct error *find_optional(struct decoder *d, struct value v, struct found *out)
{
	const struct path *some;
	struct value future;
	bool found;

	TRY(inspector_path(d->c->in, v.type, "Some.0", &some));
	TRY(path_eval(d->c->in->target, some, v, &future, &found));
	if (found)
		add(out, future, "holds");
	return NULL;
}

static bool holds_future(struct inspector *in, const struct type *t, int depth);

static bool members_hold_future(struct inspector *in, const struct type *t, int depth)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		const struct type *m = members[i].type;

		if (m && type_size(m) &&
		    (future_is_type(in, m) || optional_future(in, m) ||
		     holds_future(in, m, depth + 1)))
			return true;
	}
	return false;
}

/* Does a value of this type have a future somewhere inside itself? Asked once per type. */
static bool holds_future(struct inspector *in, const struct type *t, int depth)
{
	enum type_kind kind = type_kind(t);
	bool holds = false;
	size_t n;

	if ((kind != TYPE_STRUCT && kind != TYPE_ENUM) || depth > MAX_MEMBER_DEPTH)
		return false;
	if (map_has(&in->holders, (uintptr_t)t))
		return map_get(&in->holders, (uintptr_t)t) != NULL;
	if (kind == TYPE_STRUCT) {
		holds = members_hold_future(in, t, depth);
	} else {
		const struct variant *variants = type_variants(t, &n);

		for (size_t i = 0; i < n && !holds; i++)
			holds = variants[i].payload &&
			        members_hold_future(in, variants[i].payload, depth + 1);
	}
	map_put(&in->holders, (uintptr_t)t, holds ? in : NULL);
	return holds;
}

static struct error *find_in_member(struct decoder *d, struct value v, struct found *out, int depth)
{
	struct inspector *in = d->c->in;

	if (future_is_type(in, v.type))
		add(out, v, "holds");
	else if (optional_future(in, v.type))
		return find_optional(d, v, out);
	/* Only what lies inside the value itself: a pointer may lead to what others poll. */
	else if (depth < MAX_MEMBER_DEPTH && holds_future(in, v.type, 0))
		return find_in(d, v, out, depth + 1);
	return NULL;
}

static struct error *find_in(struct decoder *d, struct value v, struct found *out, int depth)
{
	const struct member *members;
	size_t n;

	if (type_kind(v.type) == TYPE_ENUM) {
		const struct variant *active;

		TRY(value_variant(d->c->in->target, v, &active));
		v = value_payload(v, active);
	}
	members = type_members(v.type, &n);
	for (size_t i = 0; i < n; i++) {
		if (!members[i].type || type_size(members[i].type) == 0)
			continue;
		TRY(find_in_member(d, (struct value){ members[i].type, v.addr + members[i].offset },
		                   out, depth));
	}
	return NULL;
}

static struct error *children_of_row(struct decoder *d, struct value v, size_t row,
                                     struct found *out)
{
	for (size_t i = 0; i < MAX_PATHS && table[row].children[i]; i++) {
		const struct path *p;
		struct value child;
		bool found;

		TRY(inspector_path(d->c->in, v.type, table[row].children[i], &p));
		TRY(path_eval(d->c->in->target, p, v, &child, &found));
		if (!found)
			continue;
		size_t before = out->n;
		TRY(find_in_member(d, child, out, 0));
		for (size_t j = before; j < out->n && j < out->max; j++)
			out->edges[j] = "await";
	}
	return NULL;
}

/* The place a captured reference leads to (futures::join! pins it, so through a Pin too). */
static struct error *captured(struct decoder *d, struct value closure, const struct member *m,
                              struct value *ret)
{
	*ret = (struct value){ m->type, closure.addr + m->offset };
	for (int hop = 0; hop < MAX_POINTERS; hop++) {
		const struct member *pin =
			type_is(ret->type, "core::pin::Pin") ? type_single_member(ret->type) : NULL;

		if (pin) {
			*ret = (struct value){ pin->type, ret->addr + pin->offset };
		} else if (type_kind(ret->type) == TYPE_POINTER && type_target(ret->type)) {
			TRY(target_read_uint(d->c->in->target, ret->addr, 8, &ret->addr));
			ret->type = type_target(ret->type);
		} else {
			break;
		}
	}
	return NULL;
}

/* Which arms of a tokio::select! are finished or switched off: one bit each. */
static struct error *read_disabled(struct decoder *d, struct value closure, uint64_t *mask,
                                   bool *is_select)
{
	const struct member *m = type_member(closure.type, "_ref__disabled");
	struct value place;

	m = m ? m : type_member(closure.type, "disabled");
	*is_select = m != NULL;
	*mask = 0;
	if (!m)
		return NULL;
	TRY(captured(d, closure, m, &place));
	return value_uint(d->c->in->target, place, mask);
}

/* The arms of select! and join!: a tuple of futures that lies in the coroutine itself. */
static struct error *children_of_tuple(struct decoder *d, struct value tuple, uint64_t disabled,
                                       bool is_select, struct found *out)
{
	size_t n;
	const struct member *arms = type_members(tuple.type, &n);

	for (size_t i = 0; i < n; i++) {
		size_t before = out->n;

		if (!arms[i].type || (is_select && i < 64 && disabled >> i & 1))
			continue;
		struct value arm = { arms[i].type, tuple.addr + arms[i].offset };
		/* What select! polls is a future by its making; join! wraps it in a MaybeDone. */
		if (is_select)
			add(out, arm, NULL);
		else
			TRY(find_in_member(d, arm, out, 0));
		for (size_t j = before; j < out->n && j < out->max; j++)
			out->edges[j] = arena_printf(d->c->a, "%s arm %zu",
			                             is_select ? "select" : "join", i);
	}
	return NULL;
}

/* poll_fn(closure): what the closure captured, by reference or by value. */
static struct error *children_of_closure(struct decoder *d, struct value closure, struct found *out)
{
	const struct member *members;
	uint64_t disabled;
	bool is_select;
	size_t n;

	TRY(read_disabled(d, closure, &disabled, &is_select));
	members = type_members(closure.type, &n);
	for (size_t i = 0; i < n; i++) {
		struct value place;

		if (!members[i].type || type_size(members[i].type) == 0)
			continue;
		if (future_is_type(d->c->in, members[i].type)) {
			add(out,
			    (struct value){ members[i].type, closure.addr + members[i].offset },
			    "await");
			continue;
		}
		TRY(captured(d, closure, &members[i], &place));
		if (type_name(place.type)[0] == '(')
			TRY(children_of_tuple(d, place, disabled, is_select, out));
		else
			TRY(find_in_member(d, place, out, MAX_MEMBER_DEPTH - 2));
	}
	return NULL;
}

static bool is_poll_fn(const struct type *t)
{
	return type_is(t, "core::future::poll_fn::PollFn") ||
	       type_is(t, "tokio::future::poll_fn::PollFn") ||
	       type_is(t, "futures_util::future::poll_fn::PollFn");
}

struct error *combinator_children(struct decoder *d, struct value v, struct value *ret,
                                  const char **edges, size_t max, size_t *nret)
{
	struct found out = { ret, edges, 0, max };
	const struct member *closure = is_poll_fn(v.type) ? type_single_member(v.type) : NULL;
	size_t row;

	*nret = 0;
	if (has_row(v.type, &row))
		TRY(children_of_row(d, v, row, &out));
	else if (closure && is_closure(closure->type))
		TRY(children_of_closure(
			d, (struct value){ closure->type, v.addr + closure->offset }, &out));
	else
		TRY(find_in(d, v, &out, 0));
	*nret = out.n < max ? out.n : max;
	if (out.n > max)
		return error_new(ERR_UNSUPPORTED, "it holds %zu futures, %zu are shown", out.n,
		                 max);
	return NULL;
}
