/* Finds the task that a thread runs, and the executor that it drives. */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/variables.h"
#include "runtimes/async_executor/executor.h"

enum { MAX_RUNNING = 64, MAX_FRAME = 1 << 20 };

/* Tasks that may be the one which a run function has as its argument. */
struct running {
	struct collector *c;
	const struct mark *mark;
	struct task *found;
	bool several;
};

static void note(struct running *r, uint64_t header)
{
	struct task *task = map_get(&r->c->tasks, header);
	const struct executor_plan *plan =
		task ? map_get(&executor_walk(r->c)->plans, (uintptr_t)task) : NULL;

	if (!plan || task->state != TASK_RUNNING || task->thread ||
	    (r->mark->function && plan->run != r->mark->function->low))
		return;
	r->several |= r->found && r->found != task;
	r->found = task;
}

static void note_variable(const struct variable *v, void *arg)
{
	struct running *r = arg;
	uint64_t word = v->value;
	struct error *err = NULL;

	if (type_kind(v->type) != TYPE_POINTER)
		return;
	if (v->in_memory)
		err = target_read_uint(r->c->in->target, v->addr, 8, &word);
	if (!err)
		note(r, word);
	error_free(err);
}

static uint64_t frame_end(const struct thread_stack *s, size_t frame)
{
	return frame + 1 < s->stack.nframes ? s->stack.frames[frame + 1].sp : 0;
}

/* The words that the frame of the function saved, and the registers that it keeps. */
static void look_in_frame(struct running *r, const struct thread_stack *s)
{
	const struct frame *frame = &s->stack.frames[r->mark->frame];
	uint64_t end = frame_end(s, r->mark->frame), word;

	for (size_t i = 0; i < r->c->in->target->arch->nregs; i++) {
		if (frame->known_regs & UINT64_C(1) << i)
			note(r, frame->regs[i]);
	}
	if (!frame->has_sp || end < frame->sp || end - frame->sp > MAX_FRAME)
		return;
	for (uint64_t at = frame->sp; at + 8 <= end; at += 8) {
		struct error *err = target_read_uint(r->c->in->target, at, 8, &word);

		if (!err)
			note(r, word);
		error_free(err);
	}
}

/* All running tasks that have this run function. */
static void look_in_tasks(struct running *r)
{
	for (size_t i = 0; i < r->c->listed.n; i++)
		note(r, r->c->listed.data[i]->addr);
}

/*
 * The task that a run function runs: by its argument, else by the words in its frame, else the only
 * running task that has this function. NULL: unknown.
 */
static struct task *running_task(struct collector *c, const struct thread_stack *s,
                                 const struct mark *m)
{
	struct running r = { .c = c, .mark = m };

	variables_in_frame(c->in->di, &s->stack.frames[m->frame], frame_end(s, m->frame),
	                   note_variable, &r);
	if (!r.found || r.several) {
		r = (struct running){ .c = c, .mark = m };
		look_in_frame(&r, s);
	}
	if (!r.found || r.several) {
		r = (struct running){ .c = c, .mark = m };
		look_in_tasks(&r);
	}
	return r.several ? NULL : r.found;
}

/* Does the block_on only run an executor: is the future beside its tasks core's pending()? */
static bool only_runs(const struct mark *block_on)
{
	const struct type *t = stack_mark_future_type(block_on);
	const char *name = t ? type_name(t) : "";

	return str_begins(name, "async_executor::") &&
	       strstr(name, "core::future::pending::Pending<");
}

static void describe(struct collector *c, struct thread_info *info, const struct thread_stack *s)
{
	struct task *task = NULL;
	struct marks marks;

	stack_find_marks(c, s, &marks);
	for (size_t i = 0; i < marks.n; i++) {
		if (marks.data[i].of != executor_runtime(c->in))
			continue;
		struct task *found = running_task(c, s, &marks.data[i]);
		if (found)
			found->thread = info->number;
		task = found ? found : task;
	}
	const struct mark *block_on = stack_innermost(&marks, MARK_BLOCK_ON, NULL);
	bool worker = block_on && only_runs(block_on);
	if (task)
		info->task = task->id;
	/* A worker or job of another runtime may have called it: it stays that. */
	if (info->role != THREAD_OTHER || (!task && !worker))
		return;
	info->role = block_on && !worker ? THREAD_BLOCK_ON : THREAD_WORKER;
	info->runtime = task ? (int)task->runtime : -1;
	info->state = task ? arena_printf(c->a, "running task %s", task->id) : "parked";
}

void executor_describe_threads(struct collector *c)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		c->decoding_thread = c->out->threads[i].number;
		describe(c, &c->out->threads[i], &c->stacks[i]);
	}
	c->decoding_thread = 0;
}

/* The future in a tree that runs an executor; NULL: none. */
static struct future *find_runner(struct future *f)
{
	struct future *found = NULL;

	if (f->wait && strcmp(f->wait->kind, "executor") == 0)
		return f;
	for (size_t i = 0; i < f->nchildren && !found; i++) {
		if (f->children[i]->branch == BRANCH_POLLED)
			found = find_runner(f->children[i]);
	}
	return found;
}

/* The executor that a thread runs; NULL: none that is known. */
static const struct executor *find_executor(struct collector *c, struct thread_info *info)
{
	struct future *runner = info->root ? find_runner(info->root) : NULL;
	const struct executor *e = runner ? executor_of_state(c, runner->wait->object) : NULL;

	if (!runner && info->task && info->runtime >= 0)
		return executor_at(c, (unsigned)info->runtime);
	/* What is around it is the executor's own. */
	if (runner && info->role == THREAD_WORKER)
		info->root = runner;
	if (e && info->runtime < 0)
		info->runtime = (int)e->info->index;
	return e;
}

void executor_follow(struct collector *c)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_info *info = &c->out->threads[i];
		const struct executor *e = NULL;

		if (info->role == THREAD_WORKER || info->role == THREAD_BLOCK_ON)
			e = find_executor(c, info);
		if (!e)
			continue;
		e->info->workers++;
		e->info->found_by = NULL; /* it is for those that no thread runs */
	}
}
