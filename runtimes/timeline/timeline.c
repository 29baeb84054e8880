#include "runtimes/timeline/timeline.h"

#include <stdlib.h>

#include "runtimes/timeline/timeline_private.h"

struct timeline *timeline_new(unsigned parts, task_span_fn *ended, void *arg)
{
	struct timeline *tl = alloc_zeroed(sizeof(*tl));

	tl->parts = parts;
	tl->tasks.visit = ended;
	tl->tasks.arg = arg;
	tl->threads.others = timeline_no_load;
	return tl;
}

void timeline_free(struct timeline *tl)
{
	if (!tl)
		return;
	timeline_tasks_free(&tl->tasks);
	timeline_threads_free(&tl->threads);
	task_table_free(&tl->delays.tasks);
	free(tl);
}

void timeline_freep(struct timeline **tl)
{
	timeline_free(*tl);
}

void timeline_begin(struct timeline *tl, const struct snapshot *s, uint64_t time)
{
	if (tl->parts & TIMELINE_SPANS)
		timeline_tasks_begin(&tl->tasks, s, time);
}

/* The parts that an event tells something about. */
static const unsigned parts_of[TRACE_NEVENTS] = {
	[TRACE_SPAWN] = TIMELINE_SPANS | TIMELINE_DELAYS,
	[TRACE_POLL_START] = TIMELINE_SPANS | TIMELINE_DELAYS | TIMELINE_CALLS | TIMELINE_LOADS,
	[TRACE_POLL_END] = TIMELINE_SPANS | TIMELINE_DELAYS | TIMELINE_CALLS,
	[TRACE_TERMINATE] = TIMELINE_SPANS | TIMELINE_DELAYS,
	[TRACE_WAKE] = TIMELINE_SPANS | TIMELINE_DELAYS,
	[TRACE_WORKER_START] = TIMELINE_CALLS | TIMELINE_LOADS,
	[TRACE_WORKER_STOP] = TIMELINE_CALLS | TIMELINE_LOADS,
	[TRACE_PARK] = TIMELINE_CALLS | TIMELINE_LOADS,
	[TRACE_UNPARK] = TIMELINE_CALLS | TIMELINE_LOADS,
};

void timeline_add(struct timeline *tl, const struct trace_item *item)
{
	unsigned parts = tl->parts & parts_of[item->event];

	tl->threads.ended = NULL;
	if (parts & TIMELINE_CALLS)
		timeline_threads_add(&tl->threads, item);
	if (parts & TIMELINE_LOADS)
		timeline_loads_add(&tl->threads, item);
	if (parts & TIMELINE_DELAYS)
		timeline_delays_add(&tl->delays, item);
	if (parts & TIMELINE_SPANS)
		timeline_tasks_add(&tl->tasks, item);
}

void timeline_lost(struct timeline *tl, uint64_t time)
{
	timeline_threads_lost(&tl->threads);
	timeline_tasks_lost(&tl->tasks, time);
	timeline_forget_delays(tl);
}

uint64_t timeline_untracked(const struct timeline *tl)
{
	return tl->tasks.untracked + tl->delays.untracked;
}
