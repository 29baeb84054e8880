#include "runtimes/stepping/debuggee.h"

#include <inttypes.h>
#include <stdio.h>

#include "runtimes/analysis/view.h"
#include "runtimes/common/inspector.h"
#include "runtimes/hits/operand.h"
#include "runtimes/inspect/current_task.h"
#include "runtimes/stepping/step_cache.h"

/* The last answer of debuggee_task(), and where threads of the present program have their tasks. */
struct thread_task {
	const char *id; /* the last answer of debuggee_task() */
	char text[24];  /* of a number that was read from the thread itself */
	/*
	 * Offset from the thread pointer of the number of a thread's task. exact: it is 0 while the
	 * thread runs no task of any runtime.
	 */
	int64_t offset;
	bool known, exact;
};

void debuggee_forget_tasks(struct debuggee *d)
{
	free(d->thread_task);
	d->thread_task = NULL;
	d->task_tid = 0;
}

struct error *debuggee_begin(struct debuggee *d, struct asyncdbg *handle)
{
	watch_forget(d); /* before its types are gone */
	d->handle = handle;
	d->control.on_unwatched = watch_report_unwatched;
	d->control.on_unwatched_arg = d;
	debuggee_forget_hits(d);
	step_cache_close(d->step_cache);
	d->step_cache = NULL;
	debuggee_forget_tasks(d);
	event_break_forget(d);
	breakpoint_count_anew(d);
	TRY(libraries_begin(d));
	return breakpoint_find_all(d);
}

void debuggee_end(struct debuggee *d)
{
	watch_forget(d);
	libraries_forget(d);
	d->handle = NULL;
	debuggee_forget_hits(d);
	step_cache_close(d->step_cache);
	d->step_cache = NULL;
	debuggee_forget_tasks(d);
	event_break_forget(d);
}

void debuggee_forget_hits(struct debuggee *d)
{
	d->breakpoint = NULL;
	d->watch = NULL;
	d->step = (struct step_exit){ 0 };
	for (size_t i = 0; i < d->breakpoints.list.n; i++)
		d->breakpoints.list.data[i]->halts = false;
	for (size_t i = 0; i < d->watches.list.n; i++)
		d->watches.list.data[i]->halts = false;
}

struct error *debuggee_continue(struct debuggee *d)
{
	debuggee_forget_hits(d);
	deadlock_break_prepare(d);
	TRY(breakpoint_begin_rates(d));
	return control_continue(&d->control);
}

struct error *debuggee_step_one(struct debuggee *d, pid_t tid)
{
	struct control *c = &d->control;

	debuggee_forget_hits(d);
	TRY(control_step(c, tid));
	if (!c->pid || c->stop.reason != CONTROL_STEPPED)
		return NULL;
	return control_stop_from_error(c, control_report_breakpoint_here(c, tid));
}

struct error *debuggee_write(struct debuggee *d, uint64_t addr, const void *bytes, size_t len)
{
	TRY(control_write(&d->control, addr, bytes, len));
	return watch_take_written(d);
}

struct error *debuggee_kill(struct debuggee *d)
{
	debuggee_forget_hits(d);
	return control_kill(&d->control);
}

/* ---- the task of a thread ---- */

static struct thread_task *debuggee_thread_task_of(struct debuggee *d)
{
	struct current_task current = { 0 };
	struct thread_task *t = d->thread_task;

	if (t)
		return t;
	d->thread_task = t = calloc(1, sizeof(*t));
	if (!t)
		out_of_memory();
	/* With --production, libraries that are loaded later need not be seen. */
	if (d->handle && !d->control.hw_breakpoints_only)
		t->known = current_task_find(asyncdbg_inspector(d->handle), &current);
	t->exact = t->known && current.zero;
	t->offset = current.offset;
	return t;
}

bool debuggee_number_filter(struct debuggee *d, uint64_t number, struct tracer_filter *ret)
{
	const struct thread_task *t = debuggee_thread_task_of(d);

	if (!number || !t->known)
		return false;
	*ret = (struct tracer_filter){ .reg = TRACER_THREAD_POINTER,
		                       .nloads = 1,
		                       .offset = { t->offset },
		                       .size = sizeof(number),
		                       .value = number };
	return true;
}

bool debuggee_task_filter(struct debuggee *d, const char *id, struct tracer_filter *ret)
{
	struct predicate_value v = operand_of_id(id);

	/* "007" is the id of no task. */
	return v.kind == PREDICATE_NUMBER && *id != '0' && debuggee_number_filter(d, v.number, ret);
}

/* Reads the number that a thread has itself. False: none, or it is not known. */
static bool debuggee_read_current(struct debuggee *d, pid_t tid)
{
	SCRATCH(tmp);
	struct thread_task *t = debuggee_thread_task_of(d);
	struct regs regs;
	uint64_t number = 0;

	if (!t->exact)
		return false;
	struct error *err = control_registers(&d->control, tid, &tmp, &regs);
	if (!err && regs.thread_pointer)
		err = control_read(&d->control, regs.thread_pointer + (uint64_t)t->offset, &number,
		                   sizeof(number));
	bool known = !err && number;
	error_free(err);
	if (!known)
		return false;
	snprintf(t->text, sizeof(t->text), "%" PRIu64, number);
	t->id = t->text;
	d->task_tid = tid;
	d->task_nstops = d->control.nstops;
	return true;
}

/* Looks at the tasks that run, and keeps the one of a thread. */
static struct error *debuggee_look(struct debuggee *d, pid_t tid, bool whole,
                                   const struct snapshot **snap, const struct thread_info **th)
{
	TRY(whole ? asyncdbg_snapshot(d->handle, WANT_RUNNING, NULL, snap)
	          : asyncdbg_threads(d->handle, &tid, 1, false, snap));
	*th = snapshot_thread_by_tid(*snap, tid);
	debuggee_thread_task_of(d)->id = *th ? (*th)->task : NULL;
	d->task_tid = tid;
	d->task_nstops = d->control.nstops;
	return NULL;
}

struct error *debuggee_task(struct debuggee *d, pid_t tid, const char **ret)
{
	const struct thread_info *th;
	const struct snapshot *snap;

	if ((d->task_tid != tid || d->task_nstops != d->control.nstops) &&
	    !debuggee_read_current(d, tid))
		TRY(debuggee_look(d, tid, false, &snap, &th));
	*ret = debuggee_thread_task_of(d)->id;
	return NULL;
}

struct error *debuggee_whole_task(struct debuggee *d, pid_t tid, const struct task **ret)
{
	const struct thread_info *th;
	const struct snapshot *snap;

	TRY(debuggee_look(d, tid, true, &snap, &th));
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
	vec_free(&d->libraries.own);
	step_cache_close(d->step_cache);
	d->step_cache = NULL;
	event_break_forget(d);
	debuggee_forget_tasks(d);
	*d = (struct debuggee){ 0 };
}
