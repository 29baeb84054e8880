/* Writes the wait-for graph, verdicts and findings as JSON. */
#include "commands/json/out_json.h"
#include "runtimes/analysis/alike.h"
#include "runtimes/analysis/finding.h"
#include "runtimes/graph/verdict.h"

/* The id and runtime of a task or job; the runtime of workers or of a pool. */
static void put_task(struct json_writer *w, const struct graph_node *n)
{
	bool known = n->kind == GRAPH_RUNTIME || n->kind == GRAPH_POOL;
	unsigned runtime = n->runtime;

	if (n->task) {
		known = !n->task->undriven;
		runtime = n->task->runtime;
	} else if (n->job) {
		known = n->job->runtime >= 0;
		runtime = known ? (unsigned)n->job->runtime : 0;
	}
	json_put_text(w, "task", n->task ? n->task->id : n->job ? n->job->id : NULL);
	out_json_number_if(w, "runtime", known, runtime);
}

static void put_participant(struct json_writer *w, const char *key, const struct graph_node *n)
{
	SCRATCH(tmp);

	json_open_object(w, key);
	json_put_text(w, "text", graph_participant_text(&tmp, n));
	put_task(w, n);
	out_json_number_if(w, "thread", n->thread, n->thread ? n->thread->number : 0);
	out_json_number_if(w, "tid", n->thread, n->thread ? (uint64_t)n->thread->tid : 0);
	json_close_object(w);
}

static void put_node(struct json_writer *w, const struct verdicts *v, size_t node)
{
	const struct graph_node *n = &v->graph->nodes[node];
	SCRATCH(tmp);

	json_open_object(w, NULL);
	json_put_int(w, "id", (int64_t)node);
	json_put_text(w, "kind", graph_node_kind_name(n->kind));
	json_put_text(w, "text", graph_object_text(&tmp, n));
	json_put_text(w, "rule", n->rule == GRAPH_ANY ? "any" : "all");
	json_put_bool(w, "stuck", v->stuck[node]);
	put_task(w, n);
	out_json_number_if(w, "thread", n->thread, n->thread ? n->thread->number : 0);
	out_json_number_if(w, "tid", n->thread, n->thread ? (uint64_t)n->thread->tid : 0);
	json_put_text(w, "what", n->what);
	json_put_text(w, "name", n->name);
	json_put_address(w, "object", n->object);
	json_close_object(w);
}

static void put_edge(struct json_writer *w, const struct graph *g, const struct graph_edge *e)
{
	const struct holding *h = e->holding;
	SCRATCH(tmp);

	json_open_object(w, NULL);
	json_put_int(w, "from", (int64_t)e->from);
	json_put_int(w, "to", (int64_t)e->to);
	json_put_text(w, "kind", e->kind);
	json_put_text(w, "strength", e->weak ? "weak" : "strong");
	json_put_text(w, "group", g->nodes[e->from].rule == GRAPH_ANY ? "any" : "all");
	json_put_text(w, "phrase", e->wait ? e->wait->phrase : NULL);
	out_json_number_if(w, "frame", e->future, e->future ? e->future->number : 0);
	json_put_text(w, "evidence", graph_evidence_text(&tmp, e));
	json_put_text(w, "path", h ? h->path : NULL);
	json_put_text(w, "file", h ? h->file : NULL);
	out_json_number_if(w, "line", h && h->line, h ? h->line : 0);
	json_put_bool(w, "queued", e->queued);
	json_put_bool(w, "granted", e->granted);
	json_put_bool(w, "unpolled", e->unpolled != NULL);
	json_put_text(w, "doubt", e->doubt);
	json_close_object(w);
}

void out_json_graph(struct json_writer *w, const struct verdicts *v, const bool *shown)
{
	const struct graph *g = v->graph;

	json_open_object(w, "graph");
	json_open_array(w, "nodes");
	for (size_t i = 0; i < g->nnodes && !ferror(w->f); i++) {
		if (!shown || shown[i] || i == GRAPH_OUTSIDE)
			put_node(w, v, i);
	}
	json_close_array(w);
	json_open_array(w, "edges");
	for (size_t i = 0; i < g->nedges && !ferror(w->f); i++) {
		const struct graph_edge *e = &g->edges[i];

		if (!shown || (shown[e->from] && (shown[e->to] || e->to == GRAPH_OUTSIDE)))
			put_edge(w, g, e);
	}
	json_close_array(w);
	json_close_object(w);
}

/* Only of a future that is not polled. */
static void put_queue(struct json_writer *w, const struct graph *g, const struct graph_edge *e)
{
	enum { MAX_NAMED = 32 };

	if (!e || !e->unpolled)
		return;
	out_json_number_if(w, "place", e->place && e->place != UINT64_MAX, e->place);
	json_open_array(w, "queued_behind");
	for (size_t i = 0; i < e->nbehind && i < MAX_NAMED; i++)
		put_participant(w, NULL, &g->nodes[e->behind[i]]);
	json_close_array(w);
	if (e->nbehind > MAX_NAMED)
		json_put_int(w, "queued_behind_count", (int64_t)e->nbehind);
}

static void put_link(struct json_writer *w, const struct graph *g, const struct verdict_link *l)
{
	SCRATCH(tmp);
	const struct graph_node *object = l->object;

	json_open_object(w, NULL);
	put_participant(w, "party", &g->nodes[l->participant]);
	json_put_text(w, "waits", l->waits ? l->waits->kind : NULL);
	json_put_text(w, "phrase", l->waits && l->waits->wait ? l->waits->wait->phrase : NULL);
	json_put_text(w, "what", object ? object->what : NULL);
	json_put_address(w, "object", object ? object->object : 0);
	json_put_text(w, "has", l->has ? l->has->kind : NULL);
	json_put_text(w, "evidence", l->has ? graph_evidence_text(&tmp, l->has) : NULL);
	json_put_bool(w, "granted", l->has && l->has->granted);
	json_put_bool(w, "unpolled", l->has && l->has->unpolled);
	put_queue(w, g, l->has);
	json_close_object(w);
}

static void put_verdict(struct json_writer *w, const struct verdicts *v,
                        const struct verdict *verdict, size_t alike)
{
	const struct graph *g = v->graph;
	SCRATCH(tmp);

	json_open_object(w, NULL);
	json_put_text(w, "kind", verdict_kind_name(verdict->kind));
	json_put_bool(w, "certain", verdict->certain);
	json_put_bool(w, "possible", verdict->trust == VERDICT_POSSIBLE);
	json_put_text(w, "text", verdict_text(&tmp, g, verdict));
	json_put_list(w, "doubts", verdict->doubts, verdict->ndoubts);
	json_open_array(w, "members");
	for (size_t i = 0; i < verdict->nmembers; i++)
		put_participant(w, NULL, &g->nodes[verdict->members[i]]);
	json_close_array(w);
	json_open_array(w, "cycle");
	for (size_t i = 0; i < verdict->ncycle; i++)
		put_link(w, g, &verdict->cycle[i]);
	json_close_array(w);
	json_open_array(w, "behind");
	for (size_t i = 0; i < verdict->nbehind && i < VERDICT_MAX_BEHIND; i++)
		put_participant(w, NULL, &g->nodes[verdict->behind[i]]);
	json_close_array(w);
	json_put_int(w, "behind_count", (int64_t)verdict->nbehind);
	json_put_int(w, "alike", (int64_t)alike);
	json_close_object(w);
}

void out_json_verdicts(struct json_writer *w, const struct verdicts *v)
{
	struct alikes alikes;
	SCRATCH(tmp);

	alikes_make(&tmp, v, &alikes);
	json_open_array(w, "verdicts");
	for (size_t i = 0; i < v->n; i++)
		put_verdict(w, v, &v->list[i], alikes.first[i]);
	json_close_array(w);
}

void out_json_findings(struct json_writer *w, const struct finding *list, size_t n,
                       const char *const *skipped, size_t nskipped)
{
	json_open_array(w, "findings");
	for (size_t i = 0; i < n; i++) {
		json_open_object(w, NULL);
		json_put_text(w, "check", list[i].check);
		json_put_text(w, "severity", severity_name(list[i].severity));
		json_put_bool(w, "possible", list[i].possible);
		json_put_text(w, "text", list[i].text);
		json_put_text(w, "more", list[i].more);
		json_put_list(w, "tasks", list[i].tasks, list[i].ntasks);
		out_json_number_if(w, "task_count", list[i].all_tasks, list[i].all_tasks);
		json_put_list(w, "doubts", list[i].doubts, list[i].ndoubts);
		out_json_number_if(w, "verdict_count", list[i].count, list[i].count);
		json_close_object(w);
	}
	json_close_array(w);
	json_put_list(w, "skipped", skipped, nskipped);
}
