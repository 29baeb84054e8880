/* The whole task of a thread: the coroutine that its executor polls, wherever the thread is in it.
 */
#include <string.h>

#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

static const struct task *find_task(const struct snapshot *snap, pid_t tid)
{
	const struct thread_info *th = snapshot_thread_by_tid(snap, tid);

	for (size_t i = 0; th && th->task && i < snap->ntasks; i++) {
		if (strcmp(snap->tasks[i]->id, th->task) == 0)
			return snap->tasks[i];
	}
	return NULL;
}

static bool is_root(const struct task *task, const struct type *t)
{
	return t && task->type && strcmp(type_name(t), task->type) == 0;
}

/*
 * Finds the poll of the task's future on the stack of the thread: the outermost one of its type,
 * which may contain itself in a box.
 */
static struct error *find_poll(struct step_plan *p, const struct task *task, bool *found)
{
	SCRATCH(tmp);
	struct stack stack;

	*found = false;
	TRY(step_frame_stack(p, p->tid, STACK_MAX_FRAMES, &tmp, &stack));
	for (size_t i = 0; i + 1 < stack.nframes; i++) {
		const struct function *f = lookup_function(p->in->di, stack.frames[i].lookup_pc);
		const struct type *t = f ? step_instance_type(f) : NULL;

		if (!is_root(task, t))
			continue;
		TRY(step_instance_address(p, f, &stack.frames[i], &p->instance.addr));
		p->instance.type = t;
		p->at.function = f;
		p->cfa = stack.frames[i + 1].sp;
		p->returns = stack.frames[i + 1].pc;
		*found = p->instance.addr != 0;
	}
	return NULL;
}

struct error *step_whole_begin(struct step_plan *p)
{
	const struct snapshot *snap;
	bool found = false;

	TRY(asyncdbg_snapshot(p->d->handle, WANT_TASKS | WANT_RUNNING, NULL, &snap));
	const struct task *task = find_task(snap, p->tid);
	if (!task)
		return error_new(ERR_STATE, "this thread runs no task that could be finished");
	TRY(find_poll(p, task, &found));
	if (!found)
		return error_new(ERR_STATE,
		                 "the poll function of task %s as a whole is not to be found on "
		                 "the stack",
		                 task->id);
	p->active = true;
	p->end.async = true;
	p->end.instance = p->instance.addr;
	p->end.instance_size = p->instance.type ? type_size(p->instance.type) : 0;
	step_owner_begin(p);
	return step_end_plant(p);
}
