/*
 * Futures that poll other futures. The general rule follows the types: a struct or the active
 * variant of an enum polls the future that it holds. A row of the table names the members
 * where the rule would not see, or would see too much.
 */
#include <string.h>

#include "dwarf/path.h"
#include "runtimes/future.h"

enum { MAX_MEMBER_DEPTH = 4, MAX_PATHS = 2 };

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

	if (depth > MAX_MEMBER_DEPTH)
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
	size_t n, max;
};

static void add(struct found *out, struct value v)
{
	if (out->n < out->max)
		out->values[out->n] = v;
	out->n++;
}

static struct error *find_in(struct decoder *d, struct value v, struct found *out, int depth);

static struct error *find_in_member(struct decoder *d, struct value v, struct found *out,
                                    int depth)
{
	enum type_kind kind = type_kind(v.type);

	if (future_is_type(d->c->in, v.type)) {
		add(out, v);
		return NULL;
	}
	/* Only what lies inside the value itself: a pointer may lead to what others poll. */
	if ((kind == TYPE_STRUCT || kind == TYPE_ENUM) && depth < MAX_MEMBER_DEPTH)
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
	SCRATCH(tmp);

	for (size_t i = 0; i < MAX_PATHS && table[row].children[i]; i++) {
		const struct path *p;
		struct value child;
		bool found;

		TRY(path_resolve(&tmp, v.type, table[row].children[i], &p));
		TRY(path_eval(d->c->in->target, p, v, &child, &found));
		if (found)
			add(out, child);
	}
	return NULL;
}

struct error *combinator_children(struct decoder *d, struct value v, struct value *ret,
                                  size_t max, size_t *nret)
{
	struct found out = { ret, 0, max };
	size_t row;

	*nret = 0;
	if (has_row(v.type, &row)) {
		TRY(children_of_row(d, v, row, &out));
	} else {
		TRY(find_in(d, v, &out, 0));
		/* Which of several it polls now is not in its type: one is sure, two are not. */
		if (out.n > 1)
			return error_new(ERR_UNSUPPORTED,
			                 "it holds %zu futures; which of them it polls is not decoded",
			                 out.n);
	}
	*nret = out.n < max ? out.n : max;
	return NULL;
}
