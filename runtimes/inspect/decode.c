#include "runtimes/inspect/decode.h"

#include <stdlib.h>

#include "debugger/base/progress.h"
#include "runtimes/holding/holding.h"

enum {
	FEW_AT_ONCE = 16,            /* or all that remain */
	NOTES_AT_BOUNDARY = 1 << 20, /* between two crates: little is needed again */
};

static int by_poll(const void *a, const void *b)
{
	const struct task_poll *x = a, *y = b;

	if (x->poll != y->poll)
		return x->poll < y->poll ? -1 : 1;
	return x->task->addr < y->task->addr ? -1 : x->task->addr > y->task->addr;
}

/*
 * Prefetches debug info for the next tasks: a batch takes less time than single tasks, and all
 * tasks at once would take much memory.
 */
static void prefetch_tasks(struct collector *c, const struct task_poll *polls, size_t n)
{
	size_t naddrs = 0;

	if (!(c->want & WANT_TASKS))
		return;
	uint64_t *addrs = NEW_ARRAY(&c->scratch, uint64_t, n);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || polls[i].poll != polls[i - 1].poll)
			addrs[naddrs++] = polls[i].poll;
	}
	debuginfo_prefetch(c->in->di, addrs, naddrs);
}

/* Decodes the ith of n tasks by its runtime; false when it was interrupted, which inspect()
 * reports. */
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

/* Is the ith task's code in another crate than the one before? */
static bool is_boundary(struct collector *c, const struct task_poll *polls, size_t i)
{
	return i > 0 && polls[i].poll != polls[i - 1].poll &&
	       !debuginfo_same_crate(c->in->di, polls[i - 1].poll, polls[i].poll);
}

/* How many tasks to prefetch together; a batch ends where a crate ends. */
static size_t batch(struct collector *c, const struct task_poll *polls, size_t n)
{
	size_t end = FEW_AT_ONCE;

	while (end < n && end < TASKS_AT_ONCE && !is_boundary(c, polls, end))
		end++;
	return end < n ? end : n;
}

/* Drops cached debug info before the ith task, more of it at the boundary of a crate. */
static void enter_batch(struct collector *c, const struct task_poll *polls, size_t i)
{
	debuginfo_trim(c->in->di, is_boundary(c, polls, i) ? NOTES_AT_BOUNDARY : NOTES_MEANWHILE);
}

static void decode_polls(struct collector *c, const struct task_poll *polls, size_t n)
{
	for (size_t i = 0, next = 0; i < n; i++) {
		if (i == next) {
			next = i + batch(c, polls + i, n - i);
			enter_batch(c, polls, i);
			prefetch_tasks(c, polls + i, next - i);
		}
		if (!decode_next(c, polls[i].task, i, n))
			return;
		if (c->warm_up && (c->want & WANT_HOLDINGS))
			holding_warm_up_task(c, polls[i].task);
	}
}

/*
 * Decodes tasks in the order of their poll functions: neighbours in the code are neighbours in the
 * debug info.
 */
static void decode_by_poll(struct collector *c)
{
	if (c->polls.n)
		qsort(c->polls.data, c->polls.n, sizeof(*c->polls.data), by_poll);
	decode_polls(c, c->polls.data, c->polls.n);
}

static bool decode_listed(struct collector *c, struct task *task, size_t i, size_t n)
{
	if (i % TASKS_AT_ONCE == 0)
		debuginfo_trim(c->in->di, NOTES_MEANWHILE);
	return decode_next(c, task, i, n);
}

void decode_tasks(struct collector *c)
{
	if (c->by_poll) {
		decode_by_poll(c);
		return;
	}
	size_t n = c->out->ntasks;
	for (size_t i = 0; i < n && decode_listed(c, c->out->tasks[i], i, n); i++)
		;
}
