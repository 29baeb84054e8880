/* async task: one task in full. */
#include <stdlib.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/base/focus.h"

static struct error *async_task_check(const struct call *call)
{
	return call->args.n ? focus_check_task_id(call->args.word[0]) : NULL;
}

/* Shows all jobs of blocking pools with that id, with the stacks of their threads. */
static void show_jobs(const struct snapshot *snap, const char *id, struct out *out)
{
	for (size_t i = 0; i < snap->njobs; i++) {
		const struct job *job = &snap->jobs[i];
		const struct thread_info *th = snapshot_thread(snap, job->thread);

		if (!job->id || strcmp(job->id, id) != 0)
			continue;
		out->ops->job(out, job, TASK_FULL);
		if (th)
			out->ops->thread(out, th, THREAD_STACK);
	}
}

/* Finds all tasks with that id: each runtime of a program may have one. */
static struct error *by_id(const struct answer *answer, const char *id, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;
	uint64_t number;

	id = focus_task_id(snap, id);
	number = strtoull(id, NULL, 10);
	if (!snapshot_task(snap, id, 0) && !snapshot_job(snap, id))
		return focus_unknown_task(snap, id);
	out_begin(out, answer);
	show_jobs(snap, id, out);
	for (size_t i = 0; i < snap->ntasks; i++) {
		/* Compare numbers first: --exec may run this once for each of many tasks. */
		if (snap->tasks[i]->number != number || strcmp(snap->tasks[i]->id, id) != 0)
			continue;
		TRY(out_check(out));
		out->ops->task(out, snap->tasks[i], TASK_FULL);
	}
	return NULL;
}

static struct error *of_focus(const struct session *s, const struct answer *answer, struct out *out)
{
	struct focus f;

	TRY(focus_tree(s, answer->snapshot, &f));
	out_begin(out, answer);
	if (f.task)
		out->ops->task(out, f.task, TASK_FULL);
	else
		out->ops->thread(out, f.thread, THREAD_ASYNC);
	return NULL;
}

static struct error *async_task_run(struct session *s, const struct answer *answer,
                                    const struct call *call, struct out *out)
{
	return call->args.n ? by_id(answer, call->args.word[0], out) : of_focus(s, answer, out);
}

const struct command async_task_command = {
	.name = "async task",
	.args = "[ID]",
	.max_args = 1,
	.verbose = true,
	.check = async_task_check,
	.summary = "Show one task or blocking job in full; without an ID, the selected task",
	.help = "    Shows addresses, types, what the task waits for in detail, who holds that,\n"
		"    and what the task holds itself. A guard that may have been moved out of\n"
		"    its variable \"may be\" the one; if the lock is taken and no other guard was\n"
		"    found, it is called the only candidate. Places that could not be searched\n"
		"    are listed. Without ID: the selected task, else the task that the selected\n"
		"    thread is running, or the future it blocks on. A job of a blocking pool is\n"
		"    shown with its place in the queue, or the stack of its thread.",
	.wants = WANT_TASKS | WANT_RUNNING | WANT_OWNERS | WANT_JOB_STACKS,
	.repeats = true,
	.run = async_task_run,
};
