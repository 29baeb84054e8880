#include "commands/top/top_samples.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/model/model.h"
#include "runtimes/timeline/task_samples.h"

/* A task, and the number of looks of the interval that saw it in each state. */
struct top_samples_seen {
	struct top_task task;
	uint64_t polling, runnable;
	uint64_t look; /* the last one that has shown it; 0: unused */
	struct top_stats stats;
};

struct seen_worker {
	struct top_worker worker;
	uint64_t busy, parked;
	uint64_t look;
};

struct top_samples {
	struct task_samples *tasks;
	VEC(struct top_samples_seen) seen; /* by the slots of spans */
	VEC(struct seen_worker) workers;
	struct map index;      /* key of a runtime and a worker -> its index in workers + 1 */
	uint64_t looks, total; /* looks in the interval, and all */
	struct moment began;
	uint64_t interval_ns;
	VEC(struct top_task) frame_tasks;
	struct top_frame frame;
};

static void top_samples_take_span(const struct task_span *span, void *arg)
{
	struct top_samples *t = arg;

	while (t->seen.n <= span->slot)
		vec_push(&t->seen);
	struct top_samples_seen *seen = &t->seen.data[span->slot];
	if (seen->task.id != span->task)
		*seen = (struct top_samples_seen){ 0 };
	seen->task = (struct top_task){
		.id = span->task,
		.type = span->type,
		.job = span->job,
		.doing = span->doing,
		.tid = span->tid,
		/*
		 * A task that is polled now, or that was polled while it was looked at, waits where
		 * it has waited last.
		 */
		.place = !span->place && (span->unplaced || span->doing != DOING_WAITING)
		                 ? seen->task.place
		                 : span->place,
	};
	seen->polling += span->doing == DOING_POLLING;
	seen->runnable += span->doing == DOING_RUNNABLE;
	seen->look = t->total;
}

struct top_samples *top_samples_new(uint64_t time)
{
	struct top_samples *t = alloc_zeroed(sizeof(*t));

	t->began = moment_at(time);
	t->tasks = task_samples_new(top_samples_take_span, NULL, t);
	return t;
}

void top_samples_free(struct top_samples *t)
{
	if (!t)
		return;
	task_samples_free(t->tasks);
	vec_free(&t->seen);
	vec_free(&t->workers);
	map_free(&t->index);
	vec_free(&t->frame_tasks);
	free(t);
}

uint64_t top_samples_looks(const struct top_samples *t)
{
	return t->looks;
}

/* ---- looks ---- */

static struct seen_worker *worker_of(struct top_samples *t, const struct thread_info *th)
{
	uint64_t key = map_key_of_pair((uint64_t)(th->runtime + 1), (uint64_t)th->worker);
	uintptr_t at = (uintptr_t)map_get(&t->index, key);

	if (at)
		return &t->workers.data[at - 1];
	if (t->workers.n == TRACE_MAX_THREADS)
		return NULL;
	struct seen_worker *w = vec_push(&t->workers);
	w->worker.runtime = th->runtime;
	w->worker.worker = th->worker;
	map_put(&t->index, key, (void *)(uintptr_t)t->workers.n);
	return w;
}

static void look_at_thread(struct top_samples *t, const struct thread_info *th)
{
	struct seen_worker *w = th->worker >= 0 ? worker_of(t, th) : NULL;

	if (!w || !th->state)
		return;
	bool parked = strcmp(th->state, "parked") == 0;
	w->parked += parked;
	w->busy += !parked;
	w->worker.queue_len = th->queue_len;
	w->worker.has_queue = th->has_queue;
	w->look = t->total;
}

void top_samples_look(struct top_samples *t, const struct snapshot *s)
{
	t->looks++;
	t->total++;
	/* Looks are counted, whatever time is between them. */
	task_samples_add(t->tasks, s, t->total - 1, t->total);
	for (size_t i = 0; i < s->nthreads; i++)
		look_at_thread(t, &s->threads[i]);
}

/* ---- the frame ---- */

static uint64_t top_samples_share(const struct top_samples *t, uint64_t looks)
{
	return t->looks ? (uint64_t)((double)t->interval_ns * (double)looks / (double)t->looks) : 0;
}

static void top_samples_take_tasks(struct top_samples *t, uint64_t time)
{
	t->frame_tasks.n = 0;
	for (size_t i = 0; i < t->seen.n; i++) {
		struct top_samples_seen *seen = &t->seen.data[i];

		if (seen->look != t->total)
			continue;
		struct top_task *task = vec_push(&t->frame_tasks);
		seen->stats.polled_ns = top_samples_share(t, seen->polling);
		seen->stats.runnable_ns = top_samples_share(t, seen->runnable);
		*task = seen->task;
		task->since = moment_at(time); /* unknown */
		task->group = task->place;
		task->stats = &seen->stats;
		t->frame.polled_ns += seen->stats.polled_ns;
		seen->polling = seen->runnable = 0;
	}
}

const struct top_frame *top_samples_cut(struct top_samples *t, uint64_t time)
{
	t->interval_ns = moment_between(t->began, moment_at(time));
	t->frame = (struct top_frame){ .began = t->began,
		                       .time = moment_at(time),
		                       .untracked = task_samples_untracked(t->tasks) };
	top_samples_take_tasks(t, time);
	t->frame.tasks = t->frame_tasks.data;
	t->frame.n = t->frame_tasks.n;
	for (size_t i = 0; i < t->workers.n; i++) {
		struct seen_worker *w = &t->workers.data[i];

		w->worker.busy_ns = top_samples_share(t, w->busy);
		w->worker.parked_ns = top_samples_share(t, w->parked);
		w->busy = w->parked = 0;
	}
	t->looks = 0;
	t->began = moment_at(time);
	return &t->frame;
}

void top_samples_workers(const struct top_samples *t, struct arena *a, struct top_worker **list,
                         size_t *n)
{
	*list = NEW_ARRAY(a, struct top_worker, t->workers.n);
	*n = 0;
	for (size_t i = 0; i < t->workers.n; i++) {
		if (t->workers.data[i].look == t->total)
			(*list)[(*n)++] = t->workers.data[i].worker;
	}
}
