/* Prints verdicts as text. */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/graph/verdict.h"
#include "runtimes/model/wait_kind.h"

const char *graph_participant_text(struct arena *a, const struct graph_node *n)
{
	switch (n->kind) {
	case GRAPH_TASK:
		return arena_printf(a, "task %s", n->task->id);
	case GRAPH_ROOT:
	case GRAPH_THREAD:
		return arena_printf(a, "thread #%u", n->thread->number);
	case GRAPH_JOB:
		return arena_printf(a, "blocking job %s", n->job->id ? n->job->id : "?");
	case GRAPH_OWNER:
		return n->task ? arena_printf(a, "task %s", n->task->id)
		               : arena_printf(a, "thread #%u", n->thread->number);
	default:
		return graph_object_text(a, n);
	}
}

/* whose: before the name; NULL: without the name. */
static const char *object_text(struct arena *a, const struct graph_node *n, const char *whose)
{
	if (graph_is_participant(n) || n->kind == GRAPH_OWNER)
		return graph_participant_text(a, n);
	if (n->kind == GRAPH_OUTSIDE)
		return "an external event";
	if (n->kind == GRAPH_RUNTIME)
		return arena_printf(a, "a worker of runtime %u", n->runtime);
	if (n->kind == GRAPH_POOL)
		return arena_printf(a, "a thread of the blocking pool of runtime %u", n->runtime);
	const char *what = n->what ? n->what : "future";
	if (!n->object)
		return what;
	if (n->name && whose)
		return arena_printf(a, "%s 0x%" PRIx64 " (%s`%s`)", what, n->object, whose,
		                    n->name);
	return arena_printf(a, "%s 0x%" PRIx64, what, n->object);
}

const char *graph_object_text(struct arena *a, const struct graph_node *n)
{
	return object_text(a, n, "");
}

static void verdict_text_append_place(struct str *s, const char *file, unsigned line)
{
	if (file)
		str_printf(s, line ? " at %s:%u" : " at %s", file, line);
}

/* The innermost future of the program's own code at or above the leaf: users know it by name. */
static void append_future(struct str *s, const struct future *f)
{
	const char *name = f->function ? f->function : f->type;

	str_printf(s, "`%s`", name ? name : "?");
	verdict_text_append_place(s, f->file_short, f->line);
}

/* A line that is not of the variable's declaration is the current line of its frame. */
static void append_holding(struct str *s, const struct holding *h)
{
	bool has_line = h->file_short && h->line;

	str_printf(s, "`%s`", h->path ? h->path : h->type ? h->type : h->kind);
	if (has_line && h->declared) {
		verdict_text_append_place(s, h->file_short, h->line);
		return;
	}
	const char *file = has_line ? h->file_short : h->future ? h->future->file_short : NULL;

	if (!file)
		return;
	str_append(s, !h->future || h->future->running ? ", running" : ", awaiting");
	verdict_text_append_place(s, file, has_line ? h->line : h->future->line);
}

/* Lists the other places in which the holding may be. */
static void append_candidates(struct str *s, const struct graph_edge *e)
{
	enum { MAX_NAMED = 4 };
	size_t n = 0;

	for (const struct graph_candidate *c = e->candidates; c; c = c->next) {
		if (c->holding == e->holding || n++ >= MAX_NAMED)
			continue;
		str_append(s, " or ");
		append_holding(s, c->holding);
	}
	if (n > MAX_NAMED)
		str_printf(s, " or one of %zu more", n - MAX_NAMED);
}

/* The variable that has an unpolled future, and its frame: "`first` of `app::run`: ". */
static void append_frame(struct str *s, const struct graph_edge *e)
{
	const char *name = e->frame ? e->frame->function : NULL;

	if (e->unpolled->variable && name)
		str_printf(s, "`%s` of `%s`: ", e->unpolled->variable, name);
}

const char *graph_evidence_text(struct arena *a, const struct graph_edge *e)
{
	const struct holding *h = e->holding;
	STR(s);

	if (h)
		append_holding(&s, h);
	append_candidates(&s, e);
	if (e->unpolled && h && h->granted) {
		str_append(&s, " in ");
		append_future(&s, e->unpolled);
	} else if (e->unpolled) {
		str_append(&s, s.len ? ", in a future that is not polled: " : "");
		append_frame(&s, e);
		append_future(&s, e->unpolled);
	}
	return s.len ? arena_strdup(a, str_text(&s)) : NULL;
}

static bool verdict_text_is(const struct graph_edge *e, const char *kind)
{
	return e && e->kind && strcmp(e->kind, kind) == 0;
}

static enum wait_target verdict_text_target_of(const struct graph_edge *e)
{
	return wait_kind_of(e ? e->wait : NULL)->target;
}

static bool waits_for_room(const struct graph_edge *e)
{
	return e && wait_kind_of(e->wait)->access == WAIT_ROOM;
}

/* Prints the place in the queue of a future that is not polled, and the waiters behind it. */
static void verdict_text_append_queue(struct str *s, const struct graph *g,
                                      const struct graph_edge *e)
{
	enum { MAX_NAMED = 8 };
	SCRATCH(tmp);

	if (e->place)
		str_printf(s, ", place %" PRIu64 " in the queue", e->place);
	for (size_t i = 0; i < e->nbehind && i < MAX_NAMED; i++)
		str_printf(s, "%s%s", i ? ", " : ", queued behind it: ",
		           graph_participant_text(&tmp, &g->nodes[e->behind[i]]));
	if (e->nbehind > MAX_NAMED)
		str_printf(s, " and %zu more", e->nbehind - MAX_NAMED);
}

/*
 * Prints what a participant holds that the previous one in the cycle waits for; nothing for a task
 * that is awaited itself. The object's name is a variable of the tasks that wait for it: in a
 * deadlock of two tasks that run ab(a, b) both locks are the `b` of another task.
 */
static bool append_has(struct str *s, const struct graph *g, const struct verdict_link *before)
{
	SCRATCH(tmp);
	const struct graph_edge *e = before->has;
	const char *object = before->object ? object_text(&tmp, before->object, NULL) : "it";
	const char *evidence = e ? graph_evidence_text(&tmp, e) : NULL;

	if (e && e->granted && e->unpolled)
		str_printf(s, "has been granted %s for a future that it holds but does not poll",
		           object);
	else if (verdict_text_is(e, "holds") && e->granted)
		str_printf(s, "has been granted %s", object);
	else if (verdict_text_is(e, "holds"))
		str_printf(s, "holds %s", object);
	else if (e && e->holding && e->holding->queued && verdict_text_is(e, "sends"))
		str_printf(s, "has a sender of %s in a message queued in its mailbox", object);
	else if (verdict_text_is(e, "sends"))
		str_printf(s, "owns a sender of %s", object);
	else if (verdict_text_is(e, "receives"))
		str_printf(s, "owns the receiver of %s", object);
	else if (verdict_text_is(e, "queued") && e->unpolled)
		str_printf(s, "has an unpolled future in the queue of %s", object);
	else if (verdict_text_is(e, "queued"))
		str_printf(s, "is ahead in the queue of %s", object);
	else
		return false;
	if (evidence)
		str_printf(s, " (%s", evidence);
	if (evidence && e->unpolled)
		verdict_text_append_queue(s, g, e);
	if (evidence)
		str_append(s, ")");
	return true;
}

static void append_waits(struct str *s, const struct graph *g, const struct verdict_link *l)
{
	SCRATCH(tmp);
	const char *object = l->object ? object_text(&tmp, l->object, "its ") : NULL;
	enum wait_target target = verdict_text_target_of(l->waits);

	if (l->object && l->object->kind == GRAPH_RUNTIME)
		str_printf(s, "needs %s, all of which are blocked", object);
	else if (l->object && l->object->kind == GRAPH_POOL)
		str_printf(s, "is queued for %s, all of which are waiting", object);
	else if (!l->waits && l->has)
		str_printf(s, "runs on %s", graph_participant_text(&tmp, &g->nodes[l->has->to]));
	else if (target == WAIT_TASK || target == WAIT_THREAD)
		str_printf(s, "waits for %s to end",
		           l->has ? graph_participant_text(&tmp, &g->nodes[l->has->to])
		                  : "another");
	else if (target == WAIT_TASK_SET)
		str_append(s, "waits for a task in its join set");
	else if (waits_for_room(l->waits))
		str_printf(s, "waits for room in %s", object ? object : "a channel");
	else if (l->object && l->object->kind == GRAPH_CHANNEL)
		str_printf(s, "waits for the other end of %s", object);
	else
		str_printf(s, "waits for %s", object ? object : "another");
}

/* Text for participants that have all connections of a pool and wait for another one. */
static const char *exhausted(struct arena *a, const struct graph *g, const struct verdict *v)
{
	SCRATCH(tmp);
	const struct verdict_link *l = &v->cycle[0];
	const struct graph_edge *e = l->has;
	STR(s);

	for (size_t i = 0; i < v->nmembers && i < VERDICT_MAX_CYCLE; i++)
		str_printf(&s, "%s%s", i ? ", " : "",
		           graph_participant_text(&tmp, &g->nodes[v->members[i]]));
	if (v->nmembers > VERDICT_MAX_CYCLE)
		str_printf(&s, " and %zu more", v->nmembers - VERDICT_MAX_CYCLE);
	const char *evidence = e ? graph_evidence_text(&tmp, e) : NULL;
	str_printf(&s, " hold%s all connections of %s", v->nmembers == 1 ? "s" : "",
	           l->object ? graph_object_text(&tmp, l->object) : "a pool");
	if (evidence)
		str_printf(&s, " (%s%s%s)",
		           v->nmembers == 1
		                   ? ""
		                   : graph_participant_text(&tmp, &g->nodes[l->participant]),
		           v->nmembers == 1 ? "" : ": ", evidence);
	str_printf(&s, " and wait%s for another one", v->nmembers == 1 ? "s" : "");
	return arena_strdup(a, str_text(&s));
}

static const char *alone(struct arena *a, const struct graph *g, const struct verdict *v)
{
	SCRATCH(tmp);
	const struct verdict_link *l = &v->cycle[0];
	const struct graph_edge *e = l->has;
	const char *who = graph_participant_text(&tmp, &g->nodes[l->participant]);
	const char *object = l->object ? graph_object_text(&tmp, l->object) : "something";
	const char *evidence = e ? graph_evidence_text(&tmp, e) : NULL;

	STR(place);
	if (evidence && e->unpolled) {
		verdict_text_append_queue(&place, g, e);
		evidence = arena_printf(&tmp, "%s%s", evidence, str_text(&place));
	}
	evidence = evidence ? evidence : "?";
	if (l->waits && wait_kind_of(l->waits->wait)->access == WAIT_SLOTS &&
	    verdict_text_is(e, "holds") && !e->unpolled)
		return exhausted(a, g, v);
	if (v->kind == VERDICT_LOST)
		return arena_printf(
			a,
			"%s waits for the other end of %s, and is the only owner of that end (%s)",
			who, object, evidence);
	if (v->kind == VERDICT_FUTURELOCK && e && e->granted)
		return arena_printf(a,
		                    "%s waits for %s, which has been granted to a future that it "
		                    "holds but does not poll: %s",
		                    who, object, evidence);
	if (v->kind == VERDICT_FUTURELOCK && verdict_text_is(e, "queued"))
		return arena_printf(a,
		                    "%s waits for %s, queued behind a future that it holds but "
		                    "does not poll: %s",
		                    who, object, evidence);
	if (v->kind == VERDICT_FUTURELOCK)
		return arena_printf(a,
		                    "%s waits for %s, held by a future that it does not poll: %s",
		                    who, object, evidence);
	if (waits_for_room(l->waits))
		return arena_printf(a,
		                    "%s waits for room in %s, whose receiver it owns itself (%s)",
		                    who, object, evidence);
	if (verdict_text_is(e, "holds"))
		return arena_printf(a, "%s holds %s (%s) and waits for it", who, object, evidence);
	return arena_printf(a, "%s waits for itself", who);
}

const char *verdict_text(struct arena *a, const struct graph *g, const struct verdict *v)
{
	STR(s);
	SCRATCH(tmp);

	if (v->ncycle == 1)
		return alone(a, g, v);
	for (size_t i = 0; i < v->ncycle && i < VERDICT_MAX_CYCLE; i++) {
		const struct verdict_link *l = &v->cycle[i];
		const struct verdict_link *before = &v->cycle[i ? i - 1 : v->ncycle - 1];

		str_printf(&s, "%s%s ", i ? "; " : "",
		           graph_participant_text(&tmp, &g->nodes[l->participant]));
		if (append_has(&s, g, before))
			str_append(&s, " and ");
		append_waits(&s, g, l);
	}
	if (v->ncycle > VERDICT_MAX_CYCLE)
		str_printf(&s, "; and %zu more in the cycle", v->ncycle - VERDICT_MAX_CYCLE);
	if (v->ncycle == 0)
		str_printf(&s, "%zu tasks and threads wait for each other", v->nmembers);
	return arena_strdup(a, str_text(&s));
}
