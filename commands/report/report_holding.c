/* The resource owners of a report. */
#include "commands/json/out_json.h"
#include "commands/report/report_parts.h"
#include "debugger/base/map.h"

enum holding_flag {
	FLAG_DECLARED = 1,
	FLAG_GRANTED = 2,
	FLAG_PARTIAL = 4,
};

static uint32_t flags_of(const struct holding *h)
{
	return (h->declared ? FLAG_DECLARED : 0) | (h->granted ? FLAG_GRANTED : 0) |
	       (h->partial ? FLAG_PARTIAL : 0);
}

/* ---- the graph's edge of a holding ---- */

/*
 * Ranks edges by how little they claim. The page must not claim more of a holding than any of its
 * edges.
 */
static unsigned uncertainty_rank(const struct graph_edge *e)
{
	return !e->doubt ? 0 : e->doubt == graph_sole_doubt ? 1 : 2;
}

static void note_edge(struct map *edges, const struct holding *h, const struct graph_edge *e)
{
	const struct graph_edge *known = map_get(edges, (uintptr_t)h);

	if (!known || uncertainty_rank(known) < uncertainty_rank(e))
		map_put(edges, (uintptr_t)h, (void *)(uintptr_t)e);
}

/* Maps struct holding * to the edge that leads to its owner, for holdings with such an edge. */
static void note_edges(struct map *edges, const struct graph *g)
{
	for (size_t i = 0; i < g->nedges; i++) {
		const struct graph_edge *e = &g->edges[i];

		if (e->holding && !e->candidates)
			note_edge(edges, e->holding, e);
		for (const struct graph_candidate *c = e->candidates; c; c = c->next)
			note_edge(edges, c->holding, e);
	}
}

/* Why the holding is uncertain, in the graph's words; NULL: it is certain. */
static const char *uncertainty_of(const struct holding *h, const struct graph_edge *e)
{
	if (e)
		return e->doubt;
	if (!h->uncertain)
		return NULL;
	if (h->role == HOLDING_SLOT)
		return "its type looks like the guard of a pool";
	return h->sole ? graph_sole_doubt : "it may have been dropped or moved earlier";
}

/* The number of places in the owner that may have the object of the edge. */
static uint32_t places_of(const struct graph_edge *e)
{
	uint32_t n = 0;

	for (const struct graph_candidate *c = e ? e->candidates : NULL; c; c = c->next)
		n++;
	return n ? n : 1;
}

static void put_holding(struct report *r, const struct holding *h, const struct graph_edge *e)
{
	const uint32_t row[] = {
		h->role,
		report_name(r, h->kind),
		report_name(r, h->type),
		report_address(r, h->addr),
		report_address(r, h->object),
		report_task(r, h->task),
		h->thread,
		h->future ? h->future->number + 1 : 0,
		report_string(r, h->path),
		report_name(r, h->file_short),
		h->line,
		flags_of(h),
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		json_put_int(&r->w, NULL, row[i]);
	json_put_int(&r->w, NULL, h->permits < INT32_MAX ? (int64_t)h->permits : INT32_MAX);
	json_put_int(&r->w, NULL, report_string(r, uncertainty_of(h, e)));
	json_put_int(&r->w, NULL, places_of(e));
}

void report_put_holdings(struct report *r)
{
	struct map edges CLEANUP(map_free) = { 0 };

	note_edges(&edges, r->graph);
	json_open_array(&r->w, "holdings");
	for (size_t i = 0; i < r->snap->nholdings; i++) {
		const struct holding *h = &r->snap->holdings[i];

		put_holding(r, h, map_get(&edges, (uintptr_t)h));
	}
	json_close_array(&r->w);
	json_put_list(&r->w, "unsearched", r->snap->unsearched, r->snap->nunsearched);
}
