/* The wait-for graph. */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/view.h"
#include "runtimes/graph/verdict.h"

enum {
	MAX_HOLDERS = 8,
	MAX_WAKERS = 3,
	MAX_DEPTH = 16,
	MAX_PARTICIPANTS = 100, /* on a terminal */
};

struct shown_graph {
	const struct verdicts *verdicts;
	const bool *shown; /* of the graph's nodes; NULL: all */
};

struct graph_text {
	struct text *t;
	const struct graph *g;
	const struct verdicts *v;
};

static void graph_text_indent(struct text *t, unsigned depth)
{
	str_printf(&t->line, "%*s", (int)(3 * depth), "");
}

/* n: the node whose owner the edge leads to, NULL: the edge is a wait. times: see
 * graph_text_holder(). */
static void doubt(struct graph_text *gt, const struct graph_node *n, const struct graph_edge *e,
                  size_t times)
{
	struct text *t = gt->t;
	size_t candidates = 0;

	if (!e->doubt)
		return;
	if (e->doubt == graph_sole_doubt) {
		for (size_t i = 0; n && i < n->nedges; i++)
			candidates += gt->g->edges[n->first + i].doubt == graph_sole_doubt;
		text_candidates(t, times, candidates);
		return;
	}
	text_style(t, STYLE_PROBLEM);
	text_clean_after(t, " ! ", e->doubt);
	text_style(t, STYLE_PLAIN);
}

/* "held by", "behind", ...: the first words of a line for an edge of an object. */
static const char *verb(const struct graph_edge *e)
{
	static const struct {
		const char *kind, *verb;
	} verbs[] = {
		{ "holds", "held by" },   { "sends", "sender in" }, { "receives", "receiver in" },
		{ "queued", "behind" },   { "member", "" },         { "runs", "runs on" },
		{ "refers", "known to" }, { "busy", "busy:" },
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(e->kind, verbs[i].kind) == 0)
			return e->granted ? "granted to" : verbs[i].verb;
	}
	return "";
}

static const char *nobody(const struct snapshot *s, const struct graph_node *n)
{
	switch (n->kind) {
	case GRAPH_LOCK:
		return n->nedges > 1 ? "others may have it too" : "holder not found";
	case GRAPH_POOL:
		return runtime_lacks_thread(&s->runtimes[n->runtime])
		               ? "it has no thread: none could be made, or the first one is being "
		                 "made at this moment"
		               : "it has or may get another thread";
	case GRAPH_CHANNEL:
		return n->nedges > 1 ? "and others, which were not found"
		                     : "its other ends were not found";
	default:
		return "and others";
	}
}

/* Prints the owner of an object. times: the number of identical lines that this one replaces. */
static void graph_text_holder(struct graph_text *gt, const struct graph_node *n,
                              const struct graph_edge *e, size_t times, unsigned depth)
{
	struct text *t = gt->t;
	SCRATCH(tmp);
	const char *evidence = graph_evidence_text(&tmp, e), *how = verb(e);

	graph_text_indent(t, depth);
	if (e->to == GRAPH_OUTSIDE) {
		str_append(&t->line, nobody(t->out.answer.snapshot, n));
		text_end_line(t);
		return;
	}
	str_append(&t->line, how);
	text_clean_after(t, *how ? " " : "", graph_participant_text(&tmp, &gt->g->nodes[e->to]));
	if (evidence) {
		text_clean_after(t, " (", evidence);
		str_append(&t->line, ")");
	}
	if (e->unpolled && (e->granted || e->queued))
		str_append(&t->line, ", which does not poll it");
	if (times > 1)
		str_printf(&t->line, ", %zu times", times);
	doubt(gt, n, e, times);
	text_end_line(t);
}

/* Whether both edges would be printed as the same line. */
static bool same_holder(const struct graph_edge *a, const struct graph_edge *b)
{
	SCRATCH(tmp);

	return a->to == b->to && a->granted == b->granted && strcmp(a->kind, b->kind) == 0 &&
	       str_same(a->doubt, b->doubt) &&
	       str_same(graph_evidence_text(&tmp, a), graph_evidence_text(&tmp, b));
}

/* Prints the owners of an object; identical lines are printed once. */
static void holders(struct graph_text *gt, const struct graph_node *n, unsigned depth)
{
	const struct graph_edge *edges = &gt->g->edges[n->first], *shown[MAX_HOLDERS + 1];
	size_t times[MAX_HOLDERS + 1], nshown = 0, left = 0;
	/* References to a Notify are many, and may wake no task: print fewer. */
	size_t max = n->kind == GRAPH_WAKERS ? MAX_WAKERS : MAX_HOLDERS;

	for (size_t i = 0; i < n->nedges; i++) {
		size_t k = 0;

		while (k < nshown && !same_holder(shown[k], &edges[i]))
			k++;
		if (k < nshown) {
			times[k]++;
		} else if (nshown <= max) {
			shown[nshown] = &edges[i];
			times[nshown++] = 1;
		} else {
			left++;
		}
	}
	/* The line that counts the rest replaces the last owner's line. */
	if (left)
		left += times[--nshown];
	for (size_t k = 0; k < nshown; k++)
		graph_text_holder(gt, n, shown[k], times[k], depth);
	if (left) {
		graph_text_indent(gt->t, depth);
		str_printf(&gt->t->line, "and %zu more", left);
		text_end_line(gt->t);
	}
}

static void graph_text_edges(struct graph_text *gt, const struct graph_node *n, unsigned depth,
                             const char *word);

/* Prints the node's predecessor in the queue and the owner of the lock. */
static void graph_text_place(struct graph_text *gt, const struct graph_node *n, unsigned depth)
{
	for (size_t i = n->first; i < n->first + n->nedges; i++) {
		/* A predecessor that was granted the lock is among its owners. */
		if (gt->g->edges[i].queued && !gt->g->edges[i].granted)
			graph_text_holder(gt, n, &gt->g->edges[i], 1, depth);
	}
	holders(gt, &gt->g->nodes[n->lock], depth);
}

static void alternatives(struct graph_text *gt, const struct graph_node *n, unsigned depth)
{
	str_append(&gt->t->line, n->rule == GRAPH_ANY ? "any of" : "all of");
	text_clean_after(gt->t, " (", n->what);
	str_append(&gt->t->line, "):");
	text_end_line(gt->t);
	graph_text_edges(gt, n, depth + 1, "");
}

/* Prints one awaited object. The text before it is already on the line. */
static void target(struct graph_text *gt, const struct graph_edge *e, unsigned depth)
{
	const struct graph_node *to = &gt->g->nodes[e->to];
	struct text *t = gt->t;
	SCRATCH(tmp);

	if (to->kind == GRAPH_FORK) {
		alternatives(gt, to, depth);
		return;
	}
	if (to->kind == GRAPH_ARM && to->nedges == 1 && depth < MAX_DEPTH) {
		target(gt, &gt->g->edges[to->first], depth);
		return;
	}
	if (to->kind != GRAPH_OUTSIDE)
		text_clean(t, graph_object_text(&tmp, to));
	if (e->wait && e->wait->phrase) {
		text_style(t, STYLE_WAIT);
		text_clean_after(t, to->kind == GRAPH_OUTSIDE ? "" : " [", e->wait->phrase);
		str_append(&t->line, to->kind == GRAPH_OUTSIDE ? "" : "]");
		text_style(t, STYLE_PLAIN);
	} else if (to->kind == GRAPH_OUTSIDE) {
		str_append(&t->line, "something that is not known");
	}
	doubt(gt, NULL, e, 1);
	text_end_line(t);
	if (to->kind == GRAPH_QUEUE)
		graph_text_place(gt, to, depth + 1);
	else if (!graph_is_participant(to) && to->kind != GRAPH_OUTSIDE)
		holders(gt, to, depth + 1);
}

/* Whether another edge of the same wait has known wakers: they are printed with that edge. */
static bool is_printed_again(const struct graph *g, const struct graph_node *n,
                             const struct graph_edge *e)
{
	for (size_t i = n->first; e->future && i < n->first + n->nedges; i++) {
		if (g->edges[i].weak && g->edges[i].future == e->future)
			return true;
	}
	return false;
}

/*
 * Prints why the thread of a block_on does not go on: it runs a task, or waits itself. The edge
 * leads to that thread, which has the same name as the block_on.
 */
static void own_thread(struct graph_text *gt, const struct thread_info *th, unsigned depth)
{
	const char *what = th->wait && th->wait->phrase ? th->wait->phrase : "a native lock";

	graph_text_indent(gt->t, depth);
	text_clean_after(gt->t, th->task ? "runs task " : "waits for ", th->task ? th->task : what);
	text_end_line(gt->t);
}

static bool is_own_thread(const struct graph_node *n, const struct graph_node *to)
{
	return n->kind == GRAPH_ROOT && to->kind == GRAPH_THREAD && n->thread == to->thread;
}

static void graph_text_edges(struct graph_text *gt, const struct graph_node *n, unsigned depth,
                             const char *word)
{
	for (size_t i = n->first; i < n->first + n->nedges && depth < MAX_DEPTH; i++) {
		const struct graph_edge *e = &gt->g->edges[i];

		if (is_own_thread(n, &gt->g->nodes[e->to])) {
			own_thread(gt, n->thread, depth);
			continue;
		}
		if (e->to == GRAPH_OUTSIDE &&
		    (graph_is_participant(n) || is_printed_again(gt->g, n, e)))
			continue;
		graph_text_indent(gt->t, depth);
		str_append(&gt->t->line, strcmp(e->kind, "runs") == 0 ? "runs on " : word);
		target(gt, e, depth);
	}
}

static void participant(struct graph_text *gt, size_t node)
{
	const struct graph_node *n = &gt->g->nodes[node];
	const struct future *at = future_awaiting(n->future);
	struct text *t = gt->t;
	SCRATCH(tmp);

	text_style(t, STYLE_HEADING);
	text_clean(t, graph_participant_text(&tmp, n));
	text_style(t, STYLE_PLAIN);
	if (at && at->function) {
		text_clean_after(t, " ", at->function);
		text_place(t, at->file_short, at->line);
	} else if (n->job && n->job->function) {
		text_clean_after(t, " ", n->job->function);
	}
	if (gt->v->stuck[node]) {
		text_style(t, STYLE_PROBLEM);
		str_append(&t->line, " [stuck]");
	}
	text_end_line(t);
	graph_text_edges(gt, n, 1, "waits for ");
}

enum which { ALL, STUCK, OTHERS };

/*
 * Prints the first max waiting nodes that are shown and of that kind. *n is increased for each such
 * node.
 */
static void graph_text_participants(struct graph_text *gt, const bool *shown, enum which which,
                                    size_t max, size_t *n)
{
	for (size_t i = 0; i < gt->g->nnodes && !ferror(gt->t->out.options.answers); i++) {
		if ((shown && !shown[i]) || (which != ALL && gt->v->stuck[i] != (which == STUCK)) ||
		    !graph_waits(gt->g, i))
			continue;
		if ((*n)++ < max)
			participant(gt, i);
	}
}

/* Prints a limited number of nodes, stuck ones first, and counts the others. */
static void first_participants(struct graph_text *gt, size_t *n)
{
	graph_text_participants(gt, NULL, STUCK, MAX_PARTICIPANTS, n);
	graph_text_participants(gt, NULL, OTHERS, MAX_PARTICIPANTS, n);
	text_big(gt->t, *n - MAX_PARTICIPANTS);
	str_append(&gt->t->line, " more wait; async graph ID shows what concerns one task, and a "
	                         "file or pipe gets all");
	text_end_line(gt->t);
}

static void graph_text(struct text *t, const void *part)
{
	const struct shown_graph *of = part;
	struct graph_text gt = { t, of->verdicts->graph, of->verdicts };
	size_t waiting = 0, n = 0;

	graph_text_participants(&gt, of->shown, ALL, 0, &waiting);
	if (waiting > MAX_PARTICIPANTS && !of->shown && t->out.options.group)
		first_participants(&gt, &n);
	else
		graph_text_participants(&gt, of->shown, ALL, SIZE_MAX, &n);
	if (waiting == 0)
		text_nothing_found(gt.t, "no wait for another task was found");
}

static void graph_json_node(struct json_writer *w, const struct verdicts *v, size_t node)
{
	const struct graph_node *n = &v->graph->nodes[node];
	SCRATCH(tmp);

	json_open_object(w, NULL);
	json_put_int(w, "id", (int64_t)node);
	json_put_text(w, "kind", graph_node_kind_name(n->kind));
	json_put_text(w, "text", graph_object_text(&tmp, n));
	json_put_text(w, "rule", n->rule == GRAPH_ANY ? "any" : "all");
	json_put_bool(w, "stuck", v->stuck[node]);
	out_json_node_task(w, n);
	out_json_number_if(w, "thread", n->thread, n->thread ? n->thread->number : 0);
	out_json_number_if(w, "tid", n->thread, n->thread ? (uint64_t)n->thread->tid : 0);
	json_put_text(w, "what", n->what);
	json_put_text(w, "name", n->name);
	json_put_address(w, "object", n->object);
	json_close_object(w);
}

static void graph_json_edge(struct json_writer *w, const struct graph *g,
                            const struct graph_edge *e)
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

static void graph_json(struct json_writer *w, const void *part)
{
	const struct shown_graph *of = part;
	const struct verdicts *v = of->verdicts;
	const bool *shown = of->shown;
	const struct graph *g = v->graph;

	json_open_object(w, "graph");
	json_open_array(w, "nodes");
	for (size_t i = 0; i < g->nnodes && !ferror(w->f); i++) {
		if (!shown || shown[i] || i == GRAPH_OUTSIDE)
			graph_json_node(w, v, i);
	}
	json_close_array(w);
	json_open_array(w, "edges");
	for (size_t i = 0; i < g->nedges && !ferror(w->f); i++) {
		const struct graph_edge *e = &g->edges[i];

		if (!shown || (shown[e->from] && (shown[e->to] || e->to == GRAPH_OUTSIDE)))
			graph_json_edge(w, g, e);
	}
	json_close_array(w);
	json_close_object(w);
}

static const struct part_kind graph_part = { sizeof(struct shown_graph), graph_text, graph_json };

void part_graph(struct out *o, const struct verdicts *v, const bool *shown)
{
	out_part(o, &graph_part, &(struct shown_graph){ v, shown });
}
