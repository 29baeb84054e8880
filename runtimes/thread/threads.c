#include "runtimes/thread/threads.h"

#include "runtimes/thread/blocked.h"
#include "runtimes/thread/stack.h"

static size_t last_mark(const struct marks *marks, enum mark_kind kind)
{
	const struct mark *m = stack_innermost(marks, kind);

	return m ? (size_t)(m - marks->data) : marks->n;
}

static struct task *task_of_thread(struct collector *c, const struct thread_info *info)
{
	for (size_t i = 0; i < c->out->ntasks; i++) {
		if (c->out->tasks[i]->thread == info->number)
			return c->out->tasks[i];
	}
	return NULL;
}

static void finish_task(struct collector *c, const struct thread_stack *s,
                        const struct marks *marks, struct task *task)
{
	size_t mark = last_mark(marks, MARK_TASK_POLL);

	if (mark < marks->n)
		task->root = stack_running_chain(c, s, marks, mark);
	if (!task->root && task->type)
		task->root = future_by_name(c, task->type);
}

/* Whether the mark's runtime was recognised in the debug info. */
static bool is_understood(const struct inspector *in, const struct mark *m)
{
	struct runtime_copy copy;

	return m->of->copy(in, 0, &copy);
}

static void finish_root(struct collector *c, struct thread_info *info, const struct thread_stack *s,
                        const struct marks *marks)
{
	size_t mark = last_mark(marks, MARK_BLOCK_ON);
	struct future *running = mark < marks->n ? stack_running_chain(c, s, marks, mark) : NULL;

	if (running) {
		info->root = running;
		if (info->role == THREAD_BLOCK_ON && !info->task)
			info->state = "running";
	} else if (!info->root && mark < marks->n && is_understood(c->in, &marks->data[mark])) {
		const char *name = stack_mark_future_name(&c->scratch, &marks->data[mark]);

		info->root = name ? future_by_name(c, name) : NULL;
		if (info->root)
			info->root->running = true;
	} else if (info->root && info->root->problem) {
		c->out->complete = false;
	}
}

void threads_finish(struct collector *c)
{
	struct snapshot *s = c->out;

	for (size_t i = 0; i < s->nthreads; i++) {
		struct thread_info *info = &s->threads[i];
		struct marks marks;

		stack_find_marks(c, &c->stacks[i], &marks);
		struct task *task = info->task ? task_of_thread(c, info) : NULL;
		if (task)
			finish_task(c, &c->stacks[i], &marks, task);
		finish_root(c, info, &c->stacks[i], &marks);
		blocked_finish(c, info, &c->stacks[i], &marks);
		if (c->want & WANT_STACKS)
			info->frames = stack_describe(c, &c->stacks[i], &marks,
			                              task ? task->id : NULL, &info->nframes);
	}
}
