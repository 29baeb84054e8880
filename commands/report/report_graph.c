/* The wait-for graph and the findings of a report. */
#include "commands/json/out_json.h"
#include "commands/report/report_parts.h"
#include "debugger/base/vec.h"
#include "dwarf/names/demangle.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/analysis/view.h"
#include "runtimes/graph/verdict.h"

enum node_flag { FLAG_STUCK = 1, FLAG_ANY = 2, FLAG_OUTSIDE = 4 };
enum edge_flag { FLAG_WEAK = 1, FLAG_QUEUED = 2, FLAG_GRANTED = 4 };

/* The graph as reported: without edges that lead outside, and without nodes that have no edges. */
struct report_graph_part {
	struct report *r;
	const struct graph *g;
	const struct verdicts *v;
	struct arena arena;
	uint32_t *numbers; /* by node: its index in the report + 1; 0: not in the report */
	bool *outside;     /* by node: whether it has an edge that leads outside */
	VEC(size_t) nodes; /* nodes in the report */
};

static void report_graph_put(struct report_graph_part *p, uint64_t number)
{
	json_put_int(&p->r->w, NULL, (int64_t)number);
}

static void report_graph_take_node(struct report_graph_part *p, size_t node)
{
	if (p->numbers[node])
		return;
	*vec_push(&p->nodes) = node;
	p->numbers[node] = (uint32_t)p->nodes.n;
}

static void report_graph_choose(struct report_graph_part *p)
{
	for (size_t i = 0; i < p->v->n; i++) {
		for (size_t k = 0; k < p->v->list[i].nmembers; k++)
			report_graph_take_node(p, p->v->list[i].members[k]);
	}
	for (size_t i = 0; i < p->g->nedges; i++) {
		const struct graph_edge *e = &p->g->edges[i];

		if (e->to == 0) {
			p->outside[e->from] = true;
			continue;
		}
		report_graph_take_node(p, e->from);
		report_graph_take_node(p, e->to);
	}
}

/*
 * The name of a node's future, as `tasks` prints it: for a wrapper, the name of the wrapped future.
 * For a fork, the future that forks. NULL when there is no future.
 */
static const char *name_of(struct arena *a, const struct graph_node *n)
{
	const struct future *f = n->kind == GRAPH_FORK ? n->future : future_named(n->future);

	if (!f)
		return NULL;
	return f->function || !f->type ? f->function : name_short(a, f->type);
}

/* Writes a node: seven numbers. */
static void report_graph_put_node(struct report_graph_part *p, size_t node)
{
	const struct graph_node *n = &p->g->nodes[node];
	SCRATCH(tmp);

	report_graph_put(p, report_name(p->r, graph_node_kind_name(n->kind)));
	report_graph_put(p, report_task(p->r, n->task));
	report_graph_put(p, n->thread ? n->thread->number : 0);
	report_graph_put(p, report_string(p->r, graph_object_text(&tmp, n)));
	report_graph_put(p, report_string(p->r, name_of(&tmp, n)));
	report_graph_put(p, report_address(p->r, n->object));
	report_graph_put(p, (uint64_t)(p->v->stuck[node] ? FLAG_STUCK : 0) |
	                            (n->rule == GRAPH_ANY ? FLAG_ANY : 0) |
	                            (p->outside[node] ? FLAG_OUTSIDE : 0));
}

/* Writes an edge: seven numbers. */
static void report_graph_put_edge(struct report_graph_part *p, const struct graph_edge *e)
{
	SCRATCH(tmp);

	report_graph_put(p, p->numbers[e->from] - 1);
	report_graph_put(p, p->numbers[e->to] - 1);
	report_graph_put(p, report_name(p->r, e->kind));
	report_graph_put(p, (uint64_t)(e->weak ? FLAG_WEAK : 0) | (e->queued ? FLAG_QUEUED : 0) |
	                            (e->granted ? FLAG_GRANTED : 0));
	report_graph_put(p, report_string(p->r, graph_evidence_text(&tmp, e)));
	report_graph_put(p, report_string(p->r, e->doubt));
	report_graph_put(p, report_string(p->r, e->wait ? e->wait->phrase : NULL));
}

static void put_graph(struct report_graph_part *p)
{
	struct json_writer *w = &p->r->w;

	json_open_array(w, "graph_nodes");
	for (size_t i = 0; i < p->nodes.n; i++)
		report_graph_put_node(p, p->nodes.data[i]);
	json_close_array(w);
	json_open_array(w, "graph_edges");
	for (size_t i = 0; i < p->g->nedges; i++) {
		if (p->g->edges[i].to != 0)
			report_graph_put_edge(p, &p->g->edges[i]);
	}
	json_close_array(w);
	json_put_list(w, "graph_notes", p->g->notes, p->g->nnotes);
	json_put_text(w, "sole_doubt", graph_sole_doubt);
}

/* Writes the findings of `check` from one snapshot, except verdicts. */
static void put_findings(struct report_graph_part *p)
{
	struct json_writer *w = &p->r->w;
	struct verdicts none = *p->v;
	struct checks c = { .a = &p->arena, .s = p->r->snap, .v = &none };

	none.n = 0;
	for (const struct check *row = checks_table; row->name; row++)
		row->run(&c, row);
	json_open_array(w, "findings");
	for (size_t i = 0; i < c.found.n; i++) {
		const struct finding *f = &c.found.data[i];

		json_open_object(w, NULL);
		json_put_text(w, "check", f->check);
		json_put_text(w, "severity", severity_name(f->severity));
		json_put_text(w, "text", f->text);
		json_put_list(w, "tasks", f->tasks, f->ntasks);
		json_put_int(w, "all_tasks", (int64_t)f->all_tasks);
		json_close_object(w);
	}
	json_close_array(w);
	vec_free(&c.found);
	vec_free(&c.skipped);
}

/* Writes a node as its index in the report, or by name when it is not in the report. */
static void report_graph_put_participant(struct report_graph_part *p, size_t node)
{
	SCRATCH(tmp);

	if (p->numbers[node])
		report_graph_put(p, p->numbers[node] - 1);
	else
		json_put_text(&p->r->w, NULL, graph_participant_text(&tmp, &p->g->nodes[node]));
}

static void report_graph_put_verdict(struct report_graph_part *p, const struct verdict *verdict,
                                     size_t alike)
{
	struct json_writer *w = &p->r->w;
	SCRATCH(tmp);

	json_open_object(w, NULL);
	json_put_text(w, "kind", verdict_kind_name(verdict->kind));
	json_put_bool(w, "certain", verdict->certain);
	json_put_bool(w, "possible", verdict->trust == VERDICT_POSSIBLE);
	json_put_text(w, "text", verdict_text(&tmp, p->g, verdict));
	json_put_list(w, "doubts", verdict->doubts, verdict->ndoubts);
	json_open_array(w, "members");
	for (size_t i = 0; i < verdict->nmembers; i++)
		report_graph_put_participant(p, verdict->members[i]);
	json_close_array(w);
	json_open_array(w, "cycle");
	for (size_t i = 0; i < verdict->ncycle; i++)
		report_graph_put_participant(p, verdict->cycle[i].participant);
	json_close_array(w);
	json_open_array(w, "behind");
	for (size_t i = 0; i < verdict->nbehind && i < VERDICT_MAX_BEHIND; i++)
		report_graph_put_participant(p, verdict->behind[i]);
	json_close_array(w);
	json_put_int(w, "all_behind", (int64_t)verdict->nbehind);
	json_put_int(w, "alike", (int64_t)alike);
	json_close_object(w);
}

static void free_part(struct report_graph_part *p)
{
	arena_free(&p->arena);
	vec_free(&p->nodes);
}

void report_put_graph(struct report *r)
{
	const struct graph *g = r->graph;
	struct verdicts *v CLEANUP(verdicts_freep) = verdicts_find(g);
	struct report_graph_part p CLEANUP(free_part) = { .r = r, .g = g, .v = v };

	p.numbers = NEW_ARRAY(&p.arena, uint32_t, g->nnodes);
	p.outside = NEW_ARRAY(&p.arena, bool, g->nnodes);
	report_graph_choose(&p);
	put_graph(&p);
	struct verdict_groups alikes;
	verdict_groups_make(&p.arena, v, &alikes);
	json_open_array(&r->w, "verdicts");
	for (size_t i = 0; i < v->n; i++)
		report_graph_put_verdict(&p, &v->list[i], alikes.first[i]);
	json_close_array(&r->w);
	put_findings(&p);
}
