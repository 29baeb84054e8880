#include "runtimes/graph.h"

#include <string.h>

#include "runtimes/graph_inside.h"

size_t add_node(struct builder *b, struct graph_node node)
{
	*vec_push(&b->nodes) = node;
	return b->nodes.n - 1;
}

struct graph_edge *add_edge(struct builder *b, size_t from, size_t to, const char *kind)
{
	struct graph_edge *e = vec_push(&b->edges);

	*e = (struct graph_edge){ .from = from, .to = to, .kind = kind };
	return e;
}

size_t graph_of_task(const struct graph *g, size_t nth)
{
	(void)g;
	return 1 + nth;
}

size_t graph_of_root(const struct graph *g, size_t nth)
{
	return g->roots[nth];
}

size_t graph_of_thread(const struct graph *g, size_t nth)
{
	return g->first_thread + nth;
}

bool graph_is_party(const struct graph_node *n)
{
	return n->kind == GRAPH_TASK || n->kind == GRAPH_ROOT || n->kind == GRAPH_THREAD;
}

bool wait_number(const struct wait *w, const char *key, int64_t *ret)
{
	for (size_t i = 0; i < w->ndetails; i++) {
		const struct wait_detail *d = &w->details[i];

		if ((d->kind == DETAIL_INT || d->kind == DETAIL_BOOL) && strcmp(d->key, key) == 0) {
			*ret = d->number;
			return true;
		}
	}
	return false;
}

bool wait_yes(const struct wait *w, const char *key)
{
	int64_t number;

	return wait_number(w, key, &number) && number;
}

/* ---- who holds ---- */

/* Is it that arm, or in it? */
static bool is_within(const struct builder *b, const struct arm *a, size_t arm)
{
	for (; a && a->node != arm; a = map_get(&b->arms, a->around))
		;
	return a != NULL;
}

static size_t first_arm(const struct builder *b, size_t party)
{
	size_t from = 0, to = b->all_arms.n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (b->all_arms.data[mid]->party < party)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static bool is_arm_of(const struct builder *b, size_t i, size_t party)
{
	return i < b->all_arms.n && b->all_arms.data[i]->party == party;
}

size_t user_node(struct builder *b, size_t arm, size_t party)
{
	size_t key = arm ? arm : party, first = first_arm(b, party);
	size_t node = party ? (size_t)map_get(&b->users, key) : 0;

	if (node || !party || !is_arm_of(b, first, party))
		return node ? node : party;
	node = add_node(b, (struct graph_node){ .kind = GRAPH_OWNER,
	                                        .rule = GRAPH_ANY,
	                                        .task = b->nodes.data[party].task,
	                                        .thread = b->nodes.data[party].thread });
	map_put(&b->users, key, (void *)node);
	for (size_t i = first; is_arm_of(b, i, party); i++) {
		if (!arm || is_within(b, b->all_arms.data[i], arm))
			add_edge(b, node, b->all_arms.data[i]->node, "poll");
	}
	add_edge(b, node, owner_node(b, arm, party), "member");
	return node;
}

/* Index of the thread with that number, which is 1 + index but for snapshots that lack some. */
static bool thread_index(const struct snapshot *s, unsigned number, size_t *ret)
{
	if (number && number <= s->nthreads && s->threads[number - 1].number == number) {
		*ret = number - 1;
		return true;
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].number == number) {
			*ret = i;
			return number != 0;
		}
	}
	return false;
}

/* What a thread has in its own frames it drops only when what it blocks on is over. */
static size_t party_of_thread(const struct builder *b, unsigned number)
{
	size_t i;

	if (!thread_index(b->s, number, &i))
		return GRAPH_OUTSIDE;
	return graph_of_root(b->g, i) ? graph_of_root(b->g, i) : graph_of_thread(b->g, i);
}

size_t party_of(const struct builder *b, const struct holding *h)
{
	if (h->task)
		return (size_t)map_get(&b->tasks, h->task->addr);
	return party_of_thread(b, h->thread);
}

size_t owner_node(struct builder *b, size_t arm, size_t party)
{
	struct arm *a = arm && party ? map_get(&b->arms, arm) : NULL;

	if (!a)
		return party;
	if (a->owner)
		return a->owner;
	/* Whatever lets the task go on, or an arm around this one, may drop this one. */
	size_t around = owner_node(b, a->around, party);
	const struct graph_node *p = &b->nodes.data[party];
	a->owner = add_node(b, (struct graph_node){ .kind = GRAPH_OWNER,
	                                            .rule = GRAPH_ANY,
	                                            .task = p->task,
	                                            .thread = p->thread });
	add_edge(b, a->owner, arm, "poll");
	add_edge(b, a->owner, around, "member");
	return a->owner;
}

enum trust holding_trust(const struct builder *b, const struct holding *h, bool complete)
{
	if (!h->uncertain)
		return TRUST_CERTAIN;
	return b->quiet && (h->sole || complete) ? TRUST_SOLE : TRUST_NONE;
}

const char *trust_doubt(enum trust trust)
{
	switch (trust) {
	case TRUST_SOLE:
		return graph_sole_doubt;
	case TRUST_NONE:
		return "it may have been dropped or moved before";
	default:
		return NULL;
	}
}

const char graph_sole_doubt[] = "found nowhere else, though nothing proves that it is still there";

void add_holder(struct builder *b, size_t from, const struct holding *h, const char *kind,
                const char *doubt)
{
	size_t arm = h->future ? (size_t)map_get(&b->arm_of, (uintptr_t)h->future) : 0;
	size_t (*node)(struct builder *, size_t, size_t) =
		h->role == HOLDING_LOCK ? owner_node : user_node;
	size_t owner = node(b, arm, party_of(b, h));
	struct graph_edge *e = add_edge(b, from, owner, kind);

	e->holding = h;
	e->doubt = doubt;
	e->granted = h->granted;
	e->unpolled = h->future ? map_get(&b->unpolled, (uintptr_t)h->future) : NULL;
	/* What was given the lock, and is no part of what is polled. */
	if (h->granted && !e->unpolled)
		e->unpolled = h->future;
}

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_primitives(const void *a, const void *b)
{
	const struct holding *x = *(const struct holding *const *)a;
	const struct holding *y = *(const struct holding *const *)b;
	int order = by_number(x->primitive, y->primitive);

	return order ? order : by_number((uintptr_t)x, (uintptr_t)y);
}

static int compare_objects(const void *a, const void *b)
{
	const struct holding *x = *(const struct holding *const *)a;
	const struct holding *y = *(const struct holding *const *)b;
	int order = by_number(x->object, y->object);

	return order ? order : by_number((uintptr_t)x, (uintptr_t)y);
}

static void sort_holdings(struct builder *b)
{
	size_t n = b->s->nholdings;

	b->by_primitive = NEW_ARRAY(&b->g->arena, const struct holding *, n + 1);
	b->by_object = NEW_ARRAY(&b->g->arena, const struct holding *, n + 1);
	for (size_t i = 0; i < n; i++)
		b->by_primitive[i] = b->by_object[i] = &b->s->holdings[i];
	qsort(b->by_primitive, n, sizeof(*b->by_primitive), compare_primitives);
	qsort(b->by_object, n, sizeof(*b->by_object), compare_objects);
}

/* Those of a sorted list that have that address. */
static const struct holding **holdings_at(const struct holding **list, size_t n, uint64_t addr,
                                          uint64_t (*key)(const struct holding *h), size_t *nret)
{
	size_t from = 0, to = n;

	*nret = 0;
	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (key(list[mid]) < addr)
			from = mid + 1;
		else
			to = mid;
	}
	while (addr && from + *nret < n && key(list[from + *nret]) == addr)
		++*nret;
	return &list[from];
}

static uint64_t primitive_of(const struct holding *h)
{
	return h->primitive;
}

static uint64_t object_of(const struct holding *h)
{
	return h->object;
}

const struct holding **holdings_of_primitive(const struct builder *b, uint64_t primitive, size_t *n)
{
	return holdings_at(b->by_primitive, b->s->nholdings, primitive, primitive_of, n);
}

const struct holding **holdings_of_object(const struct builder *b, uint64_t object, size_t *n)
{
	return holdings_at(b->by_object, b->s->nholdings, object, object_of, n);
}

/* ---- parties ---- */

static bool is_native_lock(const struct wait *w)
{
	return w && w->kind &&
	       (strcmp(w->kind, "std_mutex") == 0 || strcmp(w->kind, "std_rwlock") == 0 ||
	        strcmp(w->kind, "parking_lot") == 0 || strcmp(w->kind, "std_join") == 0);
}

static void add_parties(struct builder *b)
{
	struct graph *g = b->g;
	const struct snapshot *s = b->s;

	add_node(b, (struct graph_node){ .kind = GRAPH_OUTSIDE });
	for (size_t i = 0; i < s->ntasks; i++) {
		const struct task *task = s->tasks[i];

		add_node(b, (struct graph_node){
				    .kind = GRAPH_TASK, .task = task, .future = task->root });
		if (task->addr)
			map_put(&b->tasks, task->addr, (void *)graph_of_task(g, i));
	}
	g->first_thread = b->nodes.n;
	for (size_t i = 0; i < s->nthreads; i++)
		add_node(b, (struct graph_node){ .kind = GRAPH_THREAD, .thread = &s->threads[i] });
	g->roots = NEW_ARRAY(&g->arena, size_t, s->nthreads + 1);
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].root)
			g->roots[i] =
				add_node(b, (struct graph_node){ .kind = GRAPH_ROOT,
			                                         .thread = &s->threads[i],
			                                         .future = s->threads[i].root });
	}
}

/* The node of a runtime none of whose threads can poll a task before it gets a native lock; else 0.
 */
static size_t add_runtime(struct builder *b, const struct runtime_info *r)
{
	const struct snapshot *s = b->s;
	bool multi = r->flavor == RUNTIME_MULTI_THREAD;
	size_t all = 0, blocked = 0;

	for (size_t i = 0; i < s->nthreads; i++) {
		const struct thread_info *th = &s->threads[i];

		if (th->runtime != (int)r->index ||
		    th->role != (multi ? THREAD_WORKER : THREAD_BLOCK_ON))
			continue;
		all++;
		blocked += is_native_lock(th->wait);
	}
	if (all == 0 || blocked < all || (multi && all != r->workers))
		return 0;
	size_t node = add_node(b, (struct graph_node){ .kind = GRAPH_RUNTIME,
	                                               .rule = GRAPH_ANY,
	                                               .what = "runtime",
	                                               .runtime = r->index });
	for (size_t i = 0; i < s->nthreads; i++) {
		const struct thread_info *th = &s->threads[i];

		if (th->runtime == (int)r->index &&
		    th->role == (multi ? THREAD_WORKER : THREAD_BLOCK_ON))
			add_edge(b, node, graph_of_thread(b->g, i), "runs");
	}
	return node;
}

static void task_edges(struct builder *b, size_t node, const struct task *task,
                       const size_t *runtimes)
{
	size_t thread;

	if (task->state == TASK_RUNNING && thread_index(b->s, task->thread, &thread)) {
		add_edge(b, node, graph_of_thread(b->g, thread), "runs");
		return;
	}
	if (runtimes && task->runtime < b->s->nruntimes && runtimes[task->runtime] &&
	    !task->local_set)
		add_edge(b, node, runtimes[task->runtime], "runs");
	if (task->state != TASK_IDLE || task->changed || task->problem || !task->root) {
		add_edge(b, node, GRAPH_OUTSIDE, "unknown");
		return;
	}
	b->party = node;
	tree_edges(b, node, task->root, NULL);
}

static void root_edges(struct builder *b, size_t nth)
{
	const struct thread_info *th = &b->s->threads[nth];
	size_t node = graph_of_root(b->g, nth);

	b->party = node;
	if (is_native_lock(th->wait))
		add_edge(b, node, graph_of_thread(b->g, nth), "runs");
	tree_edges(b, node, th->root, th->problem);
}

static void add_edges(struct builder *b)
{
	const struct snapshot *s = b->s;
	size_t *runtimes = NEW_ARRAY(&b->g->arena, size_t, s->nruntimes + 1);

	for (size_t i = 0; i < s->nruntimes; i++)
		runtimes[i] = add_runtime(b, &s->runtimes[i]);
	for (size_t i = 0; i < s->ntasks; i++)
		task_edges(b, graph_of_task(b->g, i), s->tasks[i], runtimes);
	for (size_t i = 0; i < s->nthreads; i++) {
		if (graph_of_root(b->g, i))
			root_edges(b, i);
	}
	/* All arms, and all futures that nobody polls, are known by now. */
	channel_owners(b);
	for (size_t i = 0; i < s->nthreads; i++)
		thread_edges(b, graph_of_thread(b->g, i), s->threads[i].wait);
	queue_edges(b);
}

/* ---- the whole ---- */

/* A thread that runs may have in its registers what was not found. */
static bool is_quiet(const struct snapshot *s)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		const struct thread_info *th = &s->threads[i];
		const char *wait = th->wait ? th->wait->kind : NULL;

		/* A blocking job that blocks on a future sleeps. */
		bool runs = th->state && strncmp(th->state, "running", 7) == 0 &&
		            !(th->role == THREAD_BLOCKING && th->root);

		if (th->role != THREAD_OTHER && (wait ? strcmp(wait, "compute") == 0 : runs))
			return false;
	}
	return true;
}

static int compare_local_sets(const void *a, const void *b, void *arg)
{
	const struct snapshot *s = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = by_number(s->tasks[x]->local_set, s->tasks[y]->local_set);

	return order ? order : by_number(x, y);
}

static void sort_local_sets(struct builder *b)
{
	const struct snapshot *s = b->s;

	b->by_local_set = NEW_ARRAY(&b->g->arena, size_t, s->ntasks + 1);
	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->local_set)
			b->by_local_set[b->nlocal++] = i;
	}
	qsort_r(b->by_local_set, b->nlocal, sizeof(size_t), compare_local_sets,
	        (struct snapshot *)(uintptr_t)s);
}

/* Edges in the order in which they were added, by the node that they leave. */
static void sort_edges(struct builder *b)
{
	struct graph *g = b->g;
	size_t *at;

	g->nnodes = b->nodes.n;
	g->nedges = b->edges.n;
	g->nodes = b->nodes.data;
	g->edges = calloc(g->nedges + 1, sizeof(*g->edges));
	at = calloc(g->nnodes + 1, sizeof(*at));
	if (!g->edges || !at)
		out_of_memory();
	for (size_t i = 0; i < b->edges.n; i++)
		g->nodes[b->edges.data[i].from].nedges++;
	for (size_t i = 0, n = 0; i < g->nnodes; n += g->nodes[i++].nedges)
		g->nodes[i].first = at[i] = n;
	for (size_t i = 0; i < b->edges.n; i++)
		g->edges[at[b->edges.data[i].from]++] = b->edges.data[i];
	free(at);
	vec_free(&b->edges);
}

struct graph *graph_build(const struct snapshot *s)
{
	struct graph *g = calloc(1, sizeof(*g));
	struct builder b = { .g = g, .s = s };

	if (!g)
		out_of_memory();
	g->snapshot = s;
	b.quiet = is_quiet(s);
	sort_holdings(&b);
	sort_local_sets(&b);
	add_parties(&b);
	add_edges(&b);
	sort_edges(&b);
	vec_free(&b.queue);
	vec_free(&b.open);
	vec_free(&b.all_arms);
	map_free(&b.users);
	map_free(&b.tasks);
	map_free(&b.unpolled);
	map_free(&b.channels);
	map_free(&b.sets);
	map_free(&b.wakers);
	map_free(&b.arms);
	map_free(&b.arm_of);
	return g;
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	free(g->nodes);
	free(g->edges);
	arena_free(&g->arena);
	free(g);
}

void graph_freep(struct graph **g)
{
	graph_free(*g);
}
