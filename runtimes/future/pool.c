#include "runtimes/future/pool.h"

#include <inttypes.h>

#include "debugger/base/str.h"
#include "runtimes/common/type_class.h"

const struct pool_row *pool_find_row(const struct type *t)
{
	const char *name = type_name(t);

	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		for (const struct pool_row *row = (*crate)->pools; row && row->type; row++) {
			if (row->frame && str_begins(name, row->frame))
				return row;
		}
	}
	return NULL;
}

bool pool_is_sent(const struct type *t)
{
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		for (const struct pool_row *row = (*crate)->pools; row && row->type; row++) {
			if (row->sent && type_is(t, row->sent))
				return true;
		}
	}
	return false;
}

struct error *pool_primitive(const struct leaf *l, const struct pool_row *row, struct value object,
                             uint64_t *ret, bool *found)
{
	struct value part, primitive;

	if (row->sent && !leaf_has_path(l, object.type, row->part)) {
		*ret = object.addr;
		*found = true;
		return NULL;
	}
	TRY(leaf_place(l, object, row->part, &part, found));
	if (*found)
		TRY(leaf_strip_to(l, part, row->primitive, &primitive, found));
	if (*found)
		*ret = primitive.addr;
	return NULL;
}

/* The value with the members of a future: of a coroutine those of its current state. */
static struct error *pool_members_of(const struct leaf *l, struct value v, struct value *ret)
{
	const struct variant *active;

	*ret = v;
	if (!type_class_of(v.type)->forms.coroutine)
		return NULL;
	TRY(value_variant(l->d->c->in->target, v, &active));
	if (active->payload)
		*ret = value_payload(v, active);
	return NULL;
}

/* The pool of the row that a future refers to, and its primitive. */
static struct error *read_future(const struct leaf *l, const struct pool_row *row, struct value v,
                                 struct value *object, uint64_t *primitive, bool *found)
{
	struct value frame, reference;

	*found = false;
	TRY(pool_members_of(l, v, &frame));
	if (!leaf_has_path(l, frame.type, row->member))
		return NULL;
	TRY(leaf_place(l, frame, row->member, &reference, found));
	if (*found)
		TRY(leaf_strip_to(l, reference, row->type, object, found));
	return *found ? pool_primitive(l, row, *object, primitive, found) : NULL;
}

/* The object that a leaf waits for: the primitive, or a value of type `sent`. */
struct target_of_wait {
	uint64_t primitive;
	const struct type *sent;
};

static bool pool_waits_for(const struct target_of_wait *t, const struct pool_row *row,
                           struct value object, uint64_t primitive)
{
	if (!t->sent)
		return primitive == t->primitive;
	return row->sent && primitive == object.addr && type_is(t->sent, row->sent);
}

static bool pool_find_by_type(const struct leaf *l, const struct target_of_wait *t,
                              struct pool *ret)
{
	uint64_t n = 0;
	bool any = false;

	for (const struct ancestor *a = l->d->above; a; a = a->up) {
		const struct pool_row *row = type_class_of(a->v.type)->rows.pool;
		uint64_t primitive = 0;
		struct value object;
		bool found = false;

		n++;
		if (!row)
			continue;
		error_free(read_future(l, row, a->v, &object, &primitive, &found));
		if (!found || !pool_waits_for(t, row, object, primitive))
			continue;
		any = true;
		*ret = (struct pool){ .row = row, .object = object, .own_frames = n };
	}
	return any;
}

bool pool_find(const struct leaf *l, uint64_t primitive, struct pool *ret)
{
	return pool_find_by_type(l, &(struct target_of_wait){ .primitive = primitive }, ret);
}

bool pool_find_sent(const struct leaf *l, const struct type *sent, struct pool *ret)
{
	return pool_find_by_type(l, &(struct target_of_wait){ .sent = sent }, ret);
}

struct error *pool_read(const struct leaf *l, const struct pool_row *row, struct value object,
                        struct pool *ret)
{
	ret->row = row;
	ret->object = object;
	TRY(leaf_uint(l, object, row->size, &ret->size));
	TRY(leaf_uint(l, object, row->idle, &ret->idle));
	TRY(leaf_uint(l, object, row->max, &ret->max));
	ret->opening = 0;
	if (row->opening)
		TRY(leaf_uint(l, object, row->opening, &ret->opening));
	if (ret->opening > UINT32_MAX || ret->size > UINT32_MAX)
		return error_new(ERR_CORRUPT, "a pool cannot have that many connections");
	if (ret->idle > ret->size)
		return error_new(ERR_CORRUPT, "more connections of the pool are idle than exist");
	return NULL;
}

uint64_t pool_in_use(const struct pool *p)
{
	return p->size - p->idle + p->opening;
}

struct error *pool_describe(struct leaf *l, struct pool *p, const char *turn)
{
	const char *limit = "", *opening = "";

	l->w->kind = "pool";
	l->w->object = p->object.addr;
	TRY(pool_read(l, p->row, p->object, p));
	wait_int(l, "size", (int64_t)p->size);
	if (p->max)
		wait_int(l, "max_size", (int64_t)p->max);
	wait_int(l, "idle", (int64_t)p->idle);
	wait_int(l, "in_use", (int64_t)(p->size - p->idle));
	if (p->row->opening)
		wait_int(l, "opening", (int64_t)p->opening);
	if (p->own_frames)
		wait_int(l, "own_frames", (int64_t)p->own_frames);
	if (p->max)
		limit = leaf_text(l, " of %" PRIu64, p->max);
	if (p->opening)
		opening = leaf_text(l, ", %" PRIu64 " being opened", p->opening);
	wait_phrase(l, "pool, %" PRIu64 "%s in use%s%s%s", p->size - p->idle, limit, opening,
	            *turn ? ", " : "", turn);
	return NULL;
}
