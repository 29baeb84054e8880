/* Fills the roles and states of threads that run a LocalPool, and the future of run_until(). */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "runtimes/futures_executor/local_pool.h"
#include "runtimes/thread/root.h"

/* Does the loop of the mark itself sleep, by std::thread::park()? What it polls may do so too. */
static bool is_parked(const struct thread_stack *s, const struct mark *m)
{
	static const char *const heads[] = { "futures_executor::local_pool::", "std::", "core::",
		                             "alloc::", NULL };

	for (size_t i = m->frame + 1; i-- > 0;) {
		for (size_t j = s->nfunctions[i]; j-- > 0;) {
			const char *name = s->functions[i][j].name;

			if ((i == m->frame && j >= m->level) || !name)
				continue;
			if (!runtime_begins_with_one(name, heads))
				return false;
			if (str_begins(name, "std::thread::") &&
			    str_begins(qualified_last(name), "park"))
				return true;
		}
	}
	return false;
}

static void local_pool_thread_describe(struct collector *c, struct local_pool_thread *t,
                                       struct thread_info *info, const struct thread_stack *s)
{
	unsigned runtime = t->info ? t->info->index : 0;
	const struct mark *block_on;
	struct marks marks;

	stack_find_marks(c, s, &marks);
	const struct mark *loop = local_pool_loop(&marks);
	bool parked = is_parked(s, loop);
	bool polls = stack_innermost(&marks, MARK_TASK_POLL, &local_pool_table) != NULL;

	block_on = stack_innermost(&marks, MARK_BLOCK_ON, &local_pool_table);
	if (t->running && !info->task)
		info->task = t->running->id;
	/* A worker or job of another runtime may have called it, and keeps its role. */
	if (info->role == THREAD_OTHER) {
		info->role = block_on ? THREAD_BLOCK_ON : THREAD_WORKER;
		info->runtime = t->info ? (int)t->info->index : -1;
		info->state = t->running ? arena_printf(c->a, "running task %s", t->running->id)
		              : parked   ? "parked"
		                         : "running";
	}
	if (!block_on || info->root)
		return;
	stack_note_outer_roots(c, info, s, &marks, block_on);
	if (parked || polls)
		info->root = root_find(c, s, &marks, block_on, t->waker, runtime);
}

void local_pool_describe_threads(struct collector *c)
{
	struct local_pool_thread *threads = local_pool_walk(c)->threads;

	for (size_t i = 0; i < c->out->nthreads; i++) {
		if (!threads[i].copy)
			continue;
		c->decoding.thread = c->out->threads[i].number;
		local_pool_thread_describe(c, &threads[i], &c->out->threads[i], &c->stacks[i]);
	}
	c->decoding.thread = 0;
}
