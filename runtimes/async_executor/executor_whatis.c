/* Answers "what is at this address?" for executors and tasks. */
#include <inttypes.h>

#include "runtimes/async_executor/executor.h"
#include "runtimes/query/whatis_place.h"

static void add_executor(struct whatis *a, const struct executor *e)
{
	struct value state = { e->copy->state, e->state };

	if (!e->state || !state.type || !place_covers(a, state.addr, type_size(state.type)))
		return;
	place_add(a, "runtime", state.addr,
	          arena_printf(a->c->a, "State of runtime %u%s", e->info->index,
	                       place_inside(a, state, PLACE_MAX_STEPS)));
}

/* The part of a task that the address is in (async-task, src/raw.rs). */
static const char *part_of_task(const struct async_executor_plan *plan, uint64_t offset)
{
	if (offset < plan->offset_s)
		return "its header";
	return offset < plan->offset_f ? "its schedule function" : "its future or output";
}

static void executor_whatis_add_task(struct whatis *a, const struct task *task)
{
	const struct async_executor_plan *plan =
		map_get(&async_executor_walk(a->c)->plans, (uintptr_t)task);
	uint64_t size = plan && plan->future ? plan->offset_f + type_size(plan->future) : 0;

	uint64_t offset = a->addr - task->addr;

	if (!size || !place_covers(a, task->addr, size))
		return;
	struct place *p =
		place_add(a, "task", task->addr,
	                  arena_printf(a->c->a, "memory of task %s, +%" PRIu64 " in it: %s",
	                               task->id, offset, part_of_task(plan, offset)));
	p->task = task->id;
}

void async_executor_whatis(struct whatis *a)
{
	const struct async_executor_walk *w = async_executor_walk(a->c);
	const struct snapshot *s = a->c->out;

	for (size_t i = 0; i < w->nexecutors; i++)
		add_executor(a, &w->executors[i]);
	for (size_t i = 0; i < s->ntasks; i++)
		executor_whatis_add_task(a, s->tasks[i]);
}
