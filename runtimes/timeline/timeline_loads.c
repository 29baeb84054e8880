/* The loads of the threads of a timeline. */
#include "debugger/base/clock.h"
#include "runtimes/timeline/timeline_private.h"

/* Counts the time up to an item, or to now, and goes on with other work. */
static void timeline_load_pass_time(struct timeline_load *l, uint64_t time, enum timeline_work then)
{
	uint64_t ns = clock_between(l->since, time);

	if (l->work == WORK_BUSY)
		l->busy_ns += ns;
	if (l->work == WORK_PARKED)
		l->parked_ns += ns;
	l->work = then;
	l->since += ns;
}

static enum timeline_work timeline_load_next(const struct timeline_load *l,
                                             const struct trace_item *item)
{
	switch (item->event) {
	case TRACE_PARK:
		return WORK_PARKED;
	case TRACE_WORKER_STOP:
		return WORK_UNKNOWN;
	case TRACE_POLL_START:
		/* A thread that polls is not parked, whether the end of its park was seen or not.
		 */
		if (l->work == WORK_PARKED || item->worker >= 0)
			return WORK_BUSY;
		return l->work;
	default:
		return WORK_BUSY;
	}
}

void timeline_loads_add(struct timeline_threads *t, const struct trace_item *item)
{
	if (item->event == TRACE_POLL_START && item->job != TRACE_TASK &&
	    item->job != TRACE_UNKNOWN_JOB)
		return;
	struct timeline_thread *th = item->tid > 0 ? timeline_threads_get(t, item->tid) : NULL;
	struct timeline_load *l = th ? &th->load : &t->others;

	l->polls += item->event == TRACE_POLL_START;
	l->parks += item->event == TRACE_PARK;
	if (!th)
		return;
	l->runtime = item->runtime;
	l->worker = item->worker;
	if (item->event == TRACE_WORKER_START)
		l->looks = 0;
	enum timeline_work next = timeline_load_next(l, item);
	if (next != l->work)
		timeline_load_pass_time(l, item->time, next);
}

struct timeline_load *timeline_load(struct timeline *tl, pid_t tid)
{
	struct timeline_thread *th = timeline_threads_find(&tl->threads, tid);

	return th ? &th->load : NULL;
}

struct timeline_load *timeline_begin_load(struct timeline *tl, pid_t tid, enum timeline_work work,
                                          uint64_t time)
{
	struct timeline_thread *th = tid > 0 ? timeline_threads_get(&tl->threads, tid) : NULL;

	if (!th)
		return NULL;
	if (th->load.work == WORK_UNKNOWN) {
		th->load.work = work;
		th->load.since = time;
	}
	return &th->load;
}

struct load_visit {
	uint64_t time;
	timeline_load_fn *visit;
	void *arg;
};

static bool timeline_load_visit(struct timeline_thread *th, void *arg)
{
	const struct load_visit *v = arg;

	timeline_load_pass_time(&th->load, v->time, th->load.work);
	return v->visit(&th->load, v->arg);
}

void timeline_each_load(struct timeline *tl, uint64_t time, timeline_load_fn *visit, void *arg)
{
	visit(&tl->threads.others, arg);
	timeline_threads_keep(&tl->threads, timeline_load_visit,
	                      &(struct load_visit){ time, visit, arg });
}
