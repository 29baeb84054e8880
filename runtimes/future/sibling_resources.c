#include "runtimes/future/sibling_resources.h"

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
	for (size_t i = 0; i < c->decoding.regions.n; i++) {
		const struct future_region *r = &c->decoding.regions.data[i];

		if (i < region ? r->addr == v.addr && r->type == v.type
		               : v.addr - r->addr < r->size)
			return true;
	}
	return false;
}

static void sibling_note(sibling_futures *r, struct decoder *d, size_t region,
                         struct sibling_future future)
{
	struct future ignored = { 0 };
	struct value v = future.v;

	struct error *err = future_strip(d, &v, &ignored);
	bool known = !err && !is_decoded(d->c, region, v);
	error_free(err);
	if (known)
		*vec_push(r) = future;
}

void sibling_note_future(sibling_futures *r, struct decoder *d, size_t region,
                         const struct reached *at)
{
	sibling_note(r, d, region, (struct sibling_future){ .v = at->v, .shared = !at->exclusive });
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

void sibling_note_stream(sibling_futures *r, struct decoder *d, size_t region,
                         const struct reached *at)
{
	const bool set = futures_unordered_is_type(at->v.type);

	if ((at->exclusive || set) && (!set || has_new_future(d, region, at->v)))
		sibling_note(
			r, d, region,
			(struct sibling_future){ at->v, .stream = true, .shared = !at->exclusive });
}

/*
 * Whether the task may wait for one of the leaves. A task that is not woken has a waker in each
 * leaf that its last poll reached; a woken one need not.
 */
static bool may_wait(const struct decoder *d, const struct future *f)
{
	if (f->wait && (!d->idle || f->wait->armed != WAKER_REGISTERED_NO))
		return true;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED && may_wait(d, f->children[i]))
			return true;
	}
	return false;
}

bool sibling_has_our_waker(const struct future *f)
{
	if (f->wait && f->wait->armed == WAKER_REGISTERED_YES)
		return true;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED &&
		    sibling_has_our_waker(f->children[i]))
			return true;
	}
	return false;
}

void sibling_decode_futures(struct decoder *d, const sibling_futures *r, frame_vec *list)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct sibling_future *noted = &r->data[i];
		bool complete = d->c->out->complete;

		d->stream = noted->stream;
		struct future *f = future_decode(d, noted->v);

		f->edge = noted->shared ? "waits" : "holds";
		if (noted->shared ? sibling_has_our_waker(f) : may_wait(d, f))
			*vec_push(list) = f;
		else
			d->c->out->complete =
				complete; /* the answer has no place for its problem */
	}
}

struct sibling_search {
	struct decoder *d;
	size_t region; /* see sibling_resources_add() */
	frame_vec sure, unsure;
	VEC(size_t) wakers; /* places that hold this task's waker, by index of the walk */
	sibling_futures futures;
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
		if (type_class_of(list[list[i].from].v.type)->forms.erased)
			return true;
	}
	return false;
}

/*
 * Whether the walk skips this value. Futures were decoded as children, or are noted. Streams are
 * noted only where no rule can have found them: who holds several need not poll all. A closure is
 * called, not polled. The costly search for poll functions is made only for exclusive values.
 */
static bool is_reported_elsewhere(struct sibling_search *b, const struct reached *at, size_t index)
{
	const struct type_class *type_class = type_class_of(at->v.type);
	const bool set = futures_unordered_is_type(at->v.type);
	struct inspector *in = b->d->c->in;

	if (type_class->forms.maybe_done || is_closure(at->v.type))
		return true;
	if (set || (!type_class->forms.coroutine && !type_class->rows.leaf)) {
		if (!set && !at->exclusive)
			return false;
		if (set || future_is_stream(in, at->v.type)) {
			if (is_in_object(at - index, index))
				sibling_note_stream(&b->futures, b->d, b->region, at);
			return true;
		}
		if (!future_is_type(in, at->v.type))
			return false;
	}
	sibling_note_future(&b->futures, b->d, b->region, at);
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

/*
 * Whether list[index] is in a value whose type the program chose for a generic type, list[outer]:
 * in the Unblock of a Mutex<Unblock>, which is not of the mutex's crate.
 */
static bool is_in_contents(const struct reached *list, size_t index, size_t outer)
{
	size_t n;
	const struct type_param *params = type_params(list[outer].v.type, &n);

	for (size_t i = index; i != outer; i = list[i].from) {
		for (size_t k = 0; k < n; k++) {
			if (params[k].type == list[i].v.type)
				return true;
		}
	}
	return false;
}

bool sibling_is_covered(const struct reached *list, size_t index)
{
	for (size_t i = index; i; i = list[i].from) {
		if (is_of_a_known_crate(list[i].v.type) && !is_atomic_waker(list[i].v.type) &&
		    !is_in_contents(list, index, i))
			return true;
	}
	return false;
}

/* Whether the waker at addr is inside a future below f, or was reported already. */
static bool is_known_waker(const struct sibling_search *b, uint64_t addr)
{
	const struct collector *c = b->d->c;

	for (size_t i = b->region; i < c->decoding.regions.n; i++) {
		if (addr - c->decoding.regions.data[i].addr < c->decoding.regions.data[i].size)
			return true;
	}
	for (size_t i = 0; i < c->decoding.reported_wakers.n; i++) {
		if (c->decoding.reported_wakers.data[i] == addr)
			return true;
	}
	return false;
}

static void sibling_note_waker(struct sibling_search *b, const struct reached *at, size_t index)
{
	struct waker w;
	struct error *err = waker_read(b->d->c, at->v, &w);

	if (!err && b->d->waker && w.data == b->d->waker &&
	    !sibling_is_covered(at - index, index) && !is_known_waker(b, at->v.addr))
		*vec_push(&b->wakers) = index;
	error_free(err);
}

/* Whether to look for others inside it. */
static bool note_resource(struct sibling_search *b, const struct reached *at)
{
	struct future *f = object_walk_resource(b->d->c, at->v);
	enum resource_waker waker = leaf_decode_resource(b->d, at->v, f);

	if (waker != WAKER_OURS && type_class_of(at->v.type)->rows.resource->passage)
		return true;
	if (waker == WAKER_OURS) {
		*vec_push(&b->sure) = f;
	} else if (at->exclusive && !(b->d->idle && waker == WAKER_NONE)) {
		f->edge = "holds";
		*vec_push(&b->unsure) = f;
	}
	return false;
}

static bool sibling_look(const struct reached *at, size_t index, void *arg)
{
	struct sibling_search *b = arg;

	if (is_reported_elsewhere(b, at, index))
		return false;
	if (type_class_of(at->v.type)->forms.waker) {
		sibling_note_waker(b, at, index);
		return false;
	}
	if (!leaf_is_resource(at->v.type))
		return true;
	return note_resource(b, at);
}

static bool sibling_waits_for(const struct future *f, uint64_t object)
{
	bool waits = f->wait && f->wait->object == object;

	for (size_t i = 0; i < f->nchildren && !waits; i++)
		waits = sibling_waits_for(f->children[i], object);
	return waits;
}

void sibling_resources_keep_new(const struct future *f, frame_vec *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct wait *w = list->data[i]->wait;
		bool known = !w || sibling_waits_for(f, w->object);

		for (size_t j = 0; j < kept && !known; j++)
			known = list->data[j]->wait->object == w->object;
		if (!known)
			list->data[kept++] = list->data[i];
	}
	list->n = kept;
}

/* Makes one leaf for all places that hold the task's waker. */
static struct future *waker_leaf(struct sibling_search *b, const struct reach *r)
{
	struct future *f = object_walk_resource(b->d->c, r->list[b->wakers.data[0]].v);

	object_walk_report_wakers(b->d, r, b->wakers.data, b->wakers.n, f);
	return f;
}

static void sibling_append(struct future **children, size_t *n, const frame_vec *list)
{
	for (size_t i = 0; i < list->n; i++)
		children[(*n)++] = list->data[i];
}

/* Appends what was found to f's children. waker: NULL: none. */
static void add_found(struct sibling_search *b, struct future *f, const frame_vec *futures,
                      struct future *waker)
{
	size_t n = f->nchildren;
	struct future **children = NEW_ARRAY(b->d->c->a, struct future *,
	                                     n + b->sure.n + b->unsure.n + futures->n + 1);

	for (size_t i = 0; i < n; i++)
		children[i] = f->children[i];
	sibling_append(children, &n, &b->sure);
	sibling_append(children, &n, futures);
	if (waker)
		children[n++] = waker;
	sibling_append(children, &n, &b->unsure);
	f->wraps = f->wraps && n == f->nchildren + b->unsure.n;
	f->children = children;
	f->nchildren = (unsigned)n;
}

const char *sibling_resources_add(struct decoder *d, struct value v, struct future *f,
                                  size_t region)
{
	struct sibling_search b = { .d = d, .region = region };
	struct future *waker = NULL;
	frame_vec futures = { 0 };
	struct reach r;

	object_walk_near(d->c, v, sibling_look, &b, &r);
	/* A library's wrapper, such as Abortable, may store its waker: that is no wait of its own.
	 */
	if (!f->wraps && b.wakers.n)
		waker = waker_leaf(&b, &r);
	sibling_resources_keep_new(f, &b.sure);
	sibling_resources_keep_new(f, &b.unsure);
	sibling_decode_futures(d, &b.futures, &futures);
	if (b.sure.n + b.unsure.n + futures.n || waker)
		add_found(&b, f, &futures, waker);
	vec_free(&futures);
	vec_free(&b.sure);
	vec_free(&b.unsure);
	vec_free(&b.wakers);
	vec_free(&b.futures);
	return r.hidden ? r.hidden : r.limit;
}
