/*
 * Tasks of steps: the whole one of a thread, which is the coroutine that its executor polls,
 * wherever the thread is in it; and one that the line spawns.
 */
#include <string.h>

#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/query/merged_code.h"
#include "runtimes/step_rules/task_rules.h"
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
	const struct type *t = f ? step_instance_type(f) : NULL, *ret = NULL;
	SCRATCH(tmp);
	const char *name;

	for (size_t n = 0; t && !ret && (name = task_rules_type(task->type, n, &tmp)); n++)
		ret = polled_as(f, t, name);
	return ret;
}

/* The stack of a thread that polls a task, for task_rules.h. */
struct step_to_task_end_stack {
	struct step_plan *p;
	const struct task *task;
	struct stack stack;
};

static bool polls_task(void *arg, size_t frame)
{
	const struct step_to_task_end_stack *s = arg;
	const struct function *f = lookup_function(s->p->in->di, s->stack.frames[frame].lookup_pc);

	return step_to_task_end_root_type(s->task, f) != NULL;
}

/* Finds the poll of the task's future on the stack of the thread. */
static struct error *step_to_task_end_find_poll(struct step_plan *p, const struct task *task,
                                                bool *found)
{
	SCRATCH(tmp);
	struct step_to_task_end_stack s = { .p = p, .task = task };

	TRY(step_frame_stack(p, p->where.tid, STACK_MAX_FRAMES, &tmp, &s.stack));
	const struct task_frames frames = { s.stack.nframes, polls_task, &s };
	const size_t n = task_rules_find_poll(&frames, found);
	if (!*found)
		return NULL;
	const struct frame *at = &s.stack.frames[n];
	const struct function *f = lookup_function(p->in->di, at->lookup_pc);
	TRY(step_instance_address(p, f, at, &p->subject.instance.addr));
	p->subject.instance.type = step_to_task_end_root_type(task, f);
	p->where.at.function = f;
	p->where.cfa = at[1].sp;
	p->where.returns = at[1].pc;
	*found = p->subject.instance.addr != 0;
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
	const struct target_hit here = { .is_own = hit->tid == p->where.tid };

	step_targets_act(p, TARGET_TASK, &here, stop);
	return NULL;
}

/* at_code() at the first line of an inlined function, or of a closure. */
static struct error *step_to_task_end_at_body(void *arg, const struct internal_hit *hit, bool *stop)
{
	struct step_plan *p = arg;
	struct step_place place;

	step_place_at(p, hit->addr, &place);
	const struct target_hit here = { .is_own = hit->tid == p->where.tid,
		                         .is_users = place.users };
	step_targets_act(p, TARGET_TASK_BODY, &here, stop);
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
	struct task_first_poll poll = { .is_followed = p->where.tid != 0 };
	poll.has_task = !poll.is_followed && event_break_has_task(p->d, &p->subject.spawn.task);
	if (!task_rules_follows(&poll))
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
	struct task_spawn spawn = { .is_own = hit->tid == p->where.tid,
		                    .has_task = p->subject.spawn.task.header != 0 };
	struct event_task task = { 0 };

	(void)stop;
	if (spawn.is_own && !spawn.has_task)
		TRY(event_break_spawned(p->d, hit, &task));
	spawn.header = task.header;
	return task_rules_takes_spawn(&spawn) ? plant_task(p, &task) : NULL;
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
	const struct task_places places = {
		.failed = err != NULL,
		.no_hardware = err && p->d->control.hw_breakpoints_only && err->kind == ERR_STATE,
		.is_unseen = unseen != NULL,
	};
	struct error *ret = err;
	switch (task_rules_places(&places)) {
	case TASK_PLACES_ERROR:
		err = NULL;
		return ret;
	case TASK_PLACES_UNSEEN:
		p->subject.spawn.unseen = arena_strdup(a, err ? err->message : unseen);
		break;
	case TASK_PLACES_KNOWN:
		break;
	}
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
	const struct task_end end = { .reason = p->exit.end.reason,
		                      .spawned = p->options->spawned,
		                      .has_task = p->subject.spawn.task.header != 0,
		                      .has_note = p->exit.end.note != NULL,
		                      .unseen = p->subject.spawn.unseen,
		                      .has_foreign = p->subject.spawn.foreign };
	const char *note = task_rules_note(&end, &p->d->step_cache->arena);

	if (note)
		p->exit.end.note = note;
}
