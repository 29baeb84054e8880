/* Decodes the future of a task. */
#include "runtimes/async_executor/executor.h"
#include "runtimes/future/future.h"

/*
 * A task has a reference for each of its wakers, and while it is idle for nothing else. One of them
 * is in the slab of an executor that lists its tasks.
 */
static void executor_decode_count_wakers(bool listed, const struct async_executor_header *h,
                                         struct task *task)
{
	uint64_t references = h->state >> ASYNC_EXECUTOR_REF_SHIFT, own = listed ? 1 : 0;

	task->has_wakers = task->state == TASK_IDLE &&
	                   async_executor_state(h->state) == TASK_IDLE && references >= own;
	task->wakers = task->has_wakers ? references - own : 0;
}

/* The future that the program spawned, inside a coroutine of the executor. */
static struct future *without_wrapper(const struct async_executor_plan *plan, struct future *root)
{
	return plan->wrapped && !root->problem && root->nchildren == 1 ? root->children[0] : root;
}

static struct error *executor_decode_root(struct collector *c, bool listed,
                                          const struct async_executor_header *h, struct task *task)
{
	struct decoder d = { .c = c, .waker = task->addr, .runtime = task->runtime };
	struct value future;

	TRY(async_executor_future(c, h, &future));
	d.idle = async_executor_state(h->state) == TASK_IDLE;
	d.woken = future_is_woken(async_executor_state(h->state));
	executor_decode_count_wakers(listed, h, task);
	d.forgotten = task->has_wakers && task->wakers == 0;
	task->root = without_wrapper(h->plan, future_decode(&d, future));
	task->root->uncertain |= h->plan->merged;
	return NULL;
}

static struct error *executor_decode_listed(struct collector *c, struct async_executor_copy *copy,
                                            bool listed, struct task *task)
{
	const struct async_executor_plan *plan =
		map_get(&async_executor_walk(c)->plans, (uintptr_t)task);
	struct async_executor_header h;

	task->type = plan->type;
	task->size = plan->spawned ? type_size(plan->spawned) : 0;
	if (plan->spawned && type_is_coroutine(plan->spawned) && !plan->merged)
		task->defined_at = coroutine_defined_at(c->in, plan->spawned);
	TRY(async_executor_read_header(c->in, copy, task->addr, &h));
	task->spawned_at = async_executor_spawned_at(c, &h);
	if (plan->problem)
		return error_new(ERR_LAYOUT, "%s", plan->problem);
	if (task->state == TASK_RUNNING)
		return NULL;
	if (async_executor_is_live(h.state))
		TRY(executor_decode_root(c, listed, &h, task));
	else if (task->state != TASK_COMPLETE)
		return error_new(ERR_CORRUPT,
		                 "its future is gone: the task is completing or being dropped");
	if (!task->defined_at && !plan->merged)
		task->defined_at = coroutine_defined_by_tree(c->in, task->root);
	return NULL;
}

void async_executor_decode_of(struct collector *c, struct async_executor_copy *copy, bool listed,
                              struct task *task)
{
	size_t doubts = collector_begin_decoding(c, task);
	struct error *err = executor_decode_listed(c, copy, listed, task);

	if (!task->root && task->type && task->state != TASK_RUNNING)
		task->root = future_by_name(c, task->type);
	collector_end_decoding(c, task, doubts, err);
}

void async_executor_decode(struct collector *c, struct task *task)
{
	const struct executor *e = async_executor_at(c, task->runtime);

	async_executor_decode_of(c, e->copy, e->listed, task);
}
