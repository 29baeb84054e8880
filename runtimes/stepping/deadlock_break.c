/*
 * Deadlocks: a task that waits makes no event, so that the program is looked at from time to time.
 */
#include <string.h>

#include "runtimes/graph/verdict.h"
#include "runtimes/stepping/debuggee.h"
#include "runtimes/stepping/event_break_private.h"

static bool is_deadlock_break(const struct breakpoint *bp)
{
	return bp->enabled && bp->event && bp->event->kind == EVENT_BREAK_DEADLOCK;
}

static bool was_seen(const struct event_break *e, const char *text)
{
	for (size_t i = 0; i < e->seen.n; i++) {
		if (strcmp(e->seen.data[i], text) == 0)
			return true;
	}
	return false;
}

/* Notes the first certain verdict that was not reported yet. */
static bool take_new(struct event_break *e, const struct verdicts *v)
{
	SCRATCH(tmp);

	for (size_t i = 0; i < v->n; i++) {
		const char *text = verdict_text(&tmp, v->graph, &v->list[i]);

		if (!v->list[i].certain || was_seen(e, text))
			continue;
		arena_free(&e->hit_arena);
		e->task = e->type = NULL;
		e->message = arena_strdup(&e->hit_arena, text);
		*vec_push(&e->seen) = arena_strdup(&e->arena, text);
		return true;
	}
	return false;
}

static void ask_all(struct debuggee *d, const struct verdicts *v, bool *stop)
{
	for (size_t i = 0; i < d->breakpoints.list.n; i++) {
		struct breakpoint *bp = d->breakpoints.list.data[i];

		if (!is_deadlock_break(bp) || !take_new(bp->event, v) || !breakpoint_hit(bp))
			continue;
		*stop = bp->halts = true;
		if (!d->breakpoint)
			d->breakpoint = bp;
	}
}

/* A control_look. Tasks that cannot be read this time are read at the next look. */
static struct error *deadlock_break_look(void *arg, bool *stop)
{
	struct debuggee *d = arg;
	const struct snapshot *snap;
	struct error *err = asyncdbg_snapshot(d->handle, ASYNCDBG_CHECK_WANTS, NULL, &snap);

	*stop = false;
	d->task_tid = 0; /* the remembered task was of an earlier snapshot */
	if (!err)
		err = snapshot_check_understood(snap);
	if (!err)
		ask_all(d, asyncdbg_verdicts(d->handle, snap), stop);
	if (err && err->kind != ERR_INTERRUPTED) {
		error_free(err);
		err = NULL;
	}
	return err;
}

void deadlock_break_prepare(struct debuggee *d)
{
	struct periodic_check *ret = &d->control.look;

	*ret = (struct periodic_check){ .look = deadlock_break_look, .arg = d };
	for (size_t i = 0; i < d->breakpoints.list.n; i++) {
		const struct breakpoint *bp = d->breakpoints.list.data[i];

		if (is_deadlock_break(bp) &&
		    (!ret->every_ns || bp->event->every_ns < ret->every_ns))
			ret->every_ns = bp->event->every_ns;
	}
}
