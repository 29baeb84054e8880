/* Nodes of a graph that can reach one node, or can be reached from it. */
#include <stdlib.h>

#include "debugger/base/vec.h"
#include "runtimes/graph/graph.h"

typedef VEC(size_t) node_vec;

static void graph_reach_push_node(node_vec *work, bool *seen, size_t node)
{
	if (node != GRAPH_OUTSIDE && !seen[node]) {
		seen[node] = true;
		*vec_push(work) = node;
	}
}

static void reach_forward(const struct graph *g, size_t node, bool *seen)
{
	node_vec work = { 0 };

	graph_reach_push_node(&work, seen, node);
	while (work.n) {
		const struct graph_node *n = &g->nodes[work.data[--work.n]];

		for (size_t i = n->first; i < n->first + n->nedges; i++)
			graph_reach_push_node(&work, seen, g->edges[i].to);
	}
	vec_free(&work);
}

static void reach_backward(const struct graph *g, size_t node, bool *seen)
{
	SCRATCH(tmp);
	node_vec work = { 0 };
	size_t *first = NEW_ARRAY(&tmp, size_t, g->nnodes + 2);
	size_t *into = NEW_ARRAY(&tmp, size_t, g->nedges + 1);

	for (size_t i = 0; i < g->nedges; i++)
		first[g->edges[i].to + 2]++;
	for (size_t i = 2; i < g->nnodes + 2; i++)
		first[i] += first[i - 1];
	/* The loop moves first[to + 1] from the start of the edges into `to` to their end. */
	for (size_t i = 0; i < g->nedges; i++)
		into[first[g->edges[i].to + 1]++] = i;
	graph_reach_push_node(&work, seen, node);
	while (work.n) {
		size_t at = work.data[--work.n];

		for (size_t i = first[at]; i < first[at + 1]; i++)
			graph_reach_push_node(&work, seen, g->edges[into[i]].from);
	}
	vec_free(&work);
}

void graph_reach(const struct graph *g, size_t node, bool *shown)
{
	bool *seen = calloc(g->nnodes + 1, sizeof(*seen));

	if (!seen)
		out_of_memory();
	reach_backward(g, node, seen);
	for (size_t i = 0; i < g->nnodes; i++)
		shown[i] |= seen[i];
	for (size_t i = 0; i < g->nnodes; i++)
		seen[i] = false;
	reach_forward(g, node, seen);
	for (size_t i = 0; i < g->nnodes; i++)
		shown[i] |= seen[i];
	free(seen);
}

static bool leads_inside(const struct graph *g, size_t node)
{
	const struct graph_node *n = &g->nodes[node];

	for (size_t i = n->first; i < n->first + n->nedges; i++) {
		size_t to = g->edges[i].to;

		bool part = g->nodes[to].kind == GRAPH_FORK || g->nodes[to].kind == GRAPH_ARM;

		if (part ? leads_inside(g, to) : to != GRAPH_OUTSIDE)
			return true;
	}
	return false;
}

bool graph_waits(const struct graph *g, size_t node)
{
	return graph_is_participant(&g->nodes[node]) && leads_inside(g, node);
}
