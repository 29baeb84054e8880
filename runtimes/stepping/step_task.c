/*
 * Owner of a coroutine: the task that polls it, and the futures that await it. They tell why it is
 * dropped before it has ended.
 */
#include <string.h>

#include "debugger/target/target.h"
#include "dwarf/types/type.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/runtime.h"
#include "runtimes/stepping/step_plan.h"

/* ---- what is polled ---- */

struct step_task_polled {
	VEC(struct step_instance) list; /* addr 0: unknown */
};

/* The futures that a frame polls: of the function itself, and of those that are inlined there. */
static struct error *read_polled(struct step_plan *p, const struct frame *frame,
                                 struct step_task_polled *ret)
{
	SCRATCH(tmp);
	size_t n;
	const struct location *l = lookup_functions_at(p->in->di, frame->lookup_pc, &tmp, &n);

	for (size_t i = 0; i < n; i++) {
		const struct function *f = l[i].function;
		const struct type *t = f ? step_instance_type(f) : NULL;
		struct step_instance *polled = t ? vec_push(&ret->list) : NULL;

		if (!polled)
			continue;
		polled->type = t;
		if (!l[i].inlined)
			TRY(step_instance_address(p, f, frame, &polled->addr));
	}
	return NULL;
}

/* The futures that the frames from the nth on poll. */
static struct error *step_task_read_stack(struct step_plan *p, pid_t tid, size_t n,
                                          struct step_task_polled *ret)
{
	SCRATCH(tmp);
	struct stack stack;

	TRY(step_frame_stack(p, tid, STACK_MAX_FRAMES, &tmp, &stack));
	for (; n < stack.nframes; n++)
		TRY(read_polled(p, &stack.frames[n], ret));
	return NULL;
}

/* ---- while it runs ---- */

static const struct runtime *runtime_named(struct step_plan *p, const char *name)
{
	const struct runtime *const *all = runtimes_in(p->in->di);

	while (*all && strcmp((*all)->name, name) != 0)
		all++;
	return *all;
}

static void note_task(struct step_plan *p, const struct snapshot *snap, pid_t tid)
{
	const struct thread_info *th = snap ? snapshot_thread_by_tid(snap, tid) : NULL;
	const struct task *task = th && th->task ? snapshot_task(snap, th->task, th->number) : NULL;

	if (!task || task->runtime >= snap->nruntimes)
		return;
	p->subject.owner.runtime = runtime_named(p, snap->runtimes[task->runtime].kind);
	p->subject.owner.task = task->addr;
	p->subject.owner.type = task->type; /* it belongs to the inspector */
}

void step_task_begin(struct step_plan *p)
{
	if (p->d->seen_nstops == p->d->control.nstops)
		note_task(p, asyncdbg_last(p->d->handle), p->where.tid);
}

/*
 * Keeps the futures that are polled up to that of the task. Frames farther out poll the executor,
 * as the job of a worker does, or other tasks.
 */
static void note_awaiters(struct step_plan *p, struct step_task_polled *polled)
{
	const char *type = p->subject.owner.type;
	size_t n = polled->list.n;

	while (n && (!type || strcmp(type_name(polled->list.data[n - 1].type), type) != 0))
		n--;
	p->subject.owner.nawaiters = n;
	p->subject.owner.awaiters = vec_to_arena(&polled->list, p->arena);
}

struct error *step_task_note(struct step_plan *p, pid_t tid)
{
	const struct snapshot *snap;
	struct step_task_polled polled = { 0 };

	if (p->subject.owner.is_noted)
		return NULL;
	p->subject.owner.is_noted = true;
	if (!p->subject.owner.task) {
		TRY(asyncdbg_threads(p->d->handle, &tid, 1, false, &snap));
		note_task(p, snap, tid);
	}
	struct error *err = step_task_read_stack(p, tid, 0, &polled);
	note_awaiters(p, &polled);
	vec_free(&polled.list);
	return err;
}

struct error *step_task_find(struct debuggee *d, pid_t tid, uint64_t addr,
                             struct step_instance *ret)
{
	struct inspector *in = asyncdbg_inspector(d->handle);
	struct step_plan p = { .d = d, .in = in, .arch = in->target->arch, .where.tid = tid };
	struct step_task_polled polled = { 0 };
	struct error *err = step_task_read_stack(&p, tid, 0, &polled);

	*ret = (struct step_instance){ 0 };
	for (size_t i = 0; i < polled.list.n && !ret->type; i++) {
		const struct step_instance *of = &polled.list.data[i];

		if (of->addr && of->addr <= addr && addr - of->addr < type_size(of->type) &&
		    type_is_coroutine(of->type))
			*ret = *of;
	}
	vec_free(&polled.list);
	return err;
}

/* ---- at a drop ---- */

static bool is_awaiter(const struct step_plan *p, const struct step_instance *polled)
{
	for (size_t i = 0; i < p->subject.owner.nawaiters; i++) {
		const struct step_instance *awaiter = &p->subject.owner.awaiters[i];

		if (strcmp(type_name(awaiter->type), type_name(polled->type)) == 0 &&
		    (!awaiter->addr || !polled->addr || awaiter->addr == polled->addr))
			return true;
	}
	return false;
}

/* Whether something that awaits it, and so lives on, is being polled by a thread. */
static struct error *is_awaiter_polled(struct step_plan *p, pid_t tid, bool *ret)
{
	struct step_task_polled polled = { 0 };
	struct error *err = step_task_read_stack(p, tid, 1, &polled);

	*ret = false;
	for (size_t i = 0; i < polled.list.n; i++)
		*ret |= is_awaiter(p, &polled.list.data[i]);
	vec_free(&polled.list);
	return err;
}

struct error *step_task_is_cancelled(struct step_plan *p, pid_t tid, bool *ret)
{
	struct target_scratch_cache before;
	bool awaited;

	*ret = false;
	if (!p->subject.owner.runtime || !p->subject.owner.runtime->tasks.is_cancelled)
		return NULL;
	TRY(is_awaiter_polled(p, tid, &awaited));
	if (awaited)
		return NULL;
	/* The header is read as it is now, not as it was at the last look. */
	struct target *t = p->in->target;

	target_begin_scratch_cache(t, &before);
	struct error *err CLEANUP(error_freep) =
		p->subject.owner.runtime->tasks.is_cancelled(p->in, p->subject.owner.task, ret);
	target_end_scratch_cache(t, &before);
	if (err)
		p->exit.end.note = arena_printf(&p->d->step_cache->arena,
		                                "whether its task was cancelled is not known: %s",
		                                err->message);
	return NULL;
}
