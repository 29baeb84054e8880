/*
 * Edges of lock waits: to a lock's holders, and to the waiters ahead in its queue. tokio's locks
 * are made of semaphores, which serve waiters in queue order (tokio 1.54,
 * src/sync/batch_semaphore.rs).
 */
#include <string.h>

#include "runtimes/graph/graph_private.h"

static const char semaphore_doubt[] = "unless permits are held elsewhere or added";
static const char permits_doubt[] = "unless permits of the channel are held elsewhere";

/* The waiters of one lock, sorted by place, and its holders. */
struct graph_queue_lock {
	struct builder *b;
	const struct queued *q;
	size_t nq, first_waiter; /* waiters before that index: granted */
	const struct holding **h;
	size_t nh;
	size_t *waiters; /* the nodes of those that are not granted, in order; NULL: not made yet */
	size_t wanted;   /* number of the lock's holders */
	size_t trusted;  /* number of them that graph_queue_guard_edges() found */
	size_t all, writers; /* nodes of all holders, and of holders for writing; 0: not made yet */
};

static int compare_queued(const void *a, const void *b)
{
	const struct queued *x = a, *y = b;

	if (x->primitive != y->primitive)
		return x->primitive < y->primitive ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->future->addr != y->future->addr)
		return x->future->addr < y->future->addr ? -1 : 1;
	/* For the same future, the place that polls it sorts first. */
	if (!x->unpolled != !y->unpolled)
		return x->unpolled ? 1 : -1;
	return (x->participant > y->participant) - (x->participant < y->participant);
}

/*
 * A future that was moved in a box may be found twice: where it is now and where it was. A place
 * that polls it is the real one. When none does, the owner is unknown, so each place that may have
 * been granted the lock is kept. Returns how many of n are left.
 */
static size_t drop_traces(struct queued *q, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct queued *last = kept ? &q[kept - 1] : NULL;

		if (last && q[i].unpolled && q[i].future->addr &&
		    q[i].future->addr == last->future->addr) {
			last->seen_twice |= last->unpolled != NULL;
			if (!last->unpolled || q[i].place || q[i].participant == last->participant)
				continue;
			q[i].seen_twice = true;
		}
		q[kept++] = q[i];
	}
	return kept;
}

static enum wait_access graph_queue_access_of(const struct queued *q)
{
	return wait_kind_of(q->future->wait)->access;
}

static bool wants_permits(const struct queued *q)
{
	return graph_queue_access_of(q) == WAIT_PERMITS || graph_queue_access_of(q) == WAIT_ROOM;
}

static bool writes(const struct queued *q)
{
	return graph_queue_access_of(q) != WAIT_READ;
}

/* Doubt whether an unpolled future holds what its memory shows; NULL: it does. */
static const char *graph_queue_uncertainty_of(const struct queued *q)
{
	if (q->doubt)
		return q->doubt;
	if (q->may_be_polled)
		return "a future that seems unpolled may be polled by code that asyncdbg cannot "
		       "see";
	return q->seen_twice || q->may_be_gone
	               ? "the unpolled future may have been dropped or moved earlier"
	               : NULL;
}

/*
 * Does the holding own the lock? A granted future that stands in the queue itself does not count:
 * struct queued covers it.
 */
static bool graph_queue_has_lock(const struct holding *h, bool only_writers)
{
	if (h->role != HOLDING_LOCK || (only_writers && wait_kind(h->kind)->access == WAIT_READ))
		return false;
	return !h->granted || (!h->partial && !(h->future && h->future->wait));
}

/*
 * Adds to an edge that leads to a future which is not polled the waiters behind it in the queue.
 * next: index of the first one behind it.
 */
static void graph_queue_add_behind(struct graph_queue_lock *l, struct graph_edge *e, size_t next)
{
	if (!e->unpolled || next >= l->nq)
		return;
	if (!l->waiters)
		l->waiters = NEW_ARRAY(&l->b->g->arena, size_t, l->nq);
	for (size_t i = next; i < l->nq; i++)
		l->waiters[i] = l->q[i].participant;
	e->behind = &l->waiters[next];
	e->nbehind = l->nq - next;
}

static bool has_guards(const struct graph_queue_lock *l)
{
	for (size_t i = 0; i < l->nh; i++) {
		if (graph_queue_has_lock(l->h[i], false))
			return true;
	}
	return false;
}

/*
 * Adds edges to the holders of the lock. Uncertain holders count only where fewer certain ones were
 * found than it has, or if there may be several (doubt). Returns how many edges.
 */
static size_t graph_queue_guard_edges(struct graph_queue_lock *l, size_t node, bool only_writers,
                                      const char *doubt)
{
	struct candidates c = { 0 };
	size_t sure = 0, n = 0;

	for (size_t i = 0; i < l->nh; i++) {
		if (graph_queue_has_lock(l->h[i], only_writers))
			graph_candidate_add(l->b, &c, l->h[i]);
	}
	/* A single candidate is judged by h->sole. */
	bool known = l->first_waiter == 0 && c.all > 1 && graph_candidates_known(&c, l->wanted);
	for (int uncertain = 0; uncertain < 2 && (sure < l->wanted || doubt); uncertain++) {
		for (size_t i = 0; i < l->nh; i++) {
			const struct holding *h = l->h[i];
			enum trust trust = graph_holding_trust(l->b, h, known);

			if (!graph_queue_has_lock(h, only_writers) ||
			    (trust == TRUST_NONE) != uncertain)
				continue;
			graph_candidate_edge(l->b, &c, node, h, "holds",
			                     doubt ? doubt : graph_trust_uncertainty(trust));
			if (h->granted)
				graph_queue_add_behind(l, &l->b->edges.data[l->b->edges.n - 1],
				                       l->first_waiter);
			n++;
		}
		sure = n;
		/*
		 * Futures that the lock was granted to: they will take it, or are polled no more.
		 */
		for (size_t i = 0; !uncertain && i < l->first_waiter; i++) {
			const struct queued *q = &l->q[i];

			if (only_writers && !writes(q))
				continue;
			bool alone = l->b->quiet && l->first_waiter == 1 && !has_guards(l);
			size_t owner = graph_owner_node(l->b, q->arm, q->participant);
			struct graph_edge *e = graph_add_edge(l->b, node, owner, "holds");

			e->unpolled = q->unpolled;
			e->frame = graph_frame_of(l->b, q->unpolled);
			e->waiter = q->future;
			e->granted = true;
			graph_queue_add_behind(l, e, l->first_waiter);
			e->doubt = doubt ? doubt : graph_queue_uncertainty_of(q);
			if (!doubt && e->doubt && alone && !q->seen_twice && !q->doubt &&
			    !q->may_be_polled)
				e->doubt = graph_sole_doubt;
			sure = ++n;
		}
		l->trusted = uncertain ? l->trusted : n;
	}
	map_free(&c.by_participant);
	return n;
}

static const char *what_of(const struct wait *w)
{
	const char *noun = wait_kind_of(w)->noun;

	return noun ? noun : "lock";
}

static struct graph_node graph_queue_lock_node(const struct wait *w, enum graph_rule rule)
{
	return (struct graph_node){ .kind = GRAPH_LOCK,
		                    .rule = rule,
		                    .what = what_of(w),
		                    .name = w->name,
		                    .object = w->object };
}

/* A channel gets room when its receiver takes a message, or a permit is given back. */
static void channel_room(struct graph_queue_lock *l, size_t node, const struct wait *w)
{
	int64_t capacity = 0, queued = 0;
	struct candidates c = { 0 };
	size_t n;
	const struct holding **h = graph_holdings_of_object(l->b, w->object, &n);

	wait_number(w, "capacity", &capacity);
	wait_number(w, "queued", &queued);
	const char *doubt = capacity && queued >= capacity ? NULL : permits_doubt;

	for (size_t i = 0; i < n; i++) {
		if (h[i]->role == HOLDING_RECEIVER)
			graph_candidate_add(l->b, &c, h[i]);
	}
	bool known = c.sure == 1 || graph_candidates_known(&c, 1);
	for (size_t i = 0; i < n; i++) {
		enum trust trust = graph_holding_trust(l->b, h[i], known);

		if (h[i]->role == HOLDING_RECEIVER && (!h[i]->uncertain || !c.sure))
			graph_candidate_edge(l->b, &c, node, h[i], "receives",
			                     doubt ? doubt : graph_trust_uncertainty(trust));
	}
	map_free(&c.by_participant);
	graph_queue_guard_edges(l, node, false, doubt);
	if (!known)
		graph_add_edge(l->b, node, GRAPH_OUTSIDE, "unknown");
}

/*
 * Edges to the holders of a pool's connections: any of them may give one back. If not all are
 * known, or more may be opened, an unknown one may.
 */
static void pool_edges(struct graph_queue_lock *l, size_t node, const struct wait *w)
{
	int64_t in_use = 0, idle = 1, opening = 0, size = 0, max = 0;

	wait_number(w, "in_use", &in_use);
	wait_number(w, "opening", &opening);
	wait_number(w, "idle", &idle);
	wait_number(w, "size", &size);
	wait_number(w, "max_size", &max);
	l->wanted = in_use > 0 ? (size_t)in_use : 1;
	bool full = !idle && !opening && max && size >= max && !l->first_waiter;

	graph_queue_guard_edges(l, node, false, NULL);
	if (!full || l->trusted < l->wanted)
		graph_add_edge(l->b, node, GRAPH_OUTSIDE, "unknown");
}

/* The node of all holders of the lock, for a waiter that needs all of it. */
static size_t graph_queue_all_holders(struct graph_queue_lock *l, const struct wait *w)
{
	enum wait_access access = wait_kind_of(w)->access;
	bool shared = access == WAIT_READ || access == WAIT_WRITE;

	if (l->all)
		return l->all;
	l->all = graph_add_node(l->b, graph_queue_lock_node(w, shared ? GRAPH_ALL : GRAPH_ANY));
	if (access == WAIT_ROOM)
		channel_room(l, l->all, w);
	else if (access == WAIT_SLOTS)
		pool_edges(l, l->all, w);
	else if (!graph_queue_guard_edges(l, l->all, false,
	                                  access == WAIT_PERMITS ? semaphore_doubt : NULL))
		graph_add_edge(l->b, l->all, GRAPH_OUTSIDE, "unknown");
	return l->all;
}

/* The node of the holders of an RwLock for writing. */
static size_t write_holders(struct graph_queue_lock *l, const struct wait *w)
{
	if (l->writers)
		return l->writers;
	l->writers = graph_add_node(l->b, graph_queue_lock_node(w, GRAPH_ANY));
	if (!graph_queue_guard_edges(l, l->writers, true, NULL))
		graph_add_edge(l->b, l->writers, GRAPH_OUTSIDE, "unknown");
	return l->writers;
}

/* The node of all that goes before the waiter behind q: node `before`, and q itself. */
static size_t graph_queue_add_place(struct graph_queue_lock *l, size_t before,
                                    const struct queued *q)
{
	struct builder *b = l->b;
	const struct wait *w = q->future->wait;
	size_t node =
		graph_add_node(b, (struct graph_node){ .kind = GRAPH_QUEUE,
	                                               .what = what_of(w),
	                                               .name = w->name,
	                                               .object = w->object,
	                                               .lock = graph_queue_all_holders(l, w) });

	graph_add_edge(b, node, before, "queued");
	size_t owner = graph_owner_node(b, q->arm, q->participant);
	struct graph_edge *e = graph_add_edge(b, node, owner, "queued");
	e->queued = true;
	e->waiter = q->future;
	e->unpolled = q->unpolled;
	e->frame = graph_frame_of(b, q->unpolled);
	e->place = q->place;
	e->granted = q->place == 0;
	graph_queue_add_behind(l, e, e->granted ? l->first_waiter : (size_t)(q - l->q) + 1);
	/* A future that is linked in the queue exists: dropping it would unlink it. */
	e->doubt = q->seen_twice ? graph_queue_uncertainty_of(q) : q->doubt;
	if (wants_permits(q) && !e->doubt)
		e->doubt = graph_queue_access_of(q) == WAIT_ROOM ? permits_doubt : semaphore_doubt;
	return node;
}

/* Redirects the waiter's edge, which led outside until now. */
static void wait_edge(struct graph_queue_lock *l, const struct queued *q, size_t to)
{
	if (q->from)
		l->b->edges.data[q->edge].to = to;
}

/*
 * Number of permits that the waiters of a semaphore or of a channel's room can get without a future
 * in the queue giving any back. False: unknown.
 */
static bool permits_to_come(const struct graph_queue_lock *l, const struct wait *w, int64_t *ret)
{
	int64_t number;

	*ret = 0;
	if (wait_kind_of(w)->access == WAIT_ROOM) {
		if (!wait_number(w, "capacity", ret))
			return false;
		*ret -= (int64_t)l->first_waiter;
		return true;
	}
	if (wait_number(w, "permits_available", &number))
		*ret = number;
	for (size_t i = 0; i < l->nh; i++) {
		if (!graph_queue_has_lock(l->h[i], false) || l->h[i]->granted)
			continue;
		if (!l->h[i]->permits || l->h[i]->permits > INT32_MAX)
			return false;
		*ret += (int64_t)l->h[i]->permits;
	}
	return *ret > 0;
}

/*
 * The first waiter that gets its permits only after one ahead of it has given some back, as there
 * are not enough for all: an index, or nq.
 */
static size_t first_short(const struct graph_queue_lock *l)
{
	int64_t left = 0, missing;
	size_t i = l->first_waiter;

	if (i == l->nq || !permits_to_come(l, l->q[i].future->wait, &left))
		return l->nq;
	for (; i < l->nq && l->q[i].place != UINT64_MAX; i++) {
		if (!wait_number(l->q[i].future->wait, "permits_missing", &missing))
			break;
		left -= missing;
		if (left < 0)
			return i;
	}
	return l->nq;
}

static void edges_of_lock(struct graph_queue_lock *l)
{
	size_t before = 0; /* place behind all waiters so far; 0: only the holders are before it */
	size_t before_reader = 0; /* place behind the last writer so far, for a reader */
	size_t scarce = l->nq && wants_permits(l->q) ? first_short(l) : 0;

	/* A pool may have enough connections for several waiters. */
	if (l->nq && graph_queue_access_of(l->q) == WAIT_SLOTS)
		scarce = l->nq;

	for (size_t i = 0; i < l->nq; i++) {
		const struct queued *q = &l->q[i];
		const struct wait *w = q->future->wait;
		bool known = q->place != UINT64_MAX;
		size_t to;

		if (i < l->first_waiter) { /* granted: it will go on when polled */
			wait_edge(l, q, GRAPH_OUTSIDE);
			if (q->unpolled && scarce && scarce < l->nq)
				before = graph_queue_add_place(
					l, before ? before : graph_queue_all_holders(l, w), q);
			continue;
		}
		if (writes(q))
			to = known && before && i >= scarce ? before
			                                    : graph_queue_all_holders(l, w);
		else
			to = known && before_reader ? before_reader : write_holders(l, w);
		wait_edge(l, q, to);
		if (!known || scarce == l->nq || i + 1 == l->nq)
			continue;
		before = graph_queue_add_place(l, before ? before : graph_queue_all_holders(l, w),
		                               q);
		/*
		 * Readers do not wait for each other, but a reader waits for a writer that waits
		 * for readers.
		 */
		if (graph_queue_access_of(q) == WAIT_WRITE)
			before_reader = graph_queue_add_place(
				l, before_reader ? before_reader : write_holders(l, w), q);
	}
}

void graph_queue_edges(struct builder *b)
{
	if (b->queue.n)
		qsort(b->queue.data, b->queue.n, sizeof(*b->queue.data), compare_queued);
	for (size_t i = 0; i < b->queue.n;) {
		struct queued *first = &b->queue.data[i];
		struct graph_queue_lock l = { .b = b, .q = first, .wanted = 1 };
		size_t n = 0;

		for (; i < b->queue.n && b->queue.data[i].primitive == first->primitive; i++)
			n++;
		l.nq = drop_traces(first, n);
		for (size_t k = 0; k < l.nq; k++)
			l.first_waiter += first[k].place == 0;
		l.h = graph_holdings_of_primitive(b, l.q->primitive, &l.nh);
		edges_of_lock(&l);
	}
}

size_t graph_native_lock(struct builder *b, const struct wait *w)
{
	uint64_t key = w->primitive ? w->primitive : w->object;
	struct graph_queue_lock l = { .b = b, .wanted = 1 };
	size_t node = key ? (size_t)map_get(&b->channels, key << 2 ^ 3) : 0;

	if (node || !key)
		return node;
	l.h = w->primitive ? graph_holdings_of_primitive(b, key, &l.nh)
	                   : graph_holdings_of_object(b, key, &l.nh);
	if (!l.nh)
		return GRAPH_OUTSIDE;
	node = graph_add_node(b, graph_queue_lock_node(w, GRAPH_ANY));
	map_put(&b->channels, key << 2 ^ 3, (void *)node);
	if (wait_kind_of(w)->access == WAIT_SLOTS)
		pool_edges(&l, node, w);
	else if (!graph_queue_guard_edges(&l, node, false, NULL))
		graph_add_edge(b, node, GRAPH_OUTSIDE, "unknown");
	return node;
}
