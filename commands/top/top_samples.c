#include "commands/top/top_samples.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "runtimes/model/model.h"
#include "runtimes/trace/snapshot_place.h"
#include "runtimes/trace/task_table.h"

enum {
	MAX_TASKS = 1 << 20,
	MAX_WORKERS = 1 << 10,
};

/* A task, and in how many looks of the interval it was seen so. */
struct seen {
	struct top_task task; /* id 0: unused */
	uint64_t polling, runnable;
	uint64_t look; /* the last one that has shown it */
	struct top_stats stats;
};

struct seen_worker {
	struct top_worker worker;
	uint64_t busy, parked;
	uint64_t look;
};

struct top_samples {
	struct snapshot_places places;
	struct task_table index; /* row: of seen */
	VEC(struct seen) seen;
	VEC(uint32_t) unused; /* of seen */
	VEC(struct seen_worker) workers;
	uint64_t looks, total; /* in the interval, and all */
	uint64_t began, interval_ns;
	uint64_t untracked;
	VEC(struct top_task) frame_tasks;
	struct top_frame frame;
};

struct top_samples *top_samples_new(uint64_t time)
{
	struct top_samples *t = alloc_zeroed(sizeof(*t));

	t->began = time;
	return t;
}

void top_samples_free(struct top_samples *t)
{
	if (!t)
		return;
	snapshot_place_free(&t->places);
	task_table_free(&t->index);
	vec_free(&t->seen);
	vec_free(&t->unused);
	vec_free(&t->workers);
	vec_free(&t->frame_tasks);
	free(t);
}

uint64_t top_samples_looks(const struct top_samples *t)
{
	return t->looks;
}

/* ---- looks ---- */

/* NULL: there are too many. */
static struct seen *seen_of(struct top_samples *t, uint64_t id)
{
	struct task_entry *entry = task_table_find(&t->index, id);

	if (entry)
		return &t->seen.data[entry->row];
	if (t->index.n >= MAX_TASKS)
		return NULL;
	uint32_t row = t->unused.n ? t->unused.data[--t->unused.n] : (uint32_t)t->seen.n;
	if (row == t->seen.n)
		vec_push(&t->seen);
	t->seen.data[row] = (struct seen){ .task = { .id = id } };
	task_table_add(&t->index, id)->row = row;
	return &t->seen.data[row];
}

static void note(struct top_samples *t, uint64_t id, const char *type, enum trace_job job,
                 enum task_doing doing, pid_t tid, const struct trace_place *place)
{
	struct seen *seen = id ? seen_of(t, id) : NULL;

	if (!seen) {
		t->untracked++;
		return;
	}
	seen->task = (struct top_task){
		.id = id,
		.type = type,
		.job = job,
		.doing = doing,
		.tid = tid,
		/* One that is polled now waits where it has waited last. */
		.place = place || doing == DOING_WAITING ? place : seen->task.place,
	};
	seen->polling += doing == DOING_POLLING;
	seen->runnable += doing == DOING_RUNNABLE;
	seen->look = t->total;
}

static void look_at_task(struct top_samples *t, const struct snapshot *s, const struct task *task)
{
	static const enum task_doing doing[] = {
		[TASK_IDLE] = DOING_WAITING,
		[TASK_SCHEDULED] = DOING_RUNNABLE,
		[TASK_RUNNING] = DOING_POLLING,
	};
	bool waits = task->state != TASK_RUNNING && task->root && !task->changed;
	const struct thread_info *th;

	if (task->state > TASK_RUNNING)
		return;
	th = task->state == TASK_RUNNING ? snapshot_thread(s, task->thread) : NULL;
	note(t, task->number, task->type, TRACE_TASK, doing[task->state], th ? th->tid : 0,
	     waits ? snapshot_place(&t->places, task) : NULL);
}

static void look_at_job(struct top_samples *t, const struct snapshot *s, const struct job *job)
{
	const struct thread_info *th = job->thread ? snapshot_thread(s, job->thread) : NULL;

	note(t, job->id ? strtoull(job->id, NULL, 10) : 0, job->type, TRACE_BLOCKING,
	     job->thread ? DOING_POLLING : DOING_RUNNABLE, th ? th->tid : 0, NULL);
}

static struct seen_worker *worker_of(struct top_samples *t, const struct thread_info *th)
{
	for (size_t i = 0; i < t->workers.n; i++) {
		struct seen_worker *w = &t->workers.data[i];

		if (w->worker.runtime == th->runtime && w->worker.worker == th->worker)
			return w;
	}
	if (t->workers.n == MAX_WORKERS)
		return NULL;
	struct seen_worker *w = vec_push(&t->workers);
	w->worker.runtime = th->runtime;
	w->worker.worker = th->worker;
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

/* Forgets the tasks that the look has not shown. */
static void forget(struct top_samples *t)
{
	for (size_t i = 0; i < t->seen.n; i++) {
		struct seen *seen = &t->seen.data[i];

		if (!seen->task.id || seen->look == t->total)
			continue;
		task_table_remove(&t->index, task_table_find(&t->index, seen->task.id));
		*seen = (struct seen){ 0 };
		*vec_push(&t->unused) = (uint32_t)i;
	}
}

void top_samples_look(struct top_samples *t, const struct snapshot *s)
{
	t->looks++;
	t->total++;
	t->untracked = 0;
	for (size_t i = 0; i < s->ntasks; i++)
		look_at_task(t, s, s->tasks[i]);
	for (size_t i = 0; i < s->njobs; i++)
		look_at_job(t, s, &s->jobs[i]);
	for (size_t i = 0; i < s->nthreads; i++)
		look_at_thread(t, &s->threads[i]);
	forget(t);
}

/* ---- the frame ---- */

static uint64_t share(const struct top_samples *t, uint64_t looks)
{
	return t->looks ? (uint64_t)((double)t->interval_ns * (double)looks / (double)t->looks) : 0;
}

static void take_tasks(struct top_samples *t, uint64_t time)
{
	t->frame_tasks.n = 0;
	for (size_t i = 0; i < t->seen.n; i++) {
		struct seen *seen = &t->seen.data[i];

		if (!seen->task.id)
			continue;
		struct top_task *task = vec_push(&t->frame_tasks);
		seen->stats.polled_ns = share(t, seen->polling);
		seen->stats.runnable_ns = share(t, seen->runnable);
		*task = seen->task;
		task->since = time; /* unknown */
		task->stats = &seen->stats;
		t->frame.polled_ns += seen->stats.polled_ns;
		seen->polling = seen->runnable = 0;
	}
}

const struct top_frame *top_samples_cut(struct top_samples *t, uint64_t time)
{
	t->interval_ns = time - t->began;
	t->frame = (struct top_frame){ .began = t->began, .time = time, .untracked = t->untracked };
	take_tasks(t, time);
	t->frame.tasks = t->frame_tasks.data;
	t->frame.n = t->frame_tasks.n;
	for (size_t i = 0; i < t->workers.n; i++) {
		struct seen_worker *w = &t->workers.data[i];

		w->worker.busy_ns = share(t, w->busy);
		w->worker.parked_ns = share(t, w->parked);
		w->busy = w->parked = 0;
	}
	t->looks = 0;
	t->began = time;
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
