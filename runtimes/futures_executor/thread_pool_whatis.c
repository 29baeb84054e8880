/* Answers "what is at this address?" for pools and tasks. */
#include <inttypes.h>

#include "runtimes/futures_executor/thread_pool.h"
#include "runtimes/query/whatis_place.h"

static void thread_pool_whatis_add_pool(struct whatis *a, const struct thread_pool *pool)
{
	struct value state = { pool->copy->state, pool->state };

	if (!place_covers(a, state.addr, type_size(state.type)))
		return;
	place_add(a, "runtime", state.addr,
	          arena_printf(a->c->a, "PoolState of runtime %u%s", pool->info->index,
	                       place_inside(a, state, PLACE_MAX_STEPS)));
}

static void thread_pool_whatis_add_task(struct whatis *a, const struct task *task)
{
	const struct thread_pool_task *known = thread_pool_task_of(a->c, task);
	struct value handle = { known ? known->copy->handle : NULL, task->addr };

	if (!handle.type || !place_covers(a, handle.addr, type_size(handle.type)))
		return;
	struct place *p = place_add(a, "task", handle.addr,
	                            arena_printf(a->c->a, "WakeHandle of task %s%s", task->id,
	                                         place_inside(a, handle, PLACE_MAX_STEPS)));
	p->task = task->id;
}

void thread_pool_whatis(struct whatis *a)
{
	const struct thread_pool_walk *w = thread_pool_walk(a->c);
	const struct snapshot *s = a->c->out;

	for (size_t i = 0; i < w->pools.n; i++)
		thread_pool_whatis_add_pool(a, &w->pools.data[i]);
	for (size_t i = 0; i < s->ntasks; i++)
		thread_pool_whatis_add_task(a, s->tasks[i]);
}
