#include "runtimes/stepping/debuggee.h"

#include "runtimes/analysis/view.h"
#include "runtimes/common/inspector.h"
#include "runtimes/hits/operand.h"
#include "runtimes/stepping/step_cache.h"

struct error *debuggee_begin(struct debuggee *d, struct asyncdbg *handle)
{
	watch_forget(d); /* before its types are gone */
	d->handle = handle;
	d->control.on_unwatched = watch_report_unwatched;
	d->control.on_unwatched_arg = d;
	d->breakpoint = NULL;
	d->step = (struct step_end){ 0 };
	step_cache_close(d->step_cache);
	d->step_cache = NULL;
	d->task_tid = 0;
	event_break_forget(d);
	TRY(libraries_begin(d));
	return breakpoint_find_all(d);
}

void debuggee_end(struct debuggee *d)
{
	watch_forget(d);
	libraries_forget(d);
	d->handle = NULL;
	d->breakpoint = NULL;
	d->step = (struct step_end){ 0 };
	step_cache_close(d->step_cache);
	d->step_cache = NULL;
	d->task_tid = 0;
	event_break_forget(d);
}

struct error *debuggee_continue(struct debuggee *d)
{
	d->breakpoint = NULL;
	d->watch = NULL;
	d->step = (struct step_end){ 0 };
	deadlock_break_prepare(d);
	TRY(breakpoint_begin_rates(d));
	return control_continue(&d->control);
}

/* Looks at the tasks that run, and keeps the one of a thread. */
static struct error *look(struct debuggee *d, pid_t tid, bool whole, const struct snapshot **snap,
                          const struct thread_info **th)
{
	TRY(whole ? asyncdbg_snapshot(d->handle, WANT_RUNNING, NULL, snap)
	          : asyncdbg_few(d->handle, &tid, 1, snap));
	*th = snapshot_thread_by_tid(*snap, tid);
	d->task = *th ? (*th)->task : NULL;
	d->task_tid = tid;
	d->task_nstops = d->control.nstops;
	return NULL;
}

struct error *debuggee_task(struct debuggee *d, pid_t tid, const char **ret)
{
	const struct thread_info *th;
	const struct snapshot *snap;

	if (d->task_tid != tid || d->task_nstops != d->control.nstops)
		TRY(look(d, tid, false, &snap, &th));
	*ret = d->task;
	return NULL;
}

struct error *debuggee_whole_task(struct debuggee *d, pid_t tid, const struct task **ret)
{
	const struct thread_info *th;
	const struct snapshot *snap;

	TRY(look(d, tid, true, &snap, &th));
	*ret = th && th->task ? snapshot_task(snap, th->task, th->number) : NULL;
	return NULL;
}

struct error *debuggee_task_text(struct debuggee *d, pid_t tid, enum predicate_op which,
                                 const char **ret)
{
	const struct task *task;

	if (which == PREDICATE_TASK_ID)
		return debuggee_task(d, tid, ret);
	TRY(debuggee_whole_task(d, tid, &task));
	*ret = NULL;
	if (task)
		*ret = which == PREDICATE_TASK_TYPE ? task->type : task_name(task);
	return NULL;
}

struct error *debuggee_task_operand(struct debuggee *d, pid_t tid, const struct predicate *operand,
                                    struct predicate_value *ret)
{
	const char *text;

	TRY(debuggee_task_text(d, tid, operand->op, &text));
	*ret = operand->op == PREDICATE_TASK_ID ? operand_of_id(text) : operand_of_text(text);
	return NULL;
}

struct debuginfo *debuggee_debuginfo(const struct debuggee *d)
{
	struct inspector *in = d->handle ? asyncdbg_inspector(d->handle) : NULL;

	return in ? in->di : NULL;
}

void debuggee_close(struct debuggee *d)
{
	control_close(&d->control);
	breakpoint_free_all(d);
	watch_free_all(d);
	step_cache_close(d->step_cache);
	d->step_cache = NULL;
	event_break_forget(d);
	*d = (struct debuggee){ 0 };
}
