/*
 * Finds deadlocks, futurelocks and lost wake-ups: the strongly connected components (Tarjan) of the
 * nodes that cannot go on.
 */
#include "runtimes/graph/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "runtimes/graph/verdict_private.h"

/*
 * The search runs in several passes, from certain edges to uncertain ones. A cycle without an
 * uncertain edge is certain. A cycle that exists without queue edges does not get members that only
 * stand in a queue between the others.
 */
struct verdict_pass {
	enum verdict_trust trust; /* edges that are less certain are ignored */
	bool queues;              /* a waiter waits for those ahead in its queue */
};

static const struct verdict_pass passes[] = {
	{ VERDICT_CERTAIN, false }, { VERDICT_CERTAIN, true },   { VERDICT_SOLE, false },
	{ VERDICT_SOLE, true },     { VERDICT_POSSIBLE, false }, { VERDICT_POSSIBLE, true },
};
enum { NPASSES = sizeof(passes) / sizeof(passes[0]) };

struct verdict_finder {
	const struct graph *g;
	struct verdicts *v;
	VEC(struct verdict) list;
	const struct verdict_pass *pass;
	size_t *into, *first_into;  /* edge indices by target node */
	bool *can;                  /* by node, of this pass */
	bool *explained;            /* by node: was stuck in an earlier pass */
	size_t *pending;            /* by node: how many more must go on before it can */
	size_t *work;               /* nodes: a stack */
	struct graph_abort *aborts; /* of the graph, sorted by the handle's holder */
	size_t *verdict_of;         /* by node: 1 + index of the verdict that it is a member of */
	/* State of Tarjan's algorithm: */
	size_t *index, *low, *cursor, *component;
	size_t next_index, ncomponents;
	VEC(size_t) stack, path;
	VEC(size_t) anchor; /* by component: 1 + index of its verdict, 0 none */
	size_t *from_edge;  /* by node, in a search: 1 + edge that reached it */
};

/* ---- which nodes can go on ---- */

/* Does this edge make its node wait in this pass? */
static bool verdict_holds_back(const struct verdict_finder *f, const struct graph_edge *e)
{
	enum verdict_trust needed = !e->doubt                      ? VERDICT_CERTAIN
	                            : e->doubt == graph_sole_doubt ? VERDICT_SOLE
	                                                           : VERDICT_POSSIBLE;

	return f->pass->trust >= needed && (f->pass->queues || !e->queued);
}

static bool is_any(const struct verdict_finder *f, const struct graph_node *n)
{
	return n->rule == GRAPH_ANY || (f->pass->trust < VERDICT_POSSIBLE && n->maybe_any);
}

static void verdict_note_can(struct verdict_finder *f, size_t node, size_t *nwork)
{
	if (!f->can[node]) {
		f->can[node] = true;
		f->work[(*nwork)++] = node;
	}
}

static void start_node(struct verdict_finder *f, size_t node, size_t *nwork)
{
	const struct graph_node *n = &f->g->nodes[node];
	bool any = is_any(f, n), free_way = false;
	size_t counted = 0;

	for (size_t i = n->first; i < n->first + n->nedges; i++) {
		if (f->g->edges[i].weak)
			continue;
		if (verdict_holds_back(f, &f->g->edges[i]))
			counted++;
		else
			free_way = true;
	}
	f->pending[node] = any ? 1 : counted;
	if (counted == 0 || (any && free_way))
		verdict_note_can(f, node, nwork);
}

static int verdict_compare_aborts(const void *a, const void *b)
{
	const struct graph_abort *x = a, *y = b;

	return (x->by > y->by) - (x->by < y->by);
}

/*
 * A node that can go on may abort the tasks whose AbortHandles it holds. Whether it will is
 * unknown.
 */
static void verdict_end_others(struct verdict_finder *f, size_t node, size_t *nwork)
{
	size_t n = f->pass->trust < VERDICT_POSSIBLE ? f->g->naborts : 0, from = 0, to = n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (f->aborts[mid].by < node)
			from = mid + 1;
		else
			to = mid;
	}
	for (; from < n && f->aborts[from].by == node; from++)
		verdict_note_can(f, f->aborts[from].task, nwork);
}

/* Fills can; returns how many participants cannot go on. */
static size_t find_stuck(struct verdict_finder *f)
{
	const struct graph *g = f->g;
	size_t nwork = 0, stuck = 0;

	memset(f->can, 0, g->nnodes * sizeof(*f->can));
	for (size_t i = 0; i < g->nnodes; i++)
		start_node(f, i, &nwork);
	while (nwork) {
		size_t node = f->work[--nwork];

		verdict_end_others(f, node, &nwork);
		for (size_t i = f->first_into[node]; i < f->first_into[node + 1]; i++) {
			const struct graph_edge *e = &g->edges[f->into[i]];

			if (!e->weak && verdict_holds_back(f, e) && !f->can[e->from] &&
			    --f->pending[e->from] == 0)
				verdict_note_can(f, e->from, &nwork);
		}
	}
	for (size_t i = 0; i < g->nnodes; i++)
		stuck += !f->can[i] && graph_is_participant(&g->nodes[i]);
	return stuck;
}

/* Does this edge of a stuck node lead to a stuck node and keep it stuck? */
static bool verdict_binds(const struct verdict_finder *f, const struct graph_edge *e)
{
	return !e->weak && verdict_holds_back(f, e) && !f->can[e->to];
}

/* ---- cycles ---- */

static bool in_cycle(const struct verdict_finder *f, const size_t *nodes, size_t n)
{
	const struct graph_node *node = &f->g->nodes[nodes[0]];

	for (size_t i = node->first; n == 1 && i < node->first + node->nedges; i++) {
		const struct graph_edge *e = &f->g->edges[i];

		if (e->to == nodes[0] && verdict_binds(f, e))
			return true;
	}
	return n > 1;
}

/* The edges of the shortest cycle through a node within its component, last one first. */
static size_t shortest_cycle(struct verdict_finder *f, size_t start, size_t *edges, size_t max)
{
	size_t head = 0, n = 0;

	f->path.n = 0;
	*vec_push(&f->path) = start;
	while (head < f->path.n && !f->from_edge[start]) {
		const struct graph_node *node = &f->g->nodes[f->path.data[head++]];

		for (size_t i = node->first; i < node->first + node->nedges; i++) {
			const struct graph_edge *e = &f->g->edges[i];

			if (!verdict_binds(f, e) || f->component[e->to] != f->component[start] ||
			    f->from_edge[e->to])
				continue;
			f->from_edge[e->to] = 1 + i;
			*vec_push(&f->path) = e->to;
		}
	}
	for (size_t at = start; f->from_edge[at];) {
		size_t i = f->from_edge[at] - 1;

		if (n < max)
			edges[n] = i;
		n++;
		at = f->g->edges[i].from;
		if (at == start)
			break;
	}
	for (size_t i = 0; i < f->path.n; i++)
		f->from_edge[f->path.data[i]] = 0;
	return n;
}

static bool is_between(const struct graph_node *n)
{
	return n->kind == GRAPH_LOCK || n->kind == GRAPH_CHANNEL || n->kind == GRAPH_SET ||
	       n->kind == GRAPH_QUEUE || n->kind == GRAPH_RUNTIME || n->kind == GRAPH_POOL;
}

static int compare_sizes(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* Makes the links of a cycle from its edges, which are given last one first. */
static void make_links(struct verdict_finder *f, struct verdict *v, const size_t *edges, size_t n)
{
	const struct graph *g = f->g;
	struct verdict_link *link = NULL;

	v->cycle = NEW_ARRAY(&f->v->arena, struct verdict_link, n + 1);
	for (size_t i = n; i-- > 0;) {
		const struct graph_edge *e = &g->edges[edges[i]];

		if (graph_is_participant(&g->nodes[e->from])) {
			link = &v->cycle[v->ncycle++];
			link->participant = e->from;
		}
		if (!link)
			continue;
		if (e->wait)
			link->waits = e;
		if (is_between(&g->nodes[e->to]))
			link->object = &g->nodes[e->to];
		if (g->nodes[e->from].kind != GRAPH_OWNER)
			link->has = e;
	}
}

/* Does it wait for a channel end that it owns itself in its polled futures? */
static bool waits_for_itself(const struct verdict *v)
{
	return v->ncycle == 1 && v->cycle[0].object && v->cycle[0].object->kind == GRAPH_CHANNEL &&
	       !(v->cycle[0].has && v->cycle[0].has->unpolled);
}

static enum verdict_kind verdict_kind_of(const struct verdict *v)
{
	for (size_t i = 0; i < v->ncycle; i++) {
		if (v->cycle[i].has && v->cycle[i].has->unpolled)
			return VERDICT_FUTURELOCK;
	}
	/* With more members, another one has the other end too and cannot go on either. */
	return v->nmembers == 1 && waits_for_itself(v) ? VERDICT_LOST : VERDICT_DEADLOCK;
}

/*
 * Fills the links of v from a cycle through a member. Where several members own an end of a
 * channel, a cycle of one of them alone does not explain why the others cannot go on, so it tries
 * further members. Returns the number of edges, more than max where there are too many.
 */
static size_t choose_cycle(struct verdict_finder *f, struct verdict *v, size_t *edges, size_t max)
{
	enum { MAX_TRIED = 16 };
	size_t found = 0;

	for (size_t i = 0; i < v->nmembers && i < MAX_TRIED; i++) {
		found = shortest_cycle(f, v->members[i], edges, max);
		v->ncycle = 0;
		if (found <= max)
			make_links(f, v, edges, found);
		if (!waits_for_itself(v))
			return found;
	}
	return found;
}

static void add_verdict(struct verdict_finder *f, const size_t *nodes, size_t n)
{
	enum { MAX_EDGES = 4096 };
	struct verdict v = { .trust = f->pass->trust,
		             .certain = f->pass->trust == VERDICT_CERTAIN };
	VEC(size_t) members = { 0 };
	SCRATCH(tmp);
	size_t *edges = NEW_ARRAY(&tmp, size_t, MAX_EDGES);

	for (size_t i = 0; i < n; i++) {
		if (graph_is_participant(&f->g->nodes[nodes[i]]))
			*vec_push(&members) = nodes[i];
	}
	if (members.n == 0)
		return;
	qsort(members.data, members.n, sizeof(*members.data), compare_sizes);
	v.nmembers = members.n;
	v.members = vec_to_arena(&members, &f->v->arena);

	size_t found = choose_cycle(f, &v, edges, MAX_EDGES);
	if (!v.certain)
		verdict_uncertainties(f->g, &f->v->arena, f->can, &v, edges,
		                      found <= MAX_EDGES ? found : MAX_EDGES);
	v.kind = verdict_kind_of(&v);
	*vec_push(&f->list) = v;
	for (size_t i = 0; i < v.nmembers; i++)
		f->verdict_of[v.members[i]] = f->list.n;
}

/* Was one of the participants stuck in an earlier pass already? */
static bool is_explained(const struct verdict_finder *f, const size_t *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (f->explained[nodes[i]] && graph_is_participant(&f->g->nodes[nodes[i]]))
			return true;
	}
	return false;
}

/*
 * 1 + index of the verdict that a component leads to, 0 none. Tarjan's order visits the components
 * that it waits for first.
 */
static size_t find_anchor(const struct verdict_finder *f, const size_t *nodes, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct graph_node *node = &f->g->nodes[nodes[i]];

		if (f->verdict_of[nodes[i]])
			return f->verdict_of[nodes[i]];
		for (size_t k = node->first; !found && k < node->first + node->nedges; k++) {
			const struct graph_edge *e = &f->g->edges[k];

			if (verdict_binds(f, e) && f->component[e->to] <= f->anchor.n &&
			    f->component[e->to])
				found = f->anchor.data[f->component[e->to] - 1];
		}
	}
	return found;
}

/* Pops one strongly connected component: its nodes are the last ones of the stack. */
static void end_component(struct verdict_finder *f, size_t root)
{
	size_t n = 0;

	f->ncomponents++;
	do {
		n++;
		f->component[f->stack.data[f->stack.n - n]] = f->ncomponents;
	} while (f->stack.data[f->stack.n - n] != root);

	const size_t *nodes = &f->stack.data[f->stack.n - n];
	if (in_cycle(f, nodes, n) && !is_explained(f, nodes, n))
		add_verdict(f, nodes, n);
	*vec_push(&f->anchor) = find_anchor(f, nodes, n);
	f->stack.n -= n;
}

static void verdict_visit(struct verdict_finder *f, size_t node, size_t *depth)
{
	f->index[node] = f->low[node] = ++f->next_index;
	f->cursor[node] = f->g->nodes[node].first;
	*vec_push(&f->stack) = node;
	f->work[(*depth)++] = node;
}

/* Tarjan's algorithm without recursion: a graph may be one long chain. */
static void find_components(struct verdict_finder *f, size_t start)
{
	const struct graph *g = f->g;
	size_t depth = 0;

	verdict_visit(f, start, &depth);
	while (depth) {
		size_t node = f->work[depth - 1];
		const struct graph_node *n = &g->nodes[node];

		if (f->cursor[node] == n->first + n->nedges) {
			if (f->low[node] == f->index[node])
				end_component(f, node);
			depth--;
			size_t before = depth ? f->work[depth - 1] : node;
			if (f->low[node] < f->low[before])
				f->low[before] = f->low[node];
			continue;
		}
		const struct graph_edge *e = &g->edges[f->cursor[node]++];
		if (!verdict_binds(f, e))
			continue;
		if (!f->index[e->to])
			verdict_visit(f, e->to, &depth);
		else if (!f->component[e->to] && f->index[e->to] < f->low[node])
			f->low[node] = f->index[e->to];
	}
}

static void run_pass(struct verdict_finder *f, const struct verdict_pass *pass)
{
	size_t n = f->g->nnodes;

	f->pass = pass;
	if (find_stuck(f) == 0)
		return;
	memset(f->index, 0, n * sizeof(*f->index));
	memset(f->component, 0, n * sizeof(*f->component));
	f->next_index = f->ncomponents = f->anchor.n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!f->can[i] && !f->index[i])
			find_components(f, i);
	}
	for (size_t i = 0; i < n; i++)
		f->explained[i] |= !f->can[i];
}

/* Finds the participants behind each verdict, after the last pass. */
static void verdict_find_behind(struct verdict_finder *f)
{
	for (size_t i = 0; i < f->g->nnodes; i++) {
		if (f->can[i] || f->verdict_of[i] || !graph_is_participant(&f->g->nodes[i]))
			continue;
		size_t at = f->component[i] ? f->anchor.data[f->component[i] - 1] : 0;
		struct verdict *v = at ? &f->list.data[at - 1] : NULL;

		if (v && v->nbehind++ < VERDICT_MAX_BEHIND)
			v->behind[v->nbehind - 1] = i;
	}
}

/* ---- the whole ---- */

static void sort_into(struct verdict_finder *f)
{
	const struct graph *g = f->g;

	for (size_t i = 0; i < g->nedges; i++)
		f->first_into[g->edges[i].to + 1]++;
	for (size_t i = 0; i < g->nnodes; i++)
		f->first_into[i + 1] += f->first_into[i];
	for (size_t i = 0; i < g->nedges; i++)
		f->into[f->first_into[g->edges[i].to] + f->work[g->edges[i].to]++] = i;
}

static void find_all(struct verdict_finder *f, struct arena *tmp)
{
	size_t n = f->g->nnodes;

	f->into = NEW_ARRAY(tmp, size_t, f->g->nedges + 1);
	f->first_into = NEW_ARRAY(tmp, size_t, n + 2);
	f->work = NEW_ARRAY(tmp, size_t, n + 1);
	f->can = NEW_ARRAY(tmp, bool, n + 1);
	f->explained = NEW_ARRAY(tmp, bool, n + 1);
	f->pending = NEW_ARRAY(tmp, size_t, n + 1);
	f->verdict_of = NEW_ARRAY(tmp, size_t, n + 1);
	f->index = NEW_ARRAY(tmp, size_t, n + 1);
	f->low = NEW_ARRAY(tmp, size_t, n + 1);
	f->cursor = NEW_ARRAY(tmp, size_t, n + 1);
	f->component = NEW_ARRAY(tmp, size_t, n + 1);
	f->from_edge = NEW_ARRAY(tmp, size_t, n + 1);
	sort_into(f);
	f->aborts = arena_memdup(tmp, f->g->aborts, f->g->naborts * sizeof(*f->aborts));
	if (f->g->naborts)
		qsort(f->aborts, f->g->naborts, sizeof(*f->aborts), verdict_compare_aborts);
	/* Most programs are healthy: the pass that finds most proves it in one run. */
	f->pass = &passes[NPASSES - 1];
	f->v->nstuck = find_stuck(f);
	for (size_t i = 0; i < n; i++)
		f->v->stuck[i] = !f->can[i];
	for (size_t i = 0; f->v->nstuck && i < NPASSES; i++)
		run_pass(f, &passes[i]);
	if (f->v->nstuck)
		verdict_find_behind(f);
}

struct verdicts *verdicts_find(const struct graph *g)
{
	struct verdicts *v = calloc(1, sizeof(*v));
	struct verdict_finder f = { .g = g, .v = v };
	SCRATCH(tmp);

	if (!v)
		out_of_memory();
	v->graph = g;
	v->stuck = NEW_ARRAY(&v->arena, bool, g->nnodes + 1);
	find_all(&f, &tmp);
	v->n = f.list.n;
	v->list = vec_to_arena(&f.list, &v->arena);
	vec_free(&f.stack);
	vec_free(&f.path);
	vec_free(&f.anchor);
	return v;
}

void verdicts_free(struct verdicts *v)
{
	if (!v)
		return;
	arena_free(&v->arena);
	free(v);
}

void verdicts_freep(struct verdicts **v)
{
	verdicts_free(*v);
}

const char *verdict_kind_name(enum verdict_kind kind)
{
	static const char *const names[] = {
		[VERDICT_DEADLOCK] = "deadlock",
		[VERDICT_FUTURELOCK] = "futurelock",
		[VERDICT_LOST] = "lost",
	};

	return names[kind];
}
