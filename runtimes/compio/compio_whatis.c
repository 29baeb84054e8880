/* Answers "what is at this address?" for runtimes and tasks of compio-executor. */
#include <inttypes.h>

#include "runtimes/compio/compio.h"
#include "runtimes/query/whatis_place.h"

static void compio_whatis_add_runtime(struct whatis *a, const struct compio_thread *t)
{
	if (!t->info || !place_covers(a, t->runtime.addr, type_size(t->runtime.type)))
		return;
	place_add(a, "runtime", t->runtime.addr,
	          arena_printf(a->c->a, "Runtime of runtime %u%s", t->info->index,
	                       place_inside(a, t->runtime, PLACE_MAX_STEPS)));
}

static void compio_whatis_add_task(struct whatis *a, const struct task *task)
{
	const struct compio_plan *plan = map_get(&compio_walk(a->c)->plans, (uintptr_t)task);
	uint64_t size = plan && plan->future ? plan->offset + type_size(plan->future) : 0;
	uint64_t offset = a->addr - task->addr;

	if (!size || !place_covers(a, task->addr, size))
		return;
	struct place *p = place_add(
		a, "task", task->addr,
		arena_printf(a->c->a, "memory of task %s, +%" PRIu64 " in it: %s", task->id, offset,
	                     offset < plan->offset ? "its header" : "its future or output"));
	p->task = task->id;
}

void compio_whatis(struct whatis *a)
{
	const struct compio_walk *w = compio_walk(a->c);
	const struct snapshot *s = a->c->out;

	for (size_t i = 0; w->threads && i < s->nthreads; i++)
		compio_whatis_add_runtime(a, &w->threads[i]);
	for (size_t i = 0; i < s->ntasks; i++)
		compio_whatis_add_task(a, s->tasks[i]);
}
