/* Builds the wait-for graph: adds the nodes of tasks, threads and runtimes, then all edges. */
#include "runtimes/graph/graph.h"

#include <string.h>

#include "runtimes/graph/graph_private.h"

/* ---- participants ---- */

/* Does a thread wait there for a native lock, or for another thread to end? */
static bool is_native_lock(const struct wait *w)
{
	enum wait_target target = wait_kind_of(w)->target;

	return target == WAIT_NATIVE_LOCK || target == WAIT_THREAD;
}

static void add_participants(struct builder *b)
{
	struct graph *g = b->g;
	const struct snapshot *s = b->s;

	graph_add_node(b, (struct graph_node){ .kind = GRAPH_OUTSIDE });
	for (size_t i = 0; i < s->ntasks; i++) {
		const struct task *task = s->tasks[i];

		graph_add_node(b, (struct graph_node){
					  .kind = GRAPH_TASK, .task = task, .future = task->root });
		if (task->addr)
			map_put(&b->tasks, task->addr, (void *)graph_of_task(g, i));
	}
	g->first_thread = b->nodes.n;
	for (size_t i = 0; i < s->nthreads; i++) {
		graph_add_node(
			b, (struct graph_node){ .kind = GRAPH_THREAD, .thread = &s->threads[i] });
		if (s->threads[i].number && !map_has(&b->threads, s->threads[i].number))
			map_put(&b->threads, s->threads[i].number, (void *)(i + 1));
	}
	g->roots = NEW_ARRAY(&g->arena, size_t, s->nthreads + 1);
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].root)
			g->roots[i] = graph_add_node(
				b, (struct graph_node){ .kind = GRAPH_ROOT,
			                                .thread = &s->threads[i],
			                                .future = s->threads[i].root });
	}
	graph_add_jobs(b);
}

/*
 * The node of a runtime whose worker threads all wait for native locks, so that no task is polled;
 * else 0.
 */
static size_t graph_add_runtime(struct builder *b, const struct runtime_info *r)
{
	const struct snapshot *s = b->s;
	size_t all = 0, blocked = 0;

	for (size_t i = 0; i < s->nthreads; i++) {
		const struct thread_info *th = &s->threads[i];

		if (!runtime_is_driven_by(r, th))
			continue;
		all++;
		blocked += is_native_lock(th->wait);
	}
	if (all == 0 || blocked < all || (r->workers_poll && all != r->workers))
		return 0;
	size_t node = graph_add_node(b, (struct graph_node){ .kind = GRAPH_RUNTIME,
	                                                     .rule = GRAPH_ANY,
	                                                     .what = "runtime",
	                                                     .runtime = r->index });
	for (size_t i = 0; i < s->nthreads; i++) {
		if (runtime_is_driven_by(r, &s->threads[i]))
			graph_add_edge(b, node, graph_of_thread(b->g, i), "runs");
	}
	return node;
}

/*
 * The node of what a thread that polls a task does: its own code, or the future that the task has
 * called block_on() with, as block_in_place() allows (tokio issue 7892).
 */
static size_t node_of_running(const struct builder *b, size_t thread)
{
	size_t root = b->s->threads[thread].waits_for_root ? graph_of_root(b->g, thread) : 0;

	return root ? root : graph_of_thread(b->g, thread);
}

static void task_edges(struct builder *b, size_t node, const struct task *task,
                       const size_t *runtimes)
{
	size_t thread;

	if (task->state == TASK_RUNNING && graph_thread_index(b, task->thread, &thread)) {
		graph_add_edge(b, node, node_of_running(b, thread), "runs");
		return;
	}
	if (runtimes && task->runtime < b->s->nruntimes && runtimes[task->runtime] &&
	    !task->local_set)
		graph_add_edge(b, node, runtimes[task->runtime], "runs");
	if (task->state != TASK_IDLE || task->changed || task->problem || !task->root) {
		graph_add_edge(b, node, GRAPH_OUTSIDE, "unknown");
		return;
	}
	b->participant = node;
	graph_tree_edges(b, node, task->root, NULL);
}

static void root_edges(struct builder *b, size_t nth)
{
	const struct thread_info *th = &b->s->threads[nth];
	size_t node = graph_of_root(b->g, nth);

	b->participant = node;
	if (is_native_lock(th->wait))
		graph_add_edge(b, node, graph_of_thread(b->g, nth), "runs");
	graph_tree_edges(b, node, th->root, th->problem);
}

static void add_edges(struct builder *b)
{
	const struct snapshot *s = b->s;
	size_t *runtimes = NEW_ARRAY(&b->g->arena, size_t, s->nruntimes + 1);

	for (size_t i = 0; i < s->nruntimes; i++)
		runtimes[i] = graph_add_runtime(b, &s->runtimes[i]);
	for (size_t i = 0; i < s->ntasks; i++)
		task_edges(b, graph_of_task(b->g, i), s->tasks[i], runtimes);
	for (size_t i = 0; i < s->nthreads; i++) {
		if (graph_of_root(b->g, i))
			root_edges(b, i);
	}
	graph_job_edges(b);
	/* All arms and all unpolled futures are known by now. */
	graph_channel_owners(b);
	graph_find_aborts(b);
	for (size_t i = 0; i < s->nthreads; i++)
		graph_thread_edges(b, graph_of_thread(b->g, i), s->threads[i].wait);
	graph_queue_edges(b);
}

/* ---- the whole ---- */

/* False when a running thread may hold in its registers what the search did not find. */
static bool is_quiet(const struct snapshot *s)
{
	if (s->others)
		return false;
	for (size_t i = 0; i < s->nthreads; i++) {
		const struct thread_info *th = &s->threads[i];
		const struct wait *wait = th->wait && th->wait->kind ? th->wait : NULL;

		/* A job or a task that blocks on a future does not run. */
		bool runs = th->state && strncmp(th->state, "running", 7) == 0 &&
		            !th->waits_for_root && !(th->role == THREAD_BLOCKING && th->root);

		if (th->role != THREAD_OTHER && (wait ? wait_is_running(wait) : runs))
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

/*
 * Sorts edges by the node that they leave; edges of one node keep the order in which they were
 * added.
 */
static void sort_edges(struct builder *b)
{
	struct graph *g = b->g;
	size_t *at, *to;

	g->nnodes = b->nodes.n;
	g->nedges = b->edges.n;
	g->nodes = b->nodes.data;
	g->edges = b->edges.data;
	at = calloc(g->nnodes + 1, sizeof(*at));
	to = calloc(g->nedges + 1, sizeof(*to));
	if (!at || !to)
		out_of_memory();
	for (size_t i = 0; i < g->nedges; i++)
		g->nodes[g->edges[i].from].nedges++;
	for (size_t i = 0, n = 0; i < g->nnodes; n += g->nodes[i++].nedges)
		g->nodes[i].first = at[i] = n;
	for (size_t i = 0; i < g->nedges; i++)
		to[i] = at[g->edges[i].from]++;
	/*
	 * Sorts in place: a second list takes 300 MB for a million tasks. Each swap puts one edge
	 * in its place.
	 */
	for (size_t i = 0; i < g->nedges; i++) {
		while (to[i] != i) {
			size_t k = to[i];
			struct graph_edge e = g->edges[k];

			g->edges[k] = g->edges[i];
			g->edges[i] = e;
			to[i] = to[k];
			to[k] = k;
		}
	}
	free(at);
	free(to);
}

struct graph *graph_build(const struct snapshot *s)
{
	struct graph *g = calloc(1, sizeof(*g));
	struct builder b = { .g = g, .s = s };

	if (!g)
		out_of_memory();
	g->snapshot = s;
	b.quiet = is_quiet(s);
	graph_sort_holdings(&b);
	sort_local_sets(&b);
	add_participants(&b);
	add_edges(&b);
	sort_edges(&b);
	vec_free(&b.queue);
	vec_free(&b.open);
	map_free(&b.users);
	map_free(&b.tasks);
	map_free(&b.threads);
	map_free(&b.jobs);
	map_free(&b.unpolled);
	map_free(&b.frames);
	map_free(&b.channels);
	map_free(&b.sets);
	map_free(&b.wakers);
	map_free(&b.arms);
	map_free(&b.outer_arms);
	map_free(&b.arm_of);
	map_free(&b.abortables);
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
