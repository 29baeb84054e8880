/* Futures and streams whose table row leads to what they poll. */
#include <string.h>

#include "dwarf/names/qualified.h"
#include "dwarf/values/path.h"
#include "dwarf/values/show.h"
#include "runtimes/common/waker.h"
#include "runtimes/future/combinator.h"

/*
 * Types for which the general rule finds too much or nothing. Paths lead from the type to the
 * futures that it polls, in order of polling.
 */
static const struct combinator_row table[] = {
	{ .type = "tracing::instrument::Instrumented", .children = { { "inner", "await", NULL } } },
	/*
	 * Shared has its future behind an Arc, and the general rule does not follow shared
	 * pointers.
	 */
	{ .type = "futures_util::future::future::shared::Shared",
	  .children = { { "inner.Some.0.future_or_output.Future.0", "await",
	                  "inner.Some.0.notifier" } },
	  .wakers = "inner.Some.0.notifier.wakers.data.Some.0.entries",
	  .index = "waker_key" },
	{ 0 },
};

static const struct combinator_row *combinator_row_find_in(const struct combinator_row *rows,
                                                           const char *name)
{
	for (; rows && rows->type; rows++) {
		if (qualified_is(name, rows->type))
			return rows;
	}
	return NULL;
}

const struct combinator_row *combinator_find_row(const struct type *t)
{
	const struct combinator_row *row = combinator_row_find_in(table, type_name(t));

	for (const struct crate_types *const *crate = crates_of(t); *crate && !row; crate++)
		row = combinator_row_find_in((*crate)->combinators, type_name(t));
	return row;
}

static struct error *find_waker(struct finder *f, struct value v, const char *expr)
{
	struct value arc, data;
	bool there;

	TRY(inspector_eval(f->d->c->in, v, expr, &arc, &there));
	if (!there)
		return NULL;
	TRY(value_shared(f->d->c->in->target, arc, &data));
	f->waker = data.addr;
	return NULL;
}

/* The waker in an entry of a slab: Occupied(Option<Waker>), or Vacant. */
static struct error *combinator_row_read_slot(struct finder *f, struct value entry)
{
	const struct variant *active;
	bool vacant;

	TRY(value_variant(f->d->c->in->target, entry, &active));
	const struct value payload = value_payload(entry, active);
	const struct member *m = payload.type ? type_member(payload.type, "__0") : NULL;
	if (!m || !active->name || strcmp(active->name, "Occupied") != 0)
		return NULL;
	const struct value place = { m->type, payload.addr + m->offset };
	TRY(waker_stored(f->d->c, place, f->d->waker, &f->set_armed, &vacant));
	if (f->set_armed == WAKER_REGISTERED_YES && f->d->in_set)
		f->set_armed = f->d->set_armed;
	return NULL;
}

/* Does a wake-up of the child wake the task? It does if the task's waker is in the slab. */
static struct error *find_slot(struct finder *f, struct value v, const struct combinator_row *row)
{
	struct inspector *in = f->d->c->in;
	struct value index, list;
	struct slice slots;
	uint64_t i;
	bool there, listed;

	TRY(inspector_eval(in, v, row->index, &index, &there));
	TRY(inspector_eval(in, v, row->wakers, &list, &listed));
	if (!there || !listed)
		return NULL;
	TRY(value_uint(in->target, index, &i));
	TRY(value_slice(in->target, list, &slots));
	if (i == UINT64_MAX) /* NULL_WAKER_KEY: it was never polled */
		f->set_armed = WAKER_REGISTERED_NO;
	if (i >= slots.count)
		return NULL;
	return combinator_row_read_slot(
		f, (struct value){ slots.element, slots.addr + i * type_size(slots.element) });
}

/*
 * Timeout<T> is a future only if T is one. So a child whose type is a type parameter of the row's
 * type is a future, and no search for its poll function is needed.
 */
static bool is_param(const struct type *row, const struct type *child)
{
	size_t n;
	const struct type_param *params = type_params(row, &n);

	for (size_t i = 0; i < n; i++) {
		if (params[i].type == child)
			return true;
	}
	return false;
}

/* The first of a pair, if it is a number or the like: text may be private. */
static const struct member *combinator_row_key_of(const struct type *pair)
{
	const struct member *key = type_member(pair, "__0");
	enum type_kind kind = key && key->type ? type_kind(key->type) : TYPE_OPAQUE;

	return (kind >= TYPE_BOOL && kind < TYPE_FLOAT) || kind == TYPE_CENUM ? key : NULL;
}

/* Notes the key of each stream that is in one of the pairs. */
static struct error *note_keys(struct finder *f, struct value v, const char *path)
{
	struct collector *c = f->d->c;
	struct slice pairs;
	struct value list;
	bool there;

	TRY(inspector_eval(c->in, v, path, &list, &there));
	if (!there)
		return NULL;
	TRY(value_slice(c->in->target, list, &pairs));
	const struct member *key = combinator_row_key_of(pairs.element);
	uint64_t size = type_size(pairs.element);
	for (size_t i = 0; key && size && i < f->out->n; i++) {
		uint64_t index = (f->out->data[i].v.addr - pairs.addr) / size;
		struct value k = { key->type, pairs.addr + index * size + key->offset };

		if (f->out->data[i].v.addr >= pairs.addr && index < pairs.count)
			f->out->data[i].note = arena_printf(
				c->a, "key %s",
				show_value(c->in->target, c->in->di, &c->in->show, c->a, k, NULL));
	}
	return NULL;
}

struct error *combinator_row_children(struct finder *f, struct value v,
                                      const struct combinator_row *row)
{
	enum { MAX_PATHS = sizeof(row->children) / sizeof(row->children[0]) };

	for (size_t i = 0; i < MAX_PATHS && row->children[i].path; i++) {
		struct value child;
		bool there;

		TRY(inspector_eval(f->d->c->in, v, row->children[i].path, &child, &there));
		f->edge = row->children[i].edge;
		f->waker = 0;
		f->set_armed = WAKER_REGISTERED_UNKNOWN;
		if (there && row->children[i].waker)
			TRY(find_waker(f, v, row->children[i].waker));
		if (there && row->wakers) /* without it, it remains unknown */
			error_free(find_slot(f, v, row));
		if (!there)
			continue;
		if (!row->stream && is_param(v.type, child.type))
			combinator_found(f, child, f->edge);
		else
			TRY(combinator_find_futures(f, child, 0));
	}
	return row->pairs ? note_keys(f, v, row->pairs) : NULL;
}

const struct sequence_row *combinator_sequence_row(const struct type *t)
{
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		const struct sequence_row *row = (*crate)->sequences;

		for (; row && row->type; row++) {
			if (qualified_is(type_name(t), row->type))
				return row;
		}
	}
	return NULL;
}

/* The number at the end of a path, also where a NonZero is there. */
static struct error *combinator_row_read_number(struct inspector *in, struct value v,
                                                const char *path, uint64_t *ret, bool *there)
{
	struct value number;

	TRY(inspector_eval(in, v, path, &number, there));
	for (int hop = 0; *there && hop < 8 && type_kind(number.type) == TYPE_STRUCT; hop++) {
		const struct member *m = type_single_member(number.type);

		if (!m)
			break;
		number = (struct value){ m->type, number.addr + m->offset };
	}
	return *there ? value_uint(in->target, number, ret) : NULL;
}

/* Whether v polls its stream for no more futures: it has as many as it may have, or that ended. */
static struct error *combinator_row_is_full(const struct finder *f, struct value v,
                                            const struct sequence_row *row, bool *ret)
{
	struct inspector *in = f->d->c->in;
	uint64_t limit = 0, outputs = 0, done = 0;
	value_vec nodes = { 0 };
	struct value set;
	bool there;

	*ret = false;
	if (row->done)
		TRY(combinator_row_read_number(in, v, row->done, &done, &there));
	if (done) {
		*ret = true;
		return NULL;
	}
	TRY(combinator_row_read_number(in, v, row->limit, &limit, &there));
	if (!there)
		return NULL;
	if (row->outputs)
		TRY(combinator_row_read_number(in, v, row->outputs, &outputs, &there));
	TRY(inspector_eval(in, v, row->futures, &set, &there));
	if (!there)
		return NULL;
	struct error *err = futures_unordered_nodes(f->d->c, set, FUTURE_MAX_NODES, &nodes);
	*ret = !err && nodes.n + outputs >= limit;
	vec_free(&nodes);
	return err;
}

/* A version that has other members is read by the general rule. */
static bool has_members(const struct finder *f, struct value v, const struct sequence_row *row)
{
	struct inspector *in = f->d->c->in;

	if (row->first)
		return inspector_optional_path(in, v.type, row->first);
	return inspector_optional_path(in, v.type, row->limit) &&
	       inspector_optional_path(in, v.type, row->futures) &&
	       (!row->done || inspector_optional_path(in, v.type, row->done));
}

const char *combinator_later(const struct finder *f, struct value v, const struct sequence_row *row)
{
	struct value first;
	bool there = false;

	if (!has_members(f, v, row))
		return NULL;
	error_free(row->first ? inspector_eval(f->d->c->in, v, row->first, &first, &there)
	                      : combinator_row_is_full(f, v, row, &there));
	return there ? row->later : NULL;
}
