/* Adds the edges of one wait, by its kind. */
#include <string.h>

#include "runtimes/graph/graph_private.h"

static struct graph_edge *graph_wait_edge_of_leaf(struct builder *b, size_t from, size_t to,
                                                  const struct future *f, const char *doubt)
{
	struct graph_edge *e = graph_add_edge(b, from, to, f->wait->kind);

	e->future = f;
	e->wait = f->wait;
	e->doubt = doubt;
	return e;
}

/* ---- locks ---- */

void graph_leaf_queues(struct builder *b, size_t from, const struct future *f,
                       const struct unpolled *unpolled, const char *doubt)
{
	const struct wait *w = f->wait;
	uint64_t key = w->primitive ? w->primitive : w->object;
	bool is_lock = wait_kind_of(w)->target == WAIT_LOCK;
	int64_t place;

	if (!is_lock || !key || wait_yes(w, "closed") || !wait_yes(w, "polled")) {
		if (from)
			graph_wait_edge_of_leaf(b, from, GRAPH_OUTSIDE, f, doubt);
		return;
	}
	if (from)
		graph_wait_edge_of_leaf(b, from, GRAPH_OUTSIDE, f, doubt);
	struct queued *q = vec_push(&b->queue);
	*q = (struct queued){
		.edge = b->edges.n - 1,
		.primitive = key,
		.place = UINT64_MAX,
		.from = from,
		.participant = b->participant,
		.arm = b->arm,
		.future = f,
		.doubt = doubt,
	};
	if (unpolled) {
		q->unpolled = unpolled->top;
		q->may_be_polled = unpolled->may_be_polled;
		q->may_be_gone = unpolled->may_be_gone;
	}
	if (wait_yes(w, "granted"))
		q->place = 0;
	else if (wait_number(w, "position", &place) && place > 0)
		q->place = (uint64_t)place;
}

/* ---- channels ---- */

/*
 * True when only an action of one of the other ends can end the wait; *n: how many such ends there
 * are.
 */
static bool is_open(const struct wait_kind *k, const struct wait *w, int64_t *n)
{
	int64_t number, seen;

	*n = 1;
	if (wait_yes(w, "closed") || wait_yes(w, "granted") || !w->object)
		return false;
	if (k->ends && !wait_number(w, k->ends, n) && !k->ends_may_lack)
		return false;
	if (k->queue && (!wait_number(w, k->queue, &number) || number))
		return false;
	if (k->has_versions && wait_number(w, "version", &number) &&
	    (!wait_number(w, "version_seen", &seen) || seen != number))
		return false;
	return *n > 0;
}

/* The role of the ends that can end a wait of this kind. */
static enum holding_role other_role(const struct wait_kind *k)
{
	return wait_kind_ended_by(k, HOLDING_SENDER) ? HOLDING_SENDER : HOLDING_RECEIVER;
}

/*
 * Adds the edges to the owners of ends. When not all are found, an unknown owner may end the wait.
 */
static void owner_edges(struct builder *b, const struct open_channel *ch)
{
	enum holding_role role = other_role(ch->kind);
	size_t wanted = (size_t)ch->wanted;
	struct candidates c = { 0 };
	size_t n;
	const struct holding **h = graph_holdings_of_object(b, ch->object, &n);

	for (size_t i = 0; i < n; i++) {
		if (h[i]->role == role)
			graph_candidate_add(b, &c, h[i]);
	}
	bool known = graph_candidates_known(&c, wanted);
	for (size_t i = 0; i < n; i++) {
		enum trust trust = graph_holding_trust(b, h[i], known);

		if (h[i]->role == role && (!h[i]->uncertain || c.sure < wanted))
			graph_candidate_edge(b, &c, ch->node, h[i],
			                     role == HOLDING_SENDER ? "sends" : "receives",
			                     graph_trust_uncertainty(trust));
	}
	if (c.sure != wanted && !known)
		graph_add_edge(b, ch->node, GRAPH_OUTSIDE, "unknown");
	map_free(&c.by_participant);
}

/* A weak reference to a channel may be upgraded to an end; any end may close some channels. */
static const char weak_doubt[] = "unless a WeakSender is upgraded";
static const char weak_end_doubt[] = "unless a weak reference to the channel is upgraded";
static const char close_doubt[] = "unless another end closes the channel";

/* Doubt whether only its other ends end the wait at a channel; NULL: nothing else can. */
static const char *uncertainty_of_channel(const struct wait *w)
{
	int64_t n;

	if (wait_number(w, "weak_senders", &n) && n)
		return weak_doubt;
	if (wait_number(w, "weak_ends", &n) && n)
		return weak_end_doubt;
	return wait_number(w, "may_close", &n) && n ? close_doubt : NULL;
}

static size_t channel_node(struct builder *b, const struct wait_kind *k, const struct wait *w,
                           int64_t wanted)
{
	uint64_t key = w->object << 2 ^ (uint64_t)other_role(k);
	size_t node;

	key = key ? key : 1;
	node = (size_t)map_get(&b->channels, key);
	if (node)
		return node;
	node = graph_add_node(b, (struct graph_node){ .kind = GRAPH_CHANNEL,
	                                              .rule = GRAPH_ANY,
	                                              .what = k->noun,
	                                              .name = w->name,
	                                              .object = w->object });
	map_put(&b->channels, key, (void *)node);
	*vec_push(&b->open) = (struct open_channel){ node, k, w->object, wanted };
	return node;
}

void graph_channel_owners(struct builder *b)
{
	for (size_t i = 0; i < b->open.n; i++)
		owner_edges(b, &b->open.data[i]);
}

static void channel_edges(struct builder *b, size_t from, const struct future *f, const char *doubt)
{
	const struct wait_kind *k = wait_kind_of(f->wait);
	int64_t n;

	doubt = doubt ? doubt : uncertainty_of_channel(f->wait);
	graph_wait_edge_of_leaf(
		b, from, is_open(k, f->wait, &n) ? channel_node(b, k, f->wait, n) : GRAPH_OUTSIDE,
		f, doubt);
}

/* ---- tasks ---- */

/* The node of the thread that runs the blocking job of a join handle. */
static size_t job_thread(const struct builder *b, const struct wait *w)
{
	int64_t number;

	if (!wait_number(w, "thread", &number) || number <= 0)
		return GRAPH_OUTSIDE;
	struct holding at = { .thread = (unsigned)number };
	return graph_participant_of(b, &at);
}

static void join_edges(struct builder *b, size_t from, const struct future *f, const char *doubt)
{
	size_t task = f->wait->object ? (size_t)map_get(&b->tasks, f->wait->object) : 0;

	if (!task && f->wait->object)
		task = (size_t)map_get(&b->jobs, f->wait->object);
	graph_wait_edge_of_leaf(b, from, task ? task : job_thread(b, f->wait), f, doubt);
}

/* The node of the task or job with that id; GRAPH_OUTSIDE when there is none or more than one. */
static size_t task_by_id(const struct builder *b, const char *id)
{
	const struct snapshot *s = b->s;
	uint64_t number = strtoull(id, NULL, 10);
	size_t found = GRAPH_OUTSIDE;

	for (unsigned r = 0; r < s->nruntimes && number; r++) {
		size_t i = snapshot_task_index(s, r, number);

		for (; i < s->ntasks && s->tasks[i]->runtime == r && s->tasks[i]->number == number;
		     i++) {
			if (found)
				return GRAPH_OUTSIDE;
			found = graph_of_task(b->g, i);
		}
	}
	return found ? found : graph_job_by_id(b, number);
}

/* join_next() completes when any task of the set does. */
static void join_set_edges(struct builder *b, size_t from, const struct future *f,
                           const char *doubt)
{
	const struct wait_detail *tasks = wait_texts(f->wait, "tasks");
	int64_t all, finished;

	if (!tasks || tasks->nlist == 0) {
		graph_wait_edge_of_leaf(b, from, GRAPH_OUTSIDE, f, doubt);
		return;
	}
	size_t set = graph_add_node(b, (struct graph_node){ .kind = GRAPH_SET,
	                                                    .rule = GRAPH_ANY,
	                                                    .what = wait_kind_of(f->wait)->noun,
	                                                    .object = f->wait->object });
	graph_wait_edge_of_leaf(b, from, set, f, doubt);
	for (size_t i = 0; i < tasks->nlist; i++)
		graph_add_edge(b, set, task_by_id(b, tasks->list[i]), "member");
	if (!wait_number(f->wait, "tasks_in_set", &all) || all != (int64_t)tasks->nlist ||
	    !wait_number(f->wait, "finished", &finished) || finished)
		graph_add_edge(b, set, GRAPH_OUTSIDE, "unknown");
}

/* Index in by_local_set of the first task of the set, or of the next set. */
static size_t first_of_local_set(const struct builder *b, uint64_t object)
{
	size_t low = 0, high = b->nlocal;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->s->tasks[b->by_local_set[middle]]->local_set < object)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A LocalSet that is awaited itself completes when all its tasks do. */
static void local_set_edges(struct builder *b, size_t from, const struct future *f,
                            const char *doubt)
{
	const struct snapshot *s = b->s;
	uint64_t object = f->wait->object;
	size_t set = (size_t)map_get(&b->sets, object ? object : 1);

	if (set || !object) {
		graph_wait_edge_of_leaf(b, from, set, f, doubt);
		return;
	}
	set = graph_add_node(b, (struct graph_node){ .kind = GRAPH_SET,
	                                             .rule = GRAPH_ALL,
	                                             .what = wait_kind_of(f->wait)->noun,
	                                             .object = object });
	map_put(&b->sets, object, (void *)set);
	graph_wait_edge_of_leaf(b, from, set, f, doubt);
	for (size_t i = first_of_local_set(b, object);
	     i < b->nlocal && s->tasks[b->by_local_set[i]]->local_set == object; i++)
		graph_add_edge(b, set, graph_of_task(b->g, b->by_local_set[i]), "member");
}

/* ---- wakers, and dispatch by kind ---- */

/* Whether all references that the object counts are known. A plain one is borrowed from these. */
static bool nobody_else(const struct holding **h, size_t n)
{
	bool none = false;

	for (size_t i = 0; i < n && !none; i++)
		none = h[i]->nobody_else;
	return none;
}

static void weak_edges(struct builder *b, size_t from, const struct future *f, const char *doubt)
{
	uint64_t object = f->wait->object;
	size_t n, node = object ? (size_t)map_get(&b->wakers, object) : 0;
	const struct holding **h = graph_holdings_of_object(b, object, &n);

	graph_wait_edge_of_leaf(b, from, GRAPH_OUTSIDE, f, doubt);
	if (!node && n) {
		node = graph_add_node(b, (struct graph_node){ .kind = GRAPH_WAKERS,
		                                              .rule = GRAPH_ANY,
		                                              .what = wait_kind_of(f->wait)->noun,
		                                              .object = object });
		map_put(&b->wakers, object, (void *)node);
		for (size_t i = 0; i < n; i++) {
			graph_add_holder(b, node, h[i], "refers", NULL);
			b->edges.data[b->edges.n - 1].weak = true;
		}
		if (!nobody_else(h, n))
			graph_add_edge(b, node, GRAPH_OUTSIDE, "unknown");
	}
	if (node)
		graph_wait_edge_of_leaf(b, from, node, f, doubt)->weak = true;
}

void graph_leaf_edges(struct builder *b, size_t from, const struct future *f, const char *doubt)
{
	switch (wait_kind_of(f->wait)->target) {
	case WAIT_LOCK:
		graph_leaf_queues(b, from, f, NULL, doubt);
		break;
	case WAIT_CHANNEL:
		channel_edges(b, from, f, doubt);
		break;
	case WAIT_TASK:
		join_edges(b, from, f, doubt);
		break;
	case WAIT_TASK_SET:
		join_set_edges(b, from, f, doubt);
		break;
	case WAIT_LOCAL_SET:
		local_set_edges(b, from, f, doubt);
		break;
	case WAIT_WAKERS:
		weak_edges(b, from, f, doubt);
		break;
	default:
		graph_wait_edge_of_leaf(b, from, GRAPH_OUTSIDE, f, doubt);
	}
}

void graph_thread_edges(struct builder *b, size_t from, const struct wait *w)
{
	size_t to = GRAPH_OUTSIDE;

	if (w && w->kind)
		to = wait_kind_of(w)->target == WAIT_THREAD ? job_thread(b, w)
		                                            : graph_native_lock(b, w);
	struct graph_edge *e = graph_add_edge(b, from, to, w && w->kind ? w->kind : "unknown");
	e->wait = w;
	/* A thread waits for a pool with a timeout. */
	if (to && w && wait_kind_of(w)->access == WAIT_SLOTS)
		e->doubt = graph_pool_doubt;
}
