#include "commands/base/session.h"

#include <string.h>

#include "runtimes/graph/verdict.h"
#include "runtimes/saved/saved.h"

static struct error *open_saved(const struct session_options *options, struct session *ret)
{
	struct saved_info info;
	struct saved_names names;
	struct snapshot *snap;

	TRY(saved_read(options->core, &snap, &info));
	saved_find_names(snap, &names);
	*ret = (struct session){
		.snapshot = snap,
		.saved = true,
		.saved_wants = info.wants,
		.origin = { options->core, info.when },
		.saved_names = names,
		.options = options,
		.verbose = options->verbose,
	};
	return NULL;
}

struct error *session_open(const struct session_options *options, struct session *ret)
{
	struct target *t CLEANUP(target_closep) = NULL;
	struct inspector *in = NULL;

	if (options->core && saved_is(options->core))
		return open_saved(options, ret);
	if (options->pid)
		TRY(target_live_open(options->pid, &options->target, &t));
	else if (options->core)
		TRY(target_core_open(options->core, &options->target, &t));
	if (t)
		TRY(inspector_open(t, &options->inspector, &in));
	*ret = (struct session){
		.target = t,
		.inspector = in,
		.options = options,
		.verbose = options->verbose,
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
	waiting_free(&s->waiting);
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
	       q->names == asked->names && q->thread == asked->thread && q->frame == asked->frame &&
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

/* The answer is the one that the target gave: what a command did not ask for is not shown. */
static struct error *saved_snapshot(struct session *s, unsigned wants,
                                    const struct question *question, const struct snapshot **ret)
{
	if (question)
		return error_new(ERR_STATE,
		                 "a saved snapshot has none of the program's memory: ask the "
		                 "process or its core; \"locals\" shows the variables that were "
		                 "saved");
	if (wants & ~s->saved_wants)
		return error_new(ERR_STATE,
		                 "the snapshot was saved without what this command shows; save "
		                 "another with this asyncdbg");
	s->wants = s->snapshot->target.core ? s->wants | wants : wants;
	saved_show_names(&s->saved_names, s->wants & WANT_HOLDINGS);
	*ret = s->snapshot;
	return NULL;
}

struct error *session_snapshot(struct session *s, unsigned wants, const struct question *question,
                               const struct snapshot **ret)
{
	if (s->saved)
		return saved_snapshot(s, wants, question, ret);
	if (!s->target)
		return error_new(ERR_USAGE, "no target: say which with -p PID or -c CORE");

	bool still = strcmp(s->target->ops->kind, "core") == 0;
	if (!(still || s->pinned) || !s->snapshot || (wants & ~s->wants) ||
	    !is_answered(s, question)) {
		struct snapshot *fresh;

		/* Keep what was wanted before, or two commands would take turns. */
		if (still || s->pinned)
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
