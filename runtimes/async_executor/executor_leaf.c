/* Decodes what futures of async-task and async-executor wait for. */
#include <inttypes.h>

#include "runtimes/async_executor/executor.h"
#include "runtimes/future/leaf.h"
#include "runtimes/model/names.h"

/* ---- Task: the handle of another task (async-task, src/task.rs) ---- */

/* The header, by the copy of the crate that knows its vtable. */
static struct error *executor_leaf_read_header(struct collector *c, uint64_t addr,
                                               struct async_executor_header *ret)
{
	struct error *err = error_new(ERR_LAYOUT, "async-task was not found");

	for (struct async_executor_copy *copy = async_executor_of(c->in)->copies; copy && err;
	     copy = copy->next) {
		error_free(err);
		err = async_executor_read_header(c->in, copy, addr, ret);
	}
	return err;
}

/* The waker that the task wakes when it ends is there while the bit is set (src/header.rs). */
static struct error *executor_leaf_arm(struct leaf *l, const struct async_executor_header *h)
{
	struct value header = { h->plan->header, h->addr }, place;
	bool found;

	if (!(h->state & ASYNC_EXECUTOR_AWAITER)) {
		leaf_arm_none(l);
		return NULL;
	}
	if (!h->plan->awaiter)
		return NULL;
	TRY(path_eval(l->d->c->in->target, h->plan->awaiter, header, &place, &found));
	return found ? leaf_arm(l, place) : NULL;
}

static struct error *executor_leaf_decode_task(struct leaf *l)
{
	static const char pointer[] = "ptr";
	struct collector *c = l->d->c;
	struct async_executor_header h;

	TRY(leaf_uint(l, l->v, pointer, &l->w->object));
	TRY(executor_leaf_read_header(c, l->w->object, &h));
	TRY(executor_leaf_arm(l, &h));
	const struct task *task = map_get(&c->tasks, h.addr);
	const char *state = task_state_name(async_executor_state(h.state));
	l->w->task = task ? task->id : task_key(c->a, async_executor_name, h.addr);
	wait_string(l, "task_state", state);
	wait_phrase(l, "handle of task %s (%s)", waker_task_text(l->d->c, l->w->task), state);
	return NULL;
}

/* ---- Ticker: a future that runs an executor, and has no task to run ---- */

static struct error *decode_ticker(struct leaf *l)
{
	static const char state[] = "state";
	const struct executor *e;

	TRY(leaf_uint(l, l->v, state, &l->w->object));
	l->in_use = true;
	e = async_executor_of_state(l->d->c, l->w->object);
	if (e)
		wait_phrase(l, "runs the tasks of runtime %u, none of which is ready",
		            e->info->index);
	else
		wait_phrase(l, "runs an executor with no known tasks");
	return NULL;
}

const struct leaf_row async_executor_own_leaves[] = {
	{ .type = "async_executor::Ticker",
	  .kind = "executor",
	  .decode = decode_ticker,
	  .resource = true },
	{ 0 },
};

const struct leaf_row async_executor_task_leaves[] = {
	{ .type = "async_task::task::Task",
	  .kind = "join",
	  .decode = executor_leaf_decode_task,
	  .proves = true },
	{ 0 },
};

const struct combinator_row async_executor_task_combinators[] = {
	{ .type = "async_task::task::FallibleTask", .children = { { "task", "await", NULL } } },
	{ 0 },
};
