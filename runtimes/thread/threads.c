#include "runtimes/thread/threads.h"

#include <string.h>

#include "runtimes/query/merged_code.h"
#include "runtimes/thread/blocked.h"
#include "runtimes/thread/stack.h"

/* The index of the innermost mark of that kind and runtime (NULL: any); marks->n: none. */
static size_t threads_last_mark(const struct marks *marks, enum mark_kind kind,
                                const struct runtime *of)
{
	const struct mark *m = stack_innermost(marks, kind, of);

	return m ? (size_t)(m - marks->data) : marks->n;
}

static void finish_task(struct collector *c, const struct thread_stack *s,
                        const struct marks *marks, struct task *task)
{
	size_t mark = threads_last_mark(marks, MARK_TASK_POLL, collector_runtime(c, task->runtime));
	/*
	 * The root is known here already if the code of the task's poll function is that of other
	 * types too.
	 */
	struct future *any = task->root, *running = NULL;

	/* The tasks of a runtime may be of the kind of another one. */
	if (mark == marks->n)
		mark = threads_last_mark(marks, MARK_TASK_POLL, NULL);
	if (mark < marks->n)
		running = stack_running_chain(c, s, marks, mark, any && any->aliases);
	if (running && any) {
		running->aliases = any->aliases;
		running->uncertain |= any->uncertain;
	}
	if (running)
		task->root = running;
	else if (!any && task->type)
		task->root = future_by_name(c, task->type);
}

/*
 * Finishes the tasks that the thread runs: inside a task of one runtime another may run a task.
 * Returns the one that info names; NULL: none.
 */
static const struct task *finish_tasks(struct collector *c, const struct thread_info *info,
                                       const struct thread_stack *s, const struct marks *marks)
{
	const struct task *named = NULL;

	for (size_t i = 0; info->task && i < c->out->ntasks; i++) {
		struct task *task = c->out->tasks[i];

		if (task->thread != info->number)
			continue;
		finish_task(c, s, marks, task);
		if (strcmp(task->id, info->task) == 0)
			named = task;
	}
	return named;
}

/* Whether the mark's runtime was recognised in the debug info. */
static bool is_understood(const struct inspector *in, const struct mark *m)
{
	struct runtime_copy copy;

	return m->of->copy(in, 0, &copy);
}

/* Is the block_on the loop of a worker, which has spawned the future? */
static bool is_of_worker(const struct collector *c, const struct thread_info *info,
                         const struct marks *marks, size_t mark)
{
	return mark == 0 && info->role == THREAD_WORKER && info->runtime >= 0 &&
	       collector_runtime(c, (size_t)info->runtime) == marks->data[mark].of;
}

static void finish_root(struct collector *c, struct thread_info *info, const struct thread_stack *s,
                        const struct marks *marks)
{
	size_t mark = threads_last_mark(marks, MARK_BLOCK_ON, NULL);
	struct future *running =
		mark < marks->n ? stack_running_chain(c, s, marks, mark, false) : NULL;

	if (running) {
		info->root = running;
		if (info->role == THREAD_BLOCK_ON && !info->task)
			info->state = "running";
	} else if (!info->root && mark < marks->n && is_understood(c->in, &marks->data[mark]) &&
	           !is_of_worker(c, info, marks, mark)) {
		const char *name = stack_mark_future_name(&c->scratch, &marks->data[mark]);

		info->root = name ? future_by_name(c, name) : NULL;
		if (info->root)
			info->root->running = true;
	} else if (info->root && info->root->problem) {
		c->out->complete = false;
	}
}

/*
 * Notes why a stack that is shown ends early. For a thread that was not stopped,
 * inspect_note_unstopped() does so.
 */
static bool note_cut(struct collector *c, struct thread_info *info, size_t i)
{
	const struct thread *th = &c->in->target->threads[i];
	const char *problem = c->stacks[i].stack.problem;

	if (!problem || !th->has_regs || th->unknown_regs)
		return false;
	if (!info->problem)
		info->problem = inspector_clean_name(c->a, problem);
	return true;
}

void threads_finish(struct collector *c)
{
	struct snapshot *s = c->out;
	size_t ncut = 0;

	for (size_t i = 0; i < s->nthreads; i++) {
		struct thread_info *info = &s->threads[i];
		struct marks marks;

		stack_find_marks(c, &c->stacks[i], &marks);
		const struct task *task = finish_tasks(c, info, &c->stacks[i], &marks);
		finish_root(c, info, &c->stacks[i], &marks);
		blocked_finish(c, info, &c->stacks[i], &marks);
		if ((c->want & WANT_STACKS) || (info->job && (c->want & WANT_JOB_STACKS)))
			info->frames =
				stack_describe(c, &c->stacks[i], &marks, task, &info->nframes);
		ncut += (c->want & WANT_STACKS) && note_cut(c, info, i);
	}
	if (ncut)
		snapshot_incomplete(s, "%zu of %zu stacks are incomplete: each says why", ncut,
		                    s->nthreads);
}

/* Is the innermost function that of a coroutine whose code may be that of others, too? */
static bool is_merged(struct collector *c, const struct thread_stack *s)
{
	static const struct merged_code_poller unknown;
	struct merged_code_polled polled = { 0 };

	if (!s->stack.nframes || !s->nfunctions[0] || !coroutine_is_poll(&s->functions[0][0]))
		return false;
	merged_code_polled(c->in, &s->functions[0][0], &unknown, &polled);
	return polled.aliases != NULL;
}

void threads_finish_merged(struct collector *c, pid_t tid)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_info *info = &c->out->threads[i];
		struct marks marks;

		if (info->tid != tid || !is_merged(c, &c->stacks[i]))
			continue;
		stack_find_marks(c, &c->stacks[i], &marks);
		finish_tasks(c, info, &c->stacks[i], &marks);
		finish_root(c, info, &c->stacks[i], &marks);
	}
}
