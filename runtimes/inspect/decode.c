#include "runtimes/inspect/decode.h"

#include <stdlib.h>

#include "debugger/base/progress.h"
#include "runtimes/ownership/ownership.h"

static int decode_compare_polls(const void *a, const void *b)
{
	const struct task_poll *x = a, *y = b;

	if (x->poll != y->poll)
		return x->poll < y->poll ? -1 : 1;
	return x->task->addr < y->task->addr ? -1 : x->task->addr > y->task->addr;
}

/*
 * Decodes the ith of n tasks by its runtime; false when it was interrupted, which inspect()
 * reports.
 */
static bool decode_next(struct collector *c, struct task *task, size_t i, size_t n)
{
	if (i % PROGRESS_STRIDE == 0) {
		struct error *interrupted = interrupt_check();

		progress("reading tasks", i, n);
		error_free(interrupted);
		if (interrupted)
			return false;
	}
	if ((c->want & WANT_TASKS) || task->state == TASK_RUNNING)
		collector_runtime(c, task->runtime)->decode(c, task);
	return true;
}

/*
 * Decodes tasks in the order of their poll functions: neighbours in the code are neighbours in the
 * debug info.
 */
static void decode_by_poll(struct collector *c)
{
	const struct task_poll *polls = c->polls.data;
	size_t n = c->polls.n;

	if (n)
		qsort(c->polls.data, n, sizeof(*polls), decode_compare_polls);
	for (size_t i = 0; i < n && decode_next(c, polls[i].task, i, n); i++) {
		if (c->warm_up && (c->want & WANT_OWNERS))
			ownership_warm_up_task(c, polls[i].task);
	}
}

void decode_tasks(struct collector *c)
{
	if (c->by_poll) {
		decode_by_poll(c);
		return;
	}
	size_t n = c->out->ntasks;
	for (size_t i = 0; i < n && decode_next(c, c->out->tasks[i], i, n); i++)
		;
}
