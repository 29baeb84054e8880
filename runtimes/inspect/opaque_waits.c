#include "runtimes/inspect/opaque_waits.h"

#include <stdlib.h>

#include "debugger/live/fd_info.h"
#include "runtimes/future/leaf_fd.h"
#include "runtimes/future/object_walk.h"

enum { MAX_SHOWN = 3 };

struct opaque_search {
	struct map wakers; /* of the opaque waits */
	VEC(struct registration) hits;
};

static void opaque_waits_note_hit(const struct registration *r, void *arg)
{
	struct opaque_search *s = arg;
	struct registration *last = s->hits.n ? &s->hits.data[s->hits.n - 1] : NULL;

	if (!map_has(&s->wakers, r->waker) || !leaf_fd_interest(r->interest))
		return;
	if (last && last->v.addr == r->v.addr && last->waker == r->waker)
		last->interest |= r->interest;
	else
		*vec_push(&s->hits) = *r;
}

static int by_waker(const void *a, const void *b)
{
	const struct registration *x = a, *y = b;

	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	return x->v.addr < y->v.addr ? -1 : x->v.addr > y->v.addr;
}

/* Removes registrations that leaves of the same trees explain, and sorts the others. */
static void drop_known(struct opaque_search *s, const struct collector *c)
{
	struct map known = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < c->opaque.registrations.n; i++) {
		const struct known_registration *k = &c->opaque.registrations.data[i];

		map_put(&known, map_key_of_pair(k->waker, k->object), s);
	}
	for (size_t i = 0; i < s->hits.n; i++) {
		const struct registration *hit = &s->hits.data[i];

		if (!map_has(&known, map_key_of_pair(hit->waker, hit->v.addr)))
			s->hits.data[n++] = *hit;
	}
	map_free(&known);
	s->hits.n = n;
	if (n)
		qsort(s->hits.data, n, sizeof(struct registration), by_waker);
}

/* The index of the first hit with that waker, if there is one. */
static size_t first_hit(const struct opaque_search *s, uint64_t waker)
{
	size_t low = 0, high = s->hits.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->hits.data[middle].waker < waker)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The descriptor of a registration; -1: unknown, as in a core. */
static int descriptor_of(struct collector *c, const struct registration *hit)
{
	int fd;

	return fd_info_by_epoll_data(c->in->target, hit->v.addr, &fd) ? fd : -1;
}

static void describe_one(const struct leaf *l, const struct registration *hit, unsigned wanted)
{
	unsigned bits = hit->interest & wanted ? hit->interest & wanted : hit->interest;
	const char *what = leaf_fd_interest(bits);
	int fd = descriptor_of(l->d->c, hit);

	wait_string(l, "direction", what);
	if (fd < 0)
		wait_phrase(l, "its waker is registered: %s, descriptor unknown", what);
	else
		wait_phrase(l, "its waker is registered: %s%s%s", what, leaf_fd_describe(l, fd),
		            bits & IO_WRITES ? leaf_fd_send_queue(l, fd) : "");
}

static void describe_several(const struct leaf *l, const struct registration *hits, size_t n)
{
	struct arena *a = l->d->c->a;
	const char **list = NEW_ARRAY(a, const char *, n), *text = "";

	for (size_t i = 0; i < n; i++) {
		const char *what = leaf_fd_interest(hits[i].interest);
		int fd = descriptor_of(l->d->c, &hits[i]);

		list[i] = fd < 0 ? what : arena_printf(a, "fd %d %s", fd, what);
		if (i < MAX_SHOWN)
			text = fd < 0 ? leaf_text(l, "%s%s%s", text, i ? ", " : "", what)
			              : leaf_text(l, "%s%sfd %d %s", text, i ? ", " : "", fd, what);
	}
	wait_list(l, "wakers", list, n);
	if (n > MAX_SHOWN)
		wait_phrase(l, "its waker is registered: %s and %zu others", text, n - MAX_SHOWN);
	else
		wait_phrase(l, "its waker is registered: %s", text);
}

/*
 * The wait that is to be filled: that of the future, or of a frame that is added behind those of
 * the resources that were found in it.
 */
static struct wait *wait_for(struct collector *c, const struct opaque_wait *o, struct value object)
{
	struct future *f = o->f, *frame;
	struct future **all;
	size_t n = 0;

	if (o->unknown && f->wait)
		return f->wait;
	all = NEW_ARRAY(c->a, struct future *, f->nchildren + 2);
	if (o->resource && f->wait) {
		o->resource->wait = f->wait;
		f->wait->within = false;
		f->wait = NULL;
		all[n++] = o->resource;
	}
	for (size_t i = 0; i < f->nchildren; i++)
		all[n++] = f->children[i];
	all[n++] = frame = object_walk_resource(c, object);
	f->children = all;
	f->nchildren = (unsigned)n;
	frame->wait = NEW(c->a, struct wait);
	frame->wait->object = object.addr;
	return frame->wait;
}

static void explain(const struct opaque_search *s, struct collector *c, const struct opaque_wait *o)
{
	struct decoder d = { .c = c, .waker = o->waker, .runtime = NO_RUNTIME };
	struct leaf l = { .d = &d };
	size_t first = first_hit(s, o->waker), n = 0;

	while (first + n < s->hits.n && s->hits.data[first + n].waker == o->waker)
		n++;
	if (!n)
		return;
	l.w = wait_for(c, o, s->hits.data[first].v);
	l.w->kind = "waker";
	l.w->armed = WAKER_REGISTERED_YES;
	wait_string(&l, "resource", "I/O");
	if (n == 1)
		describe_one(&l, &s->hits.data[first], o->wanted);
	else
		describe_several(&l, &s->hits.data[first], n);
}

void opaque_waits_explain(struct collector *c, const struct runtime *const *runtimes, size_t n)
{
	struct opaque_search s = { 0 };

	for (size_t i = 0; i < c->opaque.waits.n; i++)
		map_put(&s.wakers, c->opaque.waits.data[i].waker, c);
	for (size_t i = 0; i < n; i++) {
		if (runtimes[i]->registrations)
			runtimes[i]->registrations(c, opaque_waits_note_hit, &s);
	}
	drop_known(&s, c);
	for (size_t i = 0; i < c->opaque.waits.n; i++)
		explain(&s, c, &c->opaque.waits.data[i]);
	map_free(&s.wakers);
	vec_free(&s.hits);
}
