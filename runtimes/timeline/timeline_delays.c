/* The tasks of a timeline that exist, and how long each waits for its next poll. */
#include "debugger/base/clock.h"
#include "runtimes/timeline/timeline_private.h"

/* NULL: there are too many, or it has no id. */
static struct task_entry *timeline_delays_follow(struct timeline_delays *t, uint64_t id)
{
	if (id && t->tasks.n < TIMELINE_TASKS)
		return task_table_add(&t->tasks, id);
	t->untracked++;
	return NULL;
}

static void timeline_delays_spawn(struct timeline_delays *t, const struct trace_item *item)
{
	struct timeline_delay *d = &t->last;

	if (d->task)
		return;
	d->kind = DELAY_BEGINS;
	d->task = timeline_delays_follow(t, item->task);
	if (d->task && !item->late)
		d->task->runnable = item->time;
}

static void timeline_delays_start_poll(struct timeline_delay *d, const struct trace_item *item)
{
	struct task_entry *task = d->task;

	if (!task)
		return;
	if (task->runnable && item->time >= task->runnable) {
		d->kind = task->polled ? DELAY_SCHEDULED : DELAY_FIRST;
		d->ns = clock_between(task->runnable, item->time);
	}
	task->runnable = 0;
	task->polled = true;
}

void timeline_delays_add(struct timeline_delays *t, const struct trace_item *item)
{
	struct timeline_delay *d = &t->last;

	if (d->kind == DELAY_ENDS && d->task)
		task_table_remove(&t->tasks, d->task);
	d->task = item->task ? task_table_find(&t->tasks, item->task) : NULL;
	d->kind = DELAY_NONE;
	switch (item->event) {
	case TRACE_SPAWN:
		timeline_delays_spawn(t, item);
		break;
	case TRACE_POLL_START:
		timeline_delays_start_poll(d, item);
		break;
	case TRACE_WAKE:
		/* The first poll of a task is measured from its spawn, not from a wake-up. */
		if (d->task && d->task->polled)
			d->task->runnable = item->time;
		break;
	case TRACE_TERMINATE:
		d->kind = DELAY_ENDS;
		break;
	default:
		break;
	}
}

const struct timeline_delay *timeline_delay(const struct timeline *tl)
{
	return &tl->delays.last;
}

bool timeline_begin_delay(struct timeline *tl, uint64_t id, bool polled, struct task_entry **ret)
{
	struct timeline_delays *t = &tl->delays;

	*ret = NULL;
	if (id && task_table_find(&t->tasks, id))
		return false;
	*ret = timeline_delays_follow(t, id);
	if (*ret)
		(*ret)->polled = polled;
	return true;
}

void timeline_forget_delays(struct timeline *tl)
{
	for (size_t i = 0; i < tl->delays.tasks.capacity; i++)
		tl->delays.tasks.slots[i].runnable = 0;
}
