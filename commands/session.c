#include "commands/session.h"

#include <string.h>

#include "commands/view.h"
#include "runtimes/verdict.h"

struct error *session_open(const struct session_options *options, struct session *ret)
{
	struct target *t CLEANUP(target_closep) = NULL;
	struct inspector *in = NULL;

	if (options->pid)
		TRY(target_live_open(options->pid, &options->target, &t));
	else if (options->core)
		TRY(target_core_open(options->core, &options->target, &t));
	if (t)
		TRY(inspector_open(t, &options->inspector, &in));
	*ret = (struct session){
		.target = t, .inspector = in, .verbose = options->verbose, .output = options->output
	};
	t = NULL;
	return NULL;
}

static void drop_graph(struct session *s)
{
	verdicts_free(s->verdicts);
	graph_free(s->graph);
	s->verdicts = NULL;
	s->graph = NULL;
}

void session_drop_snapshot(struct session *s)
{
	drop_graph(s);
	if (s->snapshot)
		snapshot_free(s->snapshot);
	s->snapshot = NULL;
	s->wants = 0;
	s->asked = (struct question){ 0 };
}

void session_close(struct session *s)
{
	session_drop_snapshot(s);
	arena_free(&s->answer);
	if (s->inspector)
		inspector_close(s->inspector);
	target_close(s->target);
	*s = (struct session){ 0 };
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether the snapshot at hand answers it. */
static bool is_answered(const struct session *s, const struct question *q)
{
	const struct question *asked = &s->asked;

	if (!q)
		return true;
	return same_text(q->task, asked->task) && same_text(q->print, asked->print) &&
	       q->thread == asked->thread && q->frame == asked->frame &&
	       q->has_whatis == asked->has_whatis && q->whatis == asked->whatis;
}

/* Keeps a question as long as the snapshot that answers it. */
static struct question keep_question(struct snapshot *snap, const struct question *q)
{
	struct question kept = q ? *q : (struct question){ 0 };

	kept.task = kept.task ? arena_strdup(&snap->arena, kept.task) : NULL;
	kept.print = kept.print ? arena_strdup(&snap->arena, kept.print) : NULL;
	return kept;
}

struct error *session_snapshot(struct session *s, unsigned wants, const struct question *question,
                               const struct snapshot **ret)
{
	if (!s->target)
		return error_new(ERR_USAGE, "no target: say which with -p PID or -c CORE");

	bool still = strcmp(s->target->ops->kind, "core") == 0;
	if (!still || !s->snapshot || (wants & ~s->wants) || !is_answered(s, question)) {
		struct snapshot *fresh;

		/* On a core keep what was wanted before, or two commands would take turns. */
		if (still)
			wants |= s->wants;
		TRY(inspect(s->inspector, wants, question, &fresh));
		session_drop_snapshot(s);
		s->snapshot = fresh;
		s->asked = keep_question(fresh, question);
		s->wants = wants;
	}
	*ret = s->snapshot;
	return NULL;
}

const struct verdicts *session_verdicts(struct session *s, const struct snapshot *snap)
{
	if (!s->graph || s->graph->snapshot != snap) {
		drop_graph(s);
		s->graph = graph_build(snap);
		s->verdicts = verdicts_find(s->graph);
	}
	return s->verdicts;
}

struct error *session_focus(const struct session *s, const struct snapshot *snap,
                            const struct thread_info **ret)
{
	const struct thread_info *th = NULL;

	if (s->focus) {
		th = snapshot_thread_by_tid(snap, s->focus);
		if (!th)
			return error_new(ERR_STATE,
			                 "the thread in focus (pid %d) has ended; choose another "
			                 "with \"thread N\"",
			                 (int)s->focus);
	}
	if (!th && snap->target.signal_tid)
		th = snapshot_thread_by_tid(snap, snap->target.signal_tid);
	if (!th && snap->nthreads)
		th = &snap->threads[0];
	if (!th)
		return error_new(ERR_STATE, "no thread is known");
	*ret = th;
	return NULL;
}

unsigned session_focus_number(const struct session *s)
{
	const struct target *t = s->target;
	pid_t tid = s->focus ? s->focus : t ? t->signal.tid : 0;
	const struct thread *th = t && tid ? target_thread_by_tid(t, tid) : NULL;

	if (th)
		return th->number;
	return s->focus ? 0 : 1;
}
