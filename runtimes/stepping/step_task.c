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

static const struct task *find_task(const struct snapshot *snap, pid_t tid)
{
	const struct thread_info *th = snapshot_thread_by_tid(snap, tid);

	for (size_t i = 0; th && th->task && i < snap->ntasks; i++) {
		if (strcmp(snap->tasks[i]->id, th->task) == 0)
			return snap->tasks[i];
	}
	return NULL;
}

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
static const struct type *root_type(const struct task *task, const struct function *f)
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
static struct error *find_poll(struct step_plan *p, const struct task *task, bool *found)
{
	SCRATCH(tmp);
	struct stack stack;

	*found = false;
	TRY(step_frame_stack(p, p->tid, STACK_MAX_FRAMES, &tmp, &stack));
	for (size_t i = 0; i + 1 < stack.nframes; i++) {
		const struct function *f = lookup_function(p->in->di, stack.frames[i].lookup_pc);
		const struct type *t = root_type(task, f);

		if (!t)
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

/* ---- a task that the line spawns ---- */

/* A thread is about to execute code of the user's for the first time since the task is polled. */
static struct error *at_code(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	if (hit->tid == p->tid)
		*stop = p->entered = true;
	return NULL;
}

/* The same at the first line of what is inlined, or of a closure. */
static struct error *at_body(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_place place;

	step_place_at(p, hit->addr, &place);
	if (hit->tid == p->tid && place.users)
		step_end_set(p, STEP_LINE, stop);
	return NULL;
}

/* As where the task was aborted before. */
static struct error *at_poll_return(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;

	if (hit->tid != p->tid)
		return NULL;
	p->end.note = "the task that the line has spawned was polled, and came to no code of yours";
	step_end_set(p, STEP_LEFT, stop);
	return NULL;
}

/* The task is polled, by whatever thread: that one is followed. */
static struct error *at_poll(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_frame frame;
	SCRATCH(tmp);

	(void)stop;
	if (p->tid || !event_break_has_task(p->d, &p->spawn.task))
		return NULL;
	TRY(step_frame_at_entry(p, hit->tid, &tmp, &frame));
	p->tid = hit->tid;
	p->cfa = frame.cfa;
	const struct tracer_filter filter = step_returned_to(p, frame.cfa);
	return step_trap(p, &p->lines, frame.returns, &filter, at_poll_return);
}

/* The code is found by the generics of the poll function, which has the type of the future. */
static struct error *plant_task(struct step_plan *p, const struct event_task *task)
{
	static const struct step_target_deciders deciders = { .entry = at_code,
		                                              .inside = at_body,
		                                              .closure = at_body };
	const struct function *poll = lookup_function(p->in->di, task->poll);
	const struct tracer_filter filter = { .reg = p->arch->arguments[0],
		                              .size = 8,
		                              .value = task->header };

	TRY(step_untrap(p, &p->targets));
	if (poll)
		TRY(step_targets_plant(p, poll, task->future, task->future_at, &deciders,
		                       &p->targets));
	p->spawn.foreign = !p->targets.n;
	if (p->spawn.foreign)
		return NULL;
	TRY(step_end_clear(p));
	p->spawn.task = *task;
	p->on_any = true;
	p->tid = 0;
	return step_trap(p, &p->entries, task->poll, &filter, at_poll);
}

/* A task is made; the first one of the line that has code of the user's is waited for. */
static struct error *at_spawn(void *arg, const struct trap_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct event_task task;

	(void)stop;
	if (hit->tid != p->tid || p->spawn.task.header)
		return NULL;
	TRY(event_break_spawned(p->d, hit, &task));
	return task.header ? plant_task(p, &task) : NULL;
}

static struct error *plant_spawn(void *arg, uint64_t addr)
{
	struct step_plan *p = arg;

	return step_trap(p, &p->spawn.places, addr, NULL, at_spawn);
}

struct error *step_spawn_begin(struct step_plan *p)
{
	struct arena *a = &p->d->step_cache->arena;
	const char *unseen = NULL;

	if (p->options->kind != STEP_INTO || !p->options->spawned)
		return NULL;
	struct error *err CLEANUP(error_freep) = event_break_spawns(p->d, plant_spawn, p, &unseen);
	if (err && (!p->d->control.production || err->kind != ERR_STATE)) {
		struct error *ret = err;
		err = NULL;
		return ret;
	}
	if (err || unseen)
		p->spawn.unseen = arena_strdup(a, err ? err->message : unseen);
	return err ? step_untrap(p, &p->spawn.places) : NULL;
}

struct error *step_spawn_arrive(struct step_plan *p, uint64_t pc)
{
	const struct trap_hit hit = { p->tid, pc };
	bool stop = false;

	if (!p->spawn.places.n || !trap_is_at(&p->d->control, pc))
		return NULL;
	return at_spawn(p, &hit, &stop);
}

void step_spawn_note(struct step_plan *p)
{
	bool left = p->end.reason == STEP_LINE || p->end.reason == STEP_RETURNED;

	if (!p->options->spawned || p->spawn.task.header || !left || p->end.note)
		return;
	if (p->spawn.unseen)
		p->end.note =
			arena_printf(&p->d->step_cache->arena,
		                     "no task was seen that the line spawns: %s", p->spawn.unseen);
	else if (p->spawn.foreign)
		p->end.note = "the task that the line has spawned has no code of yours that is "
			      "known";
	else
		p->end.note = "the line has spawned no task";
}
