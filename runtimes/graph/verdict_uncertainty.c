/* Lists the reasons why a verdict is not certain. */
#include <string.h>

#include "runtimes/graph/verdict_private.h"

static void add_uncertainty(struct verdict *v, const char *doubt)
{
	for (size_t i = 0; i < v->ndoubts; i++) {
		if (strcmp(v->doubts[i], doubt) == 0)
			return;
	}
	if (v->ndoubts < VERDICT_MAX_DOUBTS)
		v->doubts[v->ndoubts++] = doubt;
}

/* The first AbortHandle of that task. */
static size_t first_abort(const struct graph *g, size_t task)
{
	size_t from = 0, to = g->naborts;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (g->aborts[mid].task < task)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Adds a doubt for each AbortHandle of the member whose holder can go on. */
static void abort_uncertainties(const struct graph *g, struct arena *a, const bool *can,
                                struct verdict *v, size_t member)
{
	SCRATCH(tmp);

	for (size_t i = first_abort(g, member);
	     i < g->naborts && g->aborts[i].task == member && v->ndoubts < VERDICT_MAX_DOUBTS;
	     i++) {
		const struct graph_abort *by = &g->aborts[i];

		if (can[by->by])
			add_uncertainty(
				v, arena_printf(a, "%s %s an AbortHandle of %s%s",
			                        graph_participant_text(&tmp, &g->nodes[by->by]),
			                        by->holding->uncertain ? "may have" : "holds",
			                        by->inside ? "a future in " : "",
			                        graph_participant_text(&tmp, &g->nodes[member])));
	}
}

void verdict_uncertainties(const struct graph *g, struct arena *a, const bool *can,
                           struct verdict *v, const size_t *edges, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct graph_edge *e = &g->edges[edges[i]];

		if (e->doubt == graph_sole_doubt)
			add_uncertainty(
				v, "rests on guards or ends of channels that were found nowhere "
				   "else, though nothing proves that they are still there");
		else if (e->doubt)
			add_uncertainty(v, e->doubt);
		if (g->nodes[e->from].maybe_any && v->trust == VERDICT_POSSIBLE)
			add_uncertainty(
				v, "if the join is a try_join!, an error of another arm ends it");
	}
	for (size_t i = 0;
	     i < v->nmembers && v->trust == VERDICT_POSSIBLE && v->ndoubts < VERDICT_MAX_DOUBTS;
	     i++)
		abort_uncertainties(g, a, can, v, v->members[i]);
	if (!v->ndoubts)
		add_uncertainty(v, "one of them may be able to proceed in another way");
}
