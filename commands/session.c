#include "commands/session.h"
#include <stdio.h>
#include <stdlib.h>

#include <string.h>

#include "commands/view.h"

struct error *session_open(const struct session_options *options, struct session *ret)
{
	struct target *t CLEANUP(target_closep) = NULL;
	struct inspector *in = NULL;

	if (options->pid)
		TRY(target_live_open(options->pid, &options->target, &t));
	else if (options->core)
		TRY(target_core_open(options->core, &options->target, &t));
	if (t)
		TRY(inspector_open(t, &in));
	*ret = (struct session){ .target = t, .inspector = in };
	t = NULL;
	return NULL;
}

static void drop_snapshot(struct session *s)
{
	if (s->snapshot)
		snapshot_free(s->snapshot);
	s->snapshot = NULL;
	s->wants = 0;
}

void session_close(struct session *s)
{
	drop_snapshot(s);
	if (s->inspector)
		inspector_close(s->inspector);
	target_close(s->target);
	*s = (struct session){ 0 };
}

struct error *session_snapshot(struct session *s, unsigned wants, const struct snapshot **ret)
{
	if (!s->target)
		return error_new(ERR_USAGE, "no target: say which with -p PID or -c CORE");

	bool still = strcmp(s->target->ops->kind, "core") == 0;
	if (!still || !s->snapshot || (wants & ~s->wants)) {
		struct snapshot *fresh;

		/* On a core keep what was wanted before, or two commands would take turns. */
		if (still)
			wants |= s->wants;
		/* Temporary, until commands ask for it. */
		char task[32];
		static char expr[256];
		struct question q = { .task = task, .print = expr };
		const char *asked = getenv("ASYNCDBG_PRINT");
		if (getenv("ASYNCDBG_LOCALS"))
			wants |= WANT_LOCALS;
		bool has = asked && sscanf(asked, "%31s %u %255[^\n]", task, &q.frame, expr) == 3;
		if (has && task[0] == '#') {
			q.thread = (unsigned)atoi(task + 1);
			q.task = NULL;
		}
		TRY(inspect(s->inspector, wants, has ? &q : NULL, &fresh));
		if (fresh->printed)
			fprintf(stderr, "%s: %s = %s%s%s%s @%llx\n", fresh->printed->name,
			        fresh->printed->type ? fresh->printed->type : "-",
			        fresh->printed->value ? fresh->printed->value : "-",
			        fresh->printed->uncertain ? " (uncertain)" : "",
			        fresh->printed->problem ? " problem: " : "",
			        fresh->printed->problem ? fresh->printed->problem : "",
			        (unsigned long long)fresh->printed->addr);
		drop_snapshot(s);
		s->snapshot = fresh;
		s->wants = wants;
	}
	*ret = s->snapshot;
	return NULL;
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
