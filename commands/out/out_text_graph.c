/* Prints the wait-for graph, verdicts and findings as text. */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "commands/out/out_text.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/alike.h"
#include "runtimes/analysis/finding.h"
#include "runtimes/analysis/view.h"
#include "runtimes/graph/verdict.h"

enum {
	MAX_HOLDERS = 8,
	MAX_WAKERS = 3,
	MAX_DEPTH = 16,
	MAX_PARTICIPANTS = 100, /* on a terminal */
};

struct graph_text {
	struct text *t;
	const struct graph *g;
	const struct verdicts *v;
};

static void indent(struct text *t, unsigned depth)
{
	str_printf(&t->line, "%*s", (int)(3 * depth), "");
}

static void clean_text(struct text *t, const char *before, const char *text)
{
	str_append(&t->line, before);
	text_clean(t, text);
}

/* n: the node whose owner the edge leads to, NULL: the edge is a wait. times: see holder(). */
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
	clean_text(t, " ! ", e->doubt);
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
static void holder(struct graph_text *gt, const struct graph_node *n, const struct graph_edge *e,
                   size_t times, unsigned depth)
{
	struct text *t = gt->t;
	SCRATCH(tmp);
	const char *evidence = graph_evidence_text(&tmp, e), *how = verb(e);

	indent(t, depth);
	if (e->to == GRAPH_OUTSIDE) {
		str_append(&t->line, nobody(t->out.answer.snapshot, n));
		text_end_line(t);
		return;
	}
	str_append(&t->line, how);
	clean_text(t, *how ? " " : "", graph_participant_text(&tmp, &gt->g->nodes[e->to]));
	if (evidence) {
		clean_text(t, " (", evidence);
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
		holder(gt, n, shown[k], times[k], depth);
	if (left) {
		indent(gt->t, depth);
		str_printf(&gt->t->line, "and %zu more", left);
		text_end_line(gt->t);
	}
}

static void edges(struct graph_text *gt, const struct graph_node *n, unsigned depth,
                  const char *word);

/* Prints the node's predecessor in the queue and the owner of the lock. */
static void place(struct graph_text *gt, const struct graph_node *n, unsigned depth)
{
	for (size_t i = n->first; i < n->first + n->nedges; i++) {
		/* What was granted is among the owners of the lock. */
		if (gt->g->edges[i].queued && !gt->g->edges[i].granted)
			holder(gt, n, &gt->g->edges[i], 1, depth);
	}
	holders(gt, &gt->g->nodes[n->lock], depth);
}

static void alternatives(struct graph_text *gt, const struct graph_node *n, unsigned depth)
{
	str_append(&gt->t->line, n->rule == GRAPH_ANY ? "any of" : "all of");
	clean_text(gt->t, " (", n->what);
	str_append(&gt->t->line, "):");
	text_end_line(gt->t);
	edges(gt, n, depth + 1, "");
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
		clean_text(t, to->kind == GRAPH_OUTSIDE ? "" : " [", e->wait->phrase);
		str_append(&t->line, to->kind == GRAPH_OUTSIDE ? "" : "]");
		text_style(t, STYLE_PLAIN);
	} else if (to->kind == GRAPH_OUTSIDE) {
		str_append(&t->line, "something that is not known");
	}
	doubt(gt, NULL, e, 1);
	text_end_line(t);
	if (to->kind == GRAPH_QUEUE)
		place(gt, to, depth + 1);
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

	indent(gt->t, depth);
	clean_text(gt->t, th->task ? "runs task " : "waits for ", th->task ? th->task : what);
	text_end_line(gt->t);
}

static bool is_own_thread(const struct graph_node *n, const struct graph_node *to)
{
	return n->kind == GRAPH_ROOT && to->kind == GRAPH_THREAD && n->thread == to->thread;
}

static void edges(struct graph_text *gt, const struct graph_node *n, unsigned depth,
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
		indent(gt->t, depth);
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
		clean_text(t, " ", at->function);
		text_place(t, at->file_short, at->line);
	} else if (n->job && n->job->function) {
		clean_text(t, " ", n->job->function);
	}
	if (gt->v->stuck[node]) {
		text_style(t, STYLE_PROBLEM);
		str_append(&t->line, " [stuck]");
	}
	text_end_line(t);
	edges(gt, n, 1, "waits for ");
}

enum which { ALL, STUCK, OTHERS };

/*
 * Prints the first max waiting nodes that are shown and of that kind. *n is increased for each such
 * node.
 */
static void participants(struct graph_text *gt, const bool *shown, enum which which, size_t max,
                         size_t *n)
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
	participants(gt, NULL, STUCK, MAX_PARTICIPANTS, n);
	participants(gt, NULL, OTHERS, MAX_PARTICIPANTS, n);
	text_big(gt->t, *n - MAX_PARTICIPANTS);
	str_append(&gt->t->line, " more wait; async graph ID shows what concerns one task, and a "
	                         "file or pipe gets all");
	text_end_line(gt->t);
}

/*
 * Prints that nothing was found. When no runtime could be read either, that is added, because the
 * line would mislead.
 */
static void nothing_found(struct text *t, const char *what)
{
	const struct snapshot *s = t->out.answer.snapshot;

	str_append(&t->line, what);
	if (s->nruntimes == 0 && !s->complete)
		str_append(&t->line, ", but no runtime either: see notes");
	text_end_line(t);
}

void text_graph(struct out *o, const struct verdicts *v, const bool *shown)
{
	struct graph_text gt = { (struct text *)o, v->graph, v };
	size_t waiting = 0, n = 0;

	participants(&gt, shown, ALL, 0, &waiting);
	if (waiting > MAX_PARTICIPANTS && !shown && o->options.group)
		first_participants(&gt, &n);
	else
		participants(&gt, shown, ALL, SIZE_MAX, &n);
	if (waiting == 0)
		nothing_found(gt.t, "no wait for another task was found");
}

/* Prints the participants that wait behind the first ones of a group of alike verdicts. */
static void behind(struct text *t, const struct verdicts *v, const struct alike *alike)
{
	size_t listed = 0;
	SCRATCH(tmp);

	if (!alike->nbehind)
		return;
	str_printf(&t->line, "   %zu more stand%s behind %s: ", alike->nbehind,
	           alike->nbehind == 1 ? "s" : "", alike->n > 1 ? "them" : "it");
	for (size_t i = 0; i < alike->n; i++) {
		const struct verdict *verdict = &v->list[alike->list[i]];

		for (size_t k = 0;
		     k < verdict->nbehind && k < VERDICT_MAX_BEHIND && listed < VERDICT_MAX_BEHIND;
		     k++)
			clean_text(
				t, listed++ ? ", " : "",
				graph_participant_text(&tmp, &v->graph->nodes[verdict->behind[k]]));
	}
	str_append(&t->line, alike->nbehind > listed ? ", ..." : "");
	text_end_line(t);
}

void text_verdict(struct out *o, const struct verdicts *v, const struct alike *alike)
{
	struct text *t = (struct text *)o;
	const struct verdict *verdict = &v->list[alike->list[0]];
	SCRATCH(tmp);
	const char *others = alike_others(&tmp, v, alike);

	text_style(t, STYLE_PROBLEM);
	str_append(&t->line, verdict->trust < VERDICT_POSSIBLE ? "" : "possible ");
	str_append(&t->line, verdict->kind == VERDICT_LOST ? "lost wake-up"
	                                                   : verdict_kind_name(verdict->kind));
	text_style(t, STYLE_PLAIN);
	clean_text(t, ": ", verdict_text(&tmp, v->graph, verdict));
	text_end_line(t);
	for (size_t k = 0; k < verdict->ndoubts; k++)
		text_problem(t, "   ", verdict->doubts[k]);
	if (others) {
		clean_text(t, "   ", others);
		text_end_line(t);
	}
	behind(t, v, alike);
}

void text_verdicts_end(struct out *o, const struct verdicts *v)
{
	struct text *t = (struct text *)o;

	if (v->n == 0)
		nothing_found(t, "no deadlock found");
	t->unsearched = true;
}

static void finding(struct text *t, const struct finding *f)
{
	text_style(t, f->severity == SEVERITY_INFO ? STYLE_WAIT : STYLE_PROBLEM);
	str_printf(&t->line, "%s: ", severity_name(f->severity));
	text_style(t, STYLE_HEADING);
	str_append(&t->line, f->check);
	text_style(t, STYLE_PLAIN);
	clean_text(t, ": ", f->text);
	if (f->more) {
		clean_text(t, " (more: ", f->more);
		str_append(&t->line, ")");
	}
	text_end_line(t);
	for (size_t i = 0; i < f->ndoubts; i++)
		text_problem(t, "   ", f->doubts[i]);
	if (f->others) {
		clean_text(t, "   ", f->others);
		text_end_line(t);
	}
}

void text_findings(struct out *o, const struct finding *list, size_t n, const char *const *skipped,
                   size_t nskipped)
{
	struct text *t = (struct text *)o;

	for (size_t i = 0; i < n; i++)
		finding(t, &list[i]);
	if (n == 0)
		nothing_found(t, "nothing found");
	for (size_t i = 0; i < nskipped; i++) {
		clean_text(t, "not checked: ", skipped[i]);
		text_end_line(t);
	}
	t->unsearched = true;
}

void text_watched(struct out *o, const struct watched *w)
{
	SCRATCH(tmp);
	struct text *t = (struct text *)o;
	const char *when = saved_time(&tmp, w->when);

	str_printf(&t->line, "%s: ", when ? when : "?");
	if (w->gone) {
		str_append(&t->line, "not found any more");
	} else {
		str_append(&t->line, "found by ");
		text_count(t, w->checks, "check");
		str_append(&t->line, w->checks == 1 ? "" : " in a row");
	}
	text_end_line(t);
}
