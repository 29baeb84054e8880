/*
 * Tasks of steps: the whole one of a thread, which is the coroutine that its executor polls,
 * wherever the thread is in it; and one that the line spawns.
 */
#include <string.h>

#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/query/merged_code.h"
#include "runtimes/stepping/step_plan.h"

/* ---- the whole task ---- */

/* Is the function a poll of a future of that name, under its own name or that of a merged one? */
static const struct type *polled_as(const struct function *f, const struct type *t,
                                    const char *name)
{
	if (strcmp(type_name(t), name) == 0)
		return t;
	const struct type *other = type_is_coroutine(t) ? lookup_type(f->dm, name, f->die) : NULL;

	return other && type_is_coroutine(other) && merged_code_may_share(t, other) ? other : NULL;
}

/* The type of the task's future, if the function polls that; of "A or B" one that it may poll. */
static const struct type *step_to_task_end_root_type(const struct task *task,
                                                     const struct function *f)
{
	static const char between[] = " or ";
	const struct type *t = f ? step_instance_type(f) : NULL, *ret = NULL;
	const char *at = t ? task->type : NULL;
	SCRATCH(tmp);

	while (at && !ret) {
		const char *end = strstr(at, between);

		ret = polled_as(f, t, end ? arena_strndup(&tmp, at, (size_t)(end - at)) : at);
		at = end ? end + strlen(between) : NULL;
	}
	return ret;
}

/*
 * Finds the poll of the task's future on the stack of the thread: the outermost one of its type,
 * which may contain itself in a box.
 */
static struct error *step_to_task_end_find_poll(struct step_plan *p, const struct task *task,
                                                bool *found)
{
	SCRATCH(tmp);
	struct stack stack;

	*found = false;
	TRY(step_frame_stack(p, p->where.tid, STACK_MAX_FRAMES, &tmp, &stack));
	for (size_t i = 0; i + 1 < stack.nframes; i++) {
		const struct function *f = lookup_function(p->in->di, stack.frames[i].lookup_pc);
		const struct type *t = step_to_task_end_root_type(task, f);

		if (!t)
			continue;
		TRY(step_instance_address(p, f, &stack.frames[i], &p->subject.instance.addr));
		p->subject.instance.type = t;
		p->where.at.function = f;
		p->where.cfa = stack.frames[i + 1].sp;
		p->where.returns = stack.frames[i + 1].pc;
		*found = p->subject.instance.addr != 0;
	}
	return NULL;
}

struct error *step_to_task_end_begin(struct step_plan *p)
{
	const struct snapshot *snap;
	bool found = false;

	TRY(asyncdbg_snapshot(p->d->handle, WANT_TASKS | WANT_RUNNING, NULL, &snap));
	const struct thread_info *th = snapshot_thread_by_tid(snap, p->where.tid);
	const struct task *task = th && th->task ? snapshot_task(snap, th->task, th->number) : NULL;
	if (!task)
		return error_new(ERR_STATE, "this thread is not running a task");
	TRY(step_to_task_end_find_poll(p, task, &found));
	if (!found)
		return error_new(ERR_STATE,
		                 "the poll function of task %s was not found on the stack",
		                 task->id);
	p->where.active = true;
	p->exit.end.async = true;
	p->exit.end.instance = p->subject.instance.addr;
	p->exit.end.instance_size =
		p->subject.instance.type ? type_size(p->subject.instance.type) : 0;
	step_task_begin(p);
	return step_exit_plant(p);
}

/* ---- a task that the line spawns ---- */

/* A thread is about to execute code of the user's for the first time since the task is polled. */
static struct error *at_code(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	if (hit->tid == p->where.tid)
		*stop = p->walk.entered = true;
	return NULL;
}

/* at_code() at the first line of an inlined function, or of a closure. */
static struct error *step_to_task_end_at_body(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_place place;

	step_place_at(p, hit->addr, &place);
	if (hit->tid == p->where.tid && place.users)
		step_exit_set(p, STEP_LINE, stop);
	return NULL;
}

/* The poll has returned without code of the user's, as when the task was aborted before. */
static struct error *at_poll_return(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	if (hit->tid != p->where.tid)
		return NULL;
	p->exit.end.note = "the task spawned by the line was polled, and reached no user code";
	step_exit_set(p, STEP_LEFT, stop);
	return NULL;
}

/* The task is polled, by whatever thread: that one is followed. */
static struct error *at_poll(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	(void)stop;
	if (p->where.tid || !event_break_has_task(p->d, &p->subject.spawn.task))
		return NULL;
	TRY(step_frame_at_entry(p, hit->tid, &tmp, &frame));
	p->where.tid = hit->tid;
	p->where.cfa = frame.cfa;
	const struct tracer_filter filter = step_returned_to(p, frame.cfa);
	return step_add_breakpoint(p, &p->breakpoints.lines, INTERNAL_STEP_TASK, frame.returns,
	                           &filter, at_poll_return);
}

/* The code is found by the generics of the poll function, which has the type of the future. */
static struct error *plant_task(struct step_plan *p, const struct event_task *task)
{
	static const struct step_target_deciders deciders = { .entry = at_code,
		                                              .inside = step_to_task_end_at_body,
		                                              .closure = step_to_task_end_at_body };
	const struct function *poll = lookup_function(p->in->di, task->poll);
	const struct tracer_filter filter = { .reg = p->arch->arguments[0],
		                              .size = 8,
		                              .value = task->header };

	TRY(step_untrap(p, &p->breakpoints.targets));
	if (poll)
		TRY(step_targets_plant(p, poll, task->future, task->future_at, &deciders,
		                       &p->breakpoints.targets));
	p->subject.spawn.foreign = !p->breakpoints.targets.n;
	if (p->subject.spawn.foreign)
		return NULL;
	TRY(step_exit_clear(p));
	p->subject.spawn.task = *task;
	p->subject.on_any = true;
	p->where.tid = 0;
	return step_add_breakpoint(p, &p->breakpoints.entries, INTERNAL_STEP_TASK, task->poll,
	                           &filter, at_poll);
}

/* A task is made; the first one of the line that has code of the user's is waited for. */
static struct error *at_spawn(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct event_task task;

	(void)stop;
	if (hit->tid != p->where.tid || p->subject.spawn.task.header)
		return NULL;
	TRY(event_break_spawned(p->d, hit, &task));
	return task.header ? plant_task(p, &task) : NULL;
}

static struct error *plant_spawn(void *arg, uint64_t addr)
{
	struct step_plan *p = arg;

	return step_add_breakpoint(p, &p->subject.spawn.places, INTERNAL_STEP_SPAWN, addr, NULL,
	                           at_spawn);
}

struct error *step_spawn_begin(struct step_plan *p)
{
	struct arena *a = &p->d->step_cache->arena;
	const char *unseen = NULL;

	if (p->options->kind != STEP_INTO || !p->options->spawned)
		return NULL;
	struct error *err CLEANUP(error_freep) = event_break_spawns(p->d, plant_spawn, p, &unseen);
	if (err && (!p->d->control.hw_breakpoints_only || err->kind != ERR_STATE)) {
		struct error *ret = err;
		err = NULL;
		return ret;
	}
	if (err || unseen)
		p->subject.spawn.unseen = arena_strdup(a, err ? err->message : unseen);
	return err ? step_untrap(p, &p->subject.spawn.places) : NULL;
}

struct error *step_spawn_arrive(struct step_plan *p, uint64_t pc)
{
	const struct internal_hit hit = { p->where.tid, pc };
	bool stop = false;

	if (!p->subject.spawn.places.n || !internal_breakpoint_is_at(&p->d->control, pc))
		return NULL;
	return at_spawn(p, &hit, &stop);
}

void step_spawn_note(struct step_plan *p)
{
	bool left = p->exit.end.reason == STEP_LINE || p->exit.end.reason == STEP_RETURNED;

	if (!p->options->spawned || p->subject.spawn.task.header || !left || p->exit.end.note)
		return;
	if (p->subject.spawn.unseen)
		p->exit.end.note = arena_printf(&p->d->step_cache->arena,
		                                "the task spawned by the line was not seen: %s",
		                                p->subject.spawn.unseen);
	else if (p->subject.spawn.foreign)
		p->exit.end.note = "the task spawned by the line has no known user code";
	else
		p->exit.end.note = "the line did not spawn a task";
}
