#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "commands/view.h"
#include "debugger/base/str.h"

/* The ids next below and above number that exist. */
static void find_nearest(const struct snapshot *snap, uint64_t number, const struct task **below,
                         const struct task **above)
{
	*below = *above = NULL;
	for (size_t i = 0; i < snap->ntasks; i++) {
		const struct task *task = snap->tasks[i];

		if (task->number < number && (!*below || task->number > (*below)->number))
			*below = task;
		if (task->number > number && (!*above || task->number < (*above)->number))
			*above = task;
	}
}

static struct error *unknown_task(const struct snapshot *snap, const char *id)
{
	char *end;
	uint64_t number = strtoull(id, &end, 0);
	const struct task *below, *above;

	if (*end || end == id || *id == '-')
		return error_new(ERR_USAGE, "\"%s\" is not a task id: ids are numbers", id);
	find_nearest(snap, number, &below, &above);
	if (!below && !above)
		return error_new(ERR_STATE, "no task %s; there are no tasks", id);
	if (!below || !above)
		return error_new(ERR_STATE, "no task %s; the nearest is %s", id,
		                 (below ? below : above)->id);
	return error_new(ERR_STATE, "no task %s; the nearest are %s and %s", id, below->id,
	                 above->id);
}

/* All tasks of that id: two async runtimes in one program may each have one. */
static struct error *by_id(const struct answer *answer, const char *id, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	if (!snapshot_task(snap, id, 0))
		return unknown_task(snap, id);
	out_begin(out, answer);
	for (size_t i = 0; i < snap->ntasks; i++) {
		if (strcmp(snap->tasks[i]->id, id) != 0)
			continue;
		TRY(out_check(out));
		out->ops->task(out, snap->tasks[i], TASK_FULL);
	}
	return NULL;
}

/* Why there is nothing to show, and which threads would have something. */
static struct error *no_task(const struct snapshot *snap, const struct thread_info *th)
{
	STR(others);

	for (size_t i = 0; i < snap->nthreads; i++) {
		if (snap->threads[i].task)
			str_printf(&others, "%s#%u (task %s)", others.len ? ", " : "",
			           snap->threads[i].number, snap->threads[i].task);
	}
	if (others.len)
		return error_new(ERR_STATE, "thread #%u runs no task; these do: %s", th->number,
		                 str_text(&others));
	return error_new(ERR_STATE,
	                 "thread #%u runs no task, and no other thread does; \"tasks\" "
	                 "lists all",
	                 th->number);
}

static struct error *of_focus(const struct session *s, const struct answer *answer, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;
	const struct thread_info *th;

	TRY(session_focus(s, snap, &th));

	const struct task *task = th->task ? snapshot_task(snap, th->task, th->number) : NULL;
	if (!task && !th->root)
		return no_task(snap, th);
	out_begin(out, answer);
	if (task)
		out->ops->task(out, task, TASK_FULL);
	else
		out->ops->thread(out, th, THREAD_ASYNC);
	return NULL;
}

static struct error *run(struct session *s, const struct answer *answer, const struct words *args,
                         struct out *out)
{
	return args->n ? by_id(answer, args->word[0], out) : of_focus(s, answer, out);
}

const struct command async_task_command = {
	.name = "async task",
	.args = "[ID]",
	.max_args = 1,
	.summary = "One task in full; without an id, what the thread in focus runs",
	.help = "    Adds addresses, types and the details of what it waits for. Where the thread\n"
		"    in focus runs no task but is in block_on, shows the future it blocks on.",
	.wants = WANT_TASKS | WANT_RUNNING,
	.run = run,
};
