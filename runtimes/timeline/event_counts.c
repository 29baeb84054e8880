#include "runtimes/timeline/event_counts.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/model/model.h"
#include "runtimes/timeline/timeline.h"
#include "runtimes/trace/trace_key.h"

enum { OTHER_TASKS, OTHER_JOBS, NOTHERS }; /* rows of types that every tally has */
enum { OTHER_THREADS };                    /* row of workers that every tally has */
enum { LOOKS = 3 }; /* snapshots in which a thread's runtime may be missing: it may be starting */

struct event_counts {
	struct arena arena;
	uint64_t slow_ns;
	bool no_tasks;
	VEC(struct tallied_type) types;
	struct map type_rows; /* key of a name and its job -> row + 1 */
	VEC(struct tallied_worker) workers;
	struct map worker_rows; /* key of runtime and worker -> row + 1 */
	VEC(struct tallied_runtime) runtimes;
	struct timeline *timeline;
};

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)
const uint64_t event_counts_bounds[EVENT_COUNTS_BOUNDS] = {
	1 * US,   2 * US,   5 * US, 10 * US, 20 * US, 50 * US, 100 * US, 200 * US,
	500 * US, 1 * MS,   2 * MS, 5 * MS,  10 * MS, 20 * MS, 50 * MS,  100 * MS,
	200 * MS, 500 * MS, 1 * S,  2 * S,   5 * S,   10 * S,
};

static void event_counts_observe(struct event_histogram *h, uint64_t ns)
{
	size_t i = 0;

	while (i < EVENT_COUNTS_BOUNDS && ns > event_counts_bounds[i])
		i++;
	h->buckets[i]++;
	h->n++;
	h->sum_ns += ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

/* ---- types ---- */

static uint32_t other_type(enum trace_job job)
{
	return job == TRACE_BLOCKING ? OTHER_JOBS : OTHER_TASKS;
}

/* Cuts between two characters. */
static size_t event_counts_cut(const char *text)
{
	size_t len = strnlen(text, EVENT_COUNTS_TYPE + 1);

	if (len <= EVENT_COUNTS_TYPE)
		return len;
	len = EVENT_COUNTS_TYPE;
	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static uint32_t event_counts_type_row(struct event_counts *t, const char *type, enum trace_job job)
{
	SCRATCH(tmp);
	size_t len = type ? event_counts_cut(type) : 0;

	if (type && !str_is_plain(type, len)) {
		type = str_clean(&tmp, type, len);
		len = strlen(type);
	}
	uint64_t key = map_key_of_pair(map_key_of(type ? type : "", len), (uint64_t)job + 1);
	uintptr_t row = (uintptr_t)map_get(&t->type_rows, key);

	if (row)
		return (uint32_t)row - 1;
	if (t->types.n >= EVENT_COUNTS_TYPES + NOTHERS)
		return other_type(job);
	*vec_push(&t->types) = (struct tallied_type){
		.type = type ? arena_strndup(&t->arena, type, len) : NULL,
		.job = job,
	};
	map_put(&t->type_rows, key, (void *)(uintptr_t)t->types.n);
	return (uint32_t)t->types.n - 1;
}

/* ---- tasks ---- */

/*
 * The row of the event's task. A task whose type its spawn did not show moves to that of its poll.
 */
static struct tallied_type *
event_counts_row_of(struct event_counts *t, const struct trace_item *item, struct task_entry *entry)
{
	if (!entry)
		return &t->types.data[event_counts_type_row(t, item->type, item->job)];
	const struct tallied_type *known = &t->types.data[entry->row];
	if (item->type && !known->type && !known->others) {
		t->types.data[entry->row].alive--;
		entry->row = event_counts_type_row(t, item->type, item->job);
		t->types.data[entry->row].alive++;
	}
	return &t->types.data[entry->row];
}

static void event_counts_begin_task(struct event_counts *t, uint32_t row, struct task_entry *entry)
{
	t->types.data[row].alive++;
	if (entry)
		entry->row = row;
}

static void event_counts_spawn(struct event_counts *t, const struct trace_item *item,
                               const struct timeline_delay *d)
{
	if (d->kind != DELAY_BEGINS)
		return;
	uint32_t row = event_counts_type_row(t, item->type, item->job);
	event_counts_begin_task(t, row, d->task);
	t->types.data[row].spawned++;
}

static void event_counts_start_poll(struct tallied_type *row, const struct timeline_delay *d)
{
	row->polls++;
	if (d->kind == DELAY_FIRST)
		event_counts_observe(&row->first_delay, d->ns);
	else if (d->kind == DELAY_SCHEDULED)
		event_counts_observe(&row->scheduled, d->ns);
}

static void event_counts_end_poll(struct event_counts *t, struct tallied_type *row,
                                  const struct trace_item *item)
{
	if (item->late)
		return;
	event_counts_observe(&row->poll, item->poll_ns);
	row->slow += item->poll_ns > t->slow_ns;
}

static void event_counts_end_task(struct event_counts *t, struct tallied_type *row, bool followed)
{
	row->ended++;
	/* Tasks that ended before the first snapshot were not counted as alive. */
	if (row->alive && (followed || timeline_untracked(t->timeline)))
		row->alive--;
}

/* ---- threads ---- */

/* The row of a worker; -1, -1: that of all others. */
static int worker_row(struct event_counts *t, int runtime, int worker)
{
	uint64_t key = map_key_of_pair((uint64_t)(runtime + 2), (uint64_t)(worker + 2));
	uintptr_t row = (uintptr_t)map_get(&t->worker_rows, key);

	if (row)
		return (int)row - 1;
	if (runtime < 0 || t->workers.n > EVENT_COUNTS_WORKERS)
		return OTHER_THREADS;
	*vec_push(&t->workers) = (struct tallied_worker){ .runtime = runtime, .worker = worker };
	map_put(&t->worker_rows, key, (void *)(uintptr_t)t->workers.n);
	return (int)t->workers.n - 1;
}

/* Adds the numbers of a thread to its row, or to that of all others, if it has none. */
static void event_counts_settle(struct event_counts *t, struct timeline_load *l)
{
	struct tallied_worker *w = &t->workers.data[l->row < 0 ? OTHER_THREADS : l->row];

	w->polls += l->polls;
	w->parks += l->parks;
	w->busy_ns += l->busy_ns;
	w->parked_ns += l->parked_ns;
	l->polls = l->parks = l->busy_ns = l->parked_ns = 0;
}

/* The thread is no worker any more: another runtime may start one on it. */
static void event_counts_end_worker(struct event_counts *t, pid_t tid)
{
	struct timeline_load *l = timeline_load(t->timeline, tid);

	if (!l)
		return;
	event_counts_settle(t, l);
	l->row = -1;
	l->looks = LOOKS;
}

/* ---- snapshots ---- */

static const char *event_counts_copy(struct event_counts *t, const char *text)
{
	return text ? arena_strdup(&t->arena, text) : NULL;
}

/* The index of its row; -1: there are too many. */
static int runtime_row(struct event_counts *t, const struct runtime_info *r)
{
	for (size_t i = 0; i < t->runtimes.n; i++) {
		const struct tallied_runtime *row = &t->runtimes.data[i];

		if (row->addr == r->addr && strcmp(row->kind, r->kind) == 0)
			return (int)i;
	}
	if (t->runtimes.n == EVENT_COUNTS_RUNTIMES)
		return -1;
	*vec_push(&t->runtimes) = (struct tallied_runtime){
		.kind = event_counts_copy(t, r->kind),
		.flavor = event_counts_copy(t, r->flavor),
		.name = event_counts_copy(t, r->name),
		.addr = r->addr,
	};
	return (int)t->runtimes.n - 1;
}

static void look_at_runtime(struct event_counts *t, const struct runtime_info *r)
{
	int i = runtime_row(t, r);

	if (i < 0)
		return;
	struct tallied_runtime *row = &t->runtimes.data[i];
	row->exists = true;
	row->workers = r->workers;
	row->alive = r->expected_tasks;
	row->has_alive = r->has_expected;
	row->inject_len = r->inject_len;
	row->has_inject = r->has_inject;
	row->blocking_threads = r->blocking_threads;
	row->blocking_idle = r->blocking_idle;
	row->blocking_queued = r->blocking_queued;
	row->has_blocking = r->has_blocking;
}

/* The row of a thread that has polled tasks, or that would; -1: it is none. */
static int row_of_thread(struct event_counts *t, const struct snapshot *s,
                         const struct thread_info *info, bool drives)
{
	const struct timeline_load *l = timeline_load(t->timeline, info->tid);
	bool worked = l && (l->work != WORK_UNKNOWN || l->polls || l->parks);

	if (info->runtime < 0 || (size_t)info->runtime >= s->nruntimes || !(worked || drives))
		return -1;
	int runtime = runtime_row(t, &s->runtimes[info->runtime]);
	int worker = info->worker >= 0 ? info->worker : drives ? 0 : -1;
	return worker_row(t, runtime, worker);
}

static void look_at_thread(struct event_counts *t, const struct snapshot *s,
                           const struct thread_info *info, uint64_t time)
{
	bool drives = info->runtime >= 0 && (size_t)info->runtime < s->nruntimes &&
	              runtime_is_driven_by(&s->runtimes[info->runtime], info);
	int row = row_of_thread(t, s, info, drives);
	bool parked = info->state && strcmp(info->state, "parked") == 0;
	enum timeline_work work = !drives ? WORK_UNKNOWN : parked ? WORK_PARKED : WORK_BUSY;
	struct timeline_load *l = timeline_load(t->timeline, info->tid);

	if (l)
		l->looks++;
	if (row < 0)
		return;
	l = timeline_begin_load(t->timeline, info->tid, work, time);
	if (!l)
		return;
	l->row = row;
	t->workers.data[row].queue_len = info->queue_len;
	t->workers.data[row].has_queue = info->has_queue;
}

struct counts_look {
	struct event_counts *t;
	const struct snapshot *s;
};

/* Forgets the threads that have ended; their numbers stay in their rows. */
static bool event_counts_keep_thread(struct timeline_load *l, void *arg)
{
	const struct counts_look *look = arg;
	bool exists = !l->tid || snapshot_thread_by_tid(look->s, l->tid) != NULL;

	if (!exists || l->row >= 0)
		event_counts_settle(look->t, l);
	return exists;
}

void event_counts_look(struct event_counts *t, const struct snapshot *s, uint64_t time)
{
	for (size_t i = 0; i < t->runtimes.n; i++)
		t->runtimes.data[i].exists = false;
	for (size_t i = 0; i < t->workers.n; i++)
		t->workers.data[i].has_queue = false;
	if (!s)
		return;
	timeline_each_load(t->timeline, 0, event_counts_keep_thread, &(struct counts_look){ t, s });
	for (size_t i = 0; i < s->nruntimes; i++)
		look_at_runtime(t, &s->runtimes[i]);
	for (size_t i = 0; i < s->nthreads; i++)
		look_at_thread(t, s, &s->threads[i], time);
}

static void event_counts_begin_with(struct event_counts *t, uint64_t id, const char *type,
                                    enum trace_job job)
{
	struct task_entry *entry;

	/* The delay of a job is that from its spawn, which was not seen. */
	if (timeline_begin_delay(t->timeline, id, job == TRACE_TASK, &entry))
		event_counts_begin_task(t, event_counts_type_row(t, type, job), entry);
}

static void add_tasks(struct event_counts *t, const struct snapshot *s)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		const struct task *task = s->tasks[i];

		if (task->state != TASK_COMPLETE)
			event_counts_begin_with(t, trace_key(task), task->type, TRACE_TASK);
	}
	for (size_t i = 0; i < s->njobs; i++) {
		const struct job *job = &s->jobs[i];

		event_counts_begin_with(t, job->id ? strtoull(job->id, NULL, 10) : 0, job->type,
		                        TRACE_BLOCKING);
	}
}

void event_counts_begin(struct event_counts *t, const struct snapshot *s, uint64_t time)
{
	if (!t->no_tasks)
		add_tasks(t, s);
	event_counts_look(t, s, time);
}

static bool event_counts_note_unknown(struct timeline_load *l, void *arg)
{
	*(bool *)arg |= l->tid && l->row < 0 && l->looks < LOOKS;
	return true;
}

bool event_counts_wants_look(const struct event_counts *t)
{
	bool wanted = false;

	timeline_each_load(t->timeline, 0, event_counts_note_unknown, &wanted);
	return wanted;
}

/* ---- events ---- */

/* Counts an event, which the timeline has, for its task. */
static void count_task(struct event_counts *t, const struct trace_item *item)
{
	const struct timeline_delay *d = timeline_delay(t->timeline);

	switch (item->event) {
	case TRACE_SPAWN:
		event_counts_spawn(t, item, d);
		break;
	case TRACE_POLL_START:
		event_counts_start_poll(event_counts_row_of(t, item, d->task), d);
		break;
	case TRACE_POLL_END:
		event_counts_end_poll(t, event_counts_row_of(t, item, d->task), item);
		break;
	case TRACE_TERMINATE:
		event_counts_end_task(t, event_counts_row_of(t, item, d->task), d->task != NULL);
		break;
	default:
		break;
	}
}

void event_counts_add(struct event_counts *t, const struct trace_item *item)
{
	timeline_add(t->timeline, item);
	if (!t->no_tasks)
		count_task(t, item);
	if (item->event == TRACE_WORKER_STOP)
		event_counts_end_worker(t, item->tid);
}

void event_counts_lost(struct event_counts *t)
{
	/* The times of a worker are to be all of its time, so that its load goes on. */
	timeline_forget_delays(t->timeline);
}

static bool event_counts_add_known(struct timeline_load *l, void *arg)
{
	if (!l->tid || l->row >= 0)
		event_counts_settle(arg, l);
	return true;
}

void event_counts_advance(struct event_counts *t, uint64_t time)
{
	timeline_each_load(t->timeline, time, event_counts_add_known, t);
}

static bool event_counts_add_all(struct timeline_load *l, void *arg)
{
	event_counts_settle(arg, l);
	return true;
}

void event_counts_finish(struct event_counts *t)
{
	timeline_each_load(t->timeline, 0, event_counts_add_all, t);
}

/* ---- the whole ---- */

static struct event_counts *event_counts_new_of(unsigned parts, uint64_t slow_ns)
{
	struct event_counts *t = alloc_zeroed(sizeof(*t));

	t->slow_ns = slow_ns;
	t->no_tasks = !(parts & TIMELINE_DELAYS);
	t->timeline = timeline_new(parts, NULL, NULL);
	*vec_push(&t->types) = (struct tallied_type){ .others = true, .job = TRACE_TASK };
	*vec_push(&t->types) = (struct tallied_type){ .others = true, .job = TRACE_BLOCKING };
	*vec_push(&t->workers) = (struct tallied_worker){ .runtime = -1, .worker = -1 };
	return t;
}

struct event_counts *event_counts_new(uint64_t slow_ns)
{
	return event_counts_new_of(TIMELINE_LOADS | TIMELINE_DELAYS, slow_ns);
}

struct event_counts *event_counts_new_workers(void)
{
	return event_counts_new_of(TIMELINE_LOADS, 0);
}

void event_counts_free(struct event_counts *t)
{
	if (!t)
		return;
	vec_free(&t->types);
	vec_free(&t->workers);
	vec_free(&t->runtimes);
	timeline_free(t->timeline);
	map_free(&t->type_rows);
	map_free(&t->worker_rows);
	arena_free(&t->arena);
	free(t);
}

void event_counts_freep(struct event_counts **t)
{
	event_counts_free(*t);
}

const struct tallied_type *event_counts_types(const struct event_counts *t, size_t *n)
{
	*n = t->types.n;
	return t->types.data;
}

const struct tallied_worker *event_counts_workers(const struct event_counts *t, size_t *n)
{
	*n = t->workers.n;
	return t->workers.data;
}

const struct tallied_runtime *event_counts_runtimes(const struct event_counts *t, size_t *n)
{
	*n = t->runtimes.n;
	return t->runtimes.data;
}

uint64_t event_counts_untracked(const struct event_counts *t)
{
	return timeline_untracked(t->timeline);
}
