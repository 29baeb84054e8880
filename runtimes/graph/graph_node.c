/* Nodes and edges: how they are added, and which node stands for what. */
#include "runtimes/graph/graph_private.h"

size_t graph_add_node(struct builder *b, struct graph_node node)
{
	*vec_push(&b->nodes) = node;
	return b->nodes.n - 1;
}

struct graph_edge *graph_add_edge(struct builder *b, size_t from, size_t to, const char *kind)
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

bool graph_is_participant(const struct graph_node *n)
{
	return n->kind == GRAPH_TASK || n->kind == GRAPH_ROOT || n->kind == GRAPH_THREAD ||
	       n->kind == GRAPH_JOB;
}

const char *graph_node_kind_name(enum graph_node_kind kind)
{
	static const char *const names[] = {
		[GRAPH_OUTSIDE] = "outside", [GRAPH_TASK] = "task",       [GRAPH_ROOT] = "block_on",
		[GRAPH_THREAD] = "thread",   [GRAPH_RUNTIME] = "runtime", [GRAPH_LOCK] = "lock",
		[GRAPH_CHANNEL] = "channel", [GRAPH_QUEUE] = "queue",     [GRAPH_FORK] = "fork",
		[GRAPH_ARM] = "arm",         [GRAPH_OWNER] = "owner",     [GRAPH_SET] = "set",
		[GRAPH_JOB] = "job",         [GRAPH_POOL] = "pool",       [GRAPH_WAKERS] = "wakers",
	};

	return names[kind];
}
