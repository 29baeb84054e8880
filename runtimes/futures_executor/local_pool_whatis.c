/* Answers "what is at this address?" for pools and tasks. */
#include <inttypes.h>

#include "runtimes/futures_executor/local_pool.h"
#include "runtimes/query/whatis_place.h"

static void local_pool_whatis_add_pool(struct whatis *a, const struct local_pool_thread *t)
{
	if (!t->info || !place_covers(a, t->pool.addr, type_size(t->pool.type)))
		return;
	place_add(a, "runtime", t->pool.addr,
	          arena_printf(a->c->a, "LocalPool of runtime %u%s", t->info->index,
	                       place_inside(a, t->pool, PLACE_MAX_STEPS)));
}

/* A task is a node of the set, or a LocalFutureObj that is not in the set yet. */
static void local_pool_whatis_add_task(struct whatis *a, const struct task *task)
{
	struct local_pool_walk *w = local_pool_walk(a->c);
	uint64_t object = (uintptr_t)map_get(&w->objects, (uintptr_t)task);
	const struct local_pool_thread *t = object ? local_pool_thread_of(a->c, task) : NULL;
	struct value v = { NULL, task->addr };

	if (!t)
		return;
	v.type = object == task->addr ? t->copy->object : t->copy->node;
	if (!place_covers(a, v.addr, type_size(v.type)))
		return;
	struct place *p = place_add(a, "task", v.addr,
	                            arena_printf(a->c->a, "%s of task %s%s",
	                                         object == task->addr ? "future" : "node", task->id,
	                                         place_inside(a, v, PLACE_MAX_STEPS)));
	p->task = task->id;
}

void local_pool_whatis(struct whatis *a)
{
	const struct snapshot *s = a->c->out;

	for (size_t i = 0; i < s->nthreads; i++)
		local_pool_whatis_add_pool(a, &local_pool_walk(a->c)->threads[i]);
	for (size_t i = 0; i < s->ntasks; i++)
		local_pool_whatis_add_task(a, s->tasks[i]);
}
