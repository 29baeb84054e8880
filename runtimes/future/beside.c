#include "runtimes/future/beside.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "runtimes/common/type_class.h"
#include "runtimes/common/waker.h"
#include "runtimes/future/combinator.h"
#include "runtimes/future/leaf.h"
#include "runtimes/model/names.h"

/*
 * Whether it is in a future that was decoded since that region, or is one that was decoded before,
 * such as the coroutine to which a `&mut` leads back.
 */
static bool is_decoded(const struct collector *c, size_t region, struct value v)
{
	for (size_t i = 0; i < c->regions.n; i++) {
		const struct future_region *r = &c->regions.data[i];

		if (i < region ? r->addr == v.addr && r->type == v.type
		               : v.addr - r->addr < r->size)
			return true;
	}
	return false;
}

static void note(beside_futures *r, struct decoder *d, size_t region, struct beside_future future)
{
	struct future ignored = { 0 };
	struct value v = future.v;

	struct error *err = future_strip(d, &v, &ignored);
	bool known = !err && !is_decoded(d->c, region, v);
	error_free(err);
	if (known)
		*vec_push(r) = future;
}

void beside_note_future(beside_futures *r, struct decoder *d, size_t region,
                        const struct reached *at)
{
	if (at->exclusive)
		note(r, d, region, (struct beside_future){ .v = at->v });
}

void beside_note_shared(beside_futures *r, struct decoder *d, size_t region,
                        const struct reached *at)
{
	note(r, d, region, (struct beside_future){ .v = at->v, .shared = true });
}

/* Whether a set has a future that was not decoded. The set itself is no frame where it is polled.
 */
static bool has_new_future(struct decoder *d, size_t region, struct value set)
{
	child_vec children = { 0 };
	struct finder finder = {
		.d = d, .out = &children, .edge = branch_name(BRANCH_HELD), .branch = BRANCH_HELD
	};
	bool is_new = false;

	error_free(futures_unordered_find(&finder, set));
	for (size_t i = 0; i < children.n && !is_new; i++) {
		struct future ignored = { 0 };
		struct value v = children.data[i].v;
		struct error *err = future_strip(d, &v, &ignored);

		is_new = !err && !is_decoded(d->c, region, v);
		error_free(err);
	}
	vec_free(&children);
	return is_new;
}

void beside_note_stream(beside_futures *r, struct decoder *d, size_t region,
                        const struct reached *at)
{
	if (at->exclusive &&
	    (!futures_unordered_is_type(at->v.type) || has_new_future(d, region, at->v)))
		note(r, d, region, (struct beside_future){ .v = at->v, .stream = true });
}

/*
 * Whether the task may wait for one of the leaves. A task that is not woken has a waker in each
 * leaf that its last poll reached; a woken one need not.
 */
static bool may_wait(const struct decoder *d, const struct future *f)
{
	if (f->wait && (!d->idle || f->wait->armed != ARMED_NO))
		return true;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED && may_wait(d, f->children[i]))
			return true;
	}
	return false;
}

/* Whether a leaf has the waker of the task. */
static bool has_our_waker(const struct future *f)
{
	if (f->wait && f->wait->armed == ARMED_YES)
		return true;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED && has_our_waker(f->children[i]))
			return true;
	}
	return false;
}

void beside_decode_futures(struct decoder *d, const beside_futures *r, frame_vec *list)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct beside_future *noted = &r->data[i];
		bool complete = d->c->out->complete;

		d->stream = noted->stream;
		struct future *f = future_decode(d, noted->v);

		f->edge = noted->shared ? "waits" : "holds";
		if (noted->shared ? has_our_waker(f) : may_wait(d, f))
			*vec_push(list) = f;
		else
			d->c->out->complete =
				complete; /* the answer has no place for its problem */
	}
}

struct beside_search {
	struct decoder *d;
	size_t region; /* see beside_add() */
	frame_vec sure, unsure;
	VEC(size_t) wakers; /* places that hold this task's waker, by index of the walk */
	beside_futures futures;
};

static bool is_closure(const struct type *t)
{
	const char *name = type_name(t), *found = strstr(name, "{closure_env#");

	return found && (size_t)(found - name) < strcspn(name, "<");
}

/*
 * Whether a value lies in a trait object that is no stream itself: no rule of a combinator enters
 * one.
 */
static bool is_in_object(const struct reached *list, size_t index)
{
	for (size_t i = list[index].from; i; i = list[i].from) {
		if (type_class_of(list[list[i].from].v.type)->erased)
			return true;
	}
	return false;
}

/*
 * Whether the walk skips this value. Futures were decoded as children, or are noted, if only this
 * future can poll them. Streams are noted only where no rule can have found them: who holds several
 * need not poll all. A closure is called, not polled. The costly search for poll functions is made
 * only for exclusive values.
 */
static bool is_reported_elsewhere(struct beside_search *b, const struct reached *at, size_t index)
{
	const struct type_class *type_class = type_class_of(at->v.type);
	const bool set = futures_unordered_is_type(at->v.type);
	struct inspector *in = b->d->c->in;

	if (type_class->maybe_done || is_closure(at->v.type))
		return true;
	if (set || (!type_class->coroutine && !type_class->leaf)) {
		if (!set && !at->exclusive)
			return false;
		if (set || future_is_stream(in, at->v.type)) {
			if (is_in_object(at - index, index))
				beside_note_stream(&b->futures, b->d, b->region, at);
			return true;
		}
		if (!future_is_type(in, at->v.type))
			return false;
	}
	beside_note_future(&b->futures, b->d, b->region, at);
	return true;
}

static bool is_of_a_known_crate(const struct type *t)
{
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		if ((*crate)->leaves && str_begins(type_name(t), (*crate)->path))
			return true;
	}
	return false;
}

/* A cell for a waker, of any crate: the future around it may be the program's own. */
static bool is_atomic_waker(const struct type *t)
{
	return strcmp(qualified_last(type_name(t)), "AtomicWaker") == 0;
}

/* Whether a crate's leaf rows cover the waker: it is inside a type of that crate. */
static bool is_reported_by_leaves(const struct reached *list, size_t index)
{
	for (; index; index = list[index].from) {
		if (is_of_a_known_crate(list[index].v.type) && !is_atomic_waker(list[index].v.type))
			return true;
	}
	return false;
}

/* Whether the waker at addr is inside a future below f, or was reported already. */
static bool is_known_waker(const struct beside_search *b, uint64_t addr)
{
	const struct collector *c = b->d->c;

	for (size_t i = b->region; i < c->regions.n; i++) {
		if (addr - c->regions.data[i].addr < c->regions.data[i].size)
			return true;
	}
	for (size_t i = 0; i < c->reported_wakers.n; i++) {
		if (c->reported_wakers.data[i] == addr)
			return true;
	}
	return false;
}

static void note_waker(struct beside_search *b, const struct reached *at, size_t index)
{
	struct waker w;
	struct error *err = waker_read(b->d->c, at->v, &w);

	if (!err && b->d->waker && w.data == b->d->waker &&
	    !is_reported_by_leaves(at - index, index) && !is_known_waker(b, at->v.addr))
		*vec_push(&b->wakers) = index;
	error_free(err);
}

/* Whether to look for others inside it. */
static bool note_resource(struct beside_search *b, const struct reached *at)
{
	struct future *f = object_walk_resource(b->d->c, at->v);
	enum resource_waker waker = leaf_decode_resource(b->d, at->v, f);

	if (waker != WAKER_OURS && type_class_of(at->v.type)->resource->passage)
		return true;
	if (waker == WAKER_OURS) {
		*vec_push(&b->sure) = f;
	} else if (at->exclusive && !(b->d->idle && waker == WAKER_NONE)) {
		f->edge = "holds";
		*vec_push(&b->unsure) = f;
	}
	return false;
}

static bool look(const struct reached *at, size_t index, void *arg)
{
	struct beside_search *b = arg;

	if (is_reported_elsewhere(b, at, index))
		return false;
	if (type_class_of(at->v.type)->waker) {
		note_waker(b, at, index);
		return false;
	}
	if (!leaf_is_resource(at->v.type))
		return true;
	return note_resource(b, at);
}

static bool waits_for(const struct future *f, uint64_t object)
{
	bool waits = f->wait && f->wait->object == object;

	for (size_t i = 0; i < f->nchildren && !waits; i++)
		waits = waits_for(f->children[i], object);
	return waits;
}

void beside_keep_new(const struct future *f, frame_vec *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct wait *w = list->data[i]->wait;
		bool known = !w || waits_for(f, w->object);

		for (size_t j = 0; j < kept && !known; j++)
			known = list->data[j]->wait->object == w->object;
		if (!known)
			list->data[kept++] = list->data[i];
	}
	list->n = kept;
}

/* One leaf for all places that hold the task's waker. */
static struct future *waker_leaf(struct beside_search *b, const struct reach *r)
{
	struct future *f = object_walk_resource(b->d->c, r->list[b->wakers.data[0]].v);

	object_walk_report_wakers(b->d, r, b->wakers.data, b->wakers.n, f);
	return f;
}

static void append(struct future **children, size_t *n, const frame_vec *list)
{
	for (size_t i = 0; i < list->n; i++)
		children[(*n)++] = list->data[i];
}

/* Appends what was found to f's children. waker: NULL: none. */
static void add_found(struct beside_search *b, struct future *f, const frame_vec *futures,
                      struct future *waker)
{
	size_t n = f->nchildren;
	struct future **children = NEW_ARRAY(b->d->c->a, struct future *,
	                                     n + b->sure.n + b->unsure.n + futures->n + 1);

	for (size_t i = 0; i < n; i++)
		children[i] = f->children[i];
	append(children, &n, &b->sure);
	append(children, &n, futures);
	if (waker)
		children[n++] = waker;
	append(children, &n, &b->unsure);
	f->wraps = f->wraps && n == f->nchildren + b->unsure.n;
	f->children = children;
	f->nchildren = (unsigned)n;
}

const char *beside_add(struct decoder *d, struct value v, struct future *f, size_t region)
{
	struct beside_search b = { .d = d, .region = region };
	struct future *waker = NULL;
	frame_vec futures = { 0 };
	struct reach r;

	object_walk_near(d->c, v, look, &b, &r);
	/* A library's wrapper, such as Abortable, may store its waker: that is no wait of its own.
	 */
	if (!f->wraps && b.wakers.n)
		waker = waker_leaf(&b, &r);
	beside_keep_new(f, &b.sure);
	beside_keep_new(f, &b.unsure);
	beside_decode_futures(d, &b.futures, &futures);
	if (b.sure.n + b.unsure.n + futures.n || waker)
		add_found(&b, f, &futures, waker);
	vec_free(&futures);
	vec_free(&b.sure);
	vec_free(&b.unsure);
	vec_free(&b.wakers);
	vec_free(&b.futures);
	return r.hidden ? r.hidden : r.limit;
}
