#include "runtimes/trace/event_tally.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/base/clock.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/model/model.h"
#include "runtimes/trace/task_table.h"
#include "runtimes/trace/trace_key.h"

enum { OTHER_TASKS, OTHER_JOBS, NOTHERS }; /* rows of types that every tally has */
enum { OTHER_THREADS };                    /* row of workers, likewise */
enum { LOOKS = 3 }; /* at a thread whose runtime they do not tell: it may just begin */

enum thread_is { THREAD_UNKNOWN, THREAD_BUSY, THREAD_PARKED };

/* What a thread has done since its numbers were last added to a row. */
struct tallied_thread {
	pid_t tid;
	int row; /* of workers; -1: unknown */
	enum thread_is is;
	uint64_t since;
	uint64_t polls, parks, busy_ns, parked_ns;
	unsigned looks; /* snapshots that did not tell its runtime */
};

struct event_tally {
	struct arena arena;
	uint64_t slow_ns, untracked;
	bool no_tasks;
	VEC(struct tallied_type) types;
	struct map type_rows; /* key of a name and its job -> row + 1 */
	VEC(struct tallied_worker) workers;
	struct map worker_rows; /* key of runtime and worker -> row + 1 */
	VEC(struct tallied_runtime) runtimes;
	VEC(struct tallied_thread) threads;
	struct map thread_rows; /* tid -> row + 1 */
	struct task_table tasks;
};

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)
const uint64_t event_tally_bounds[EVENT_TALLY_BOUNDS] = {
	1 * US,   2 * US,   5 * US, 10 * US, 20 * US, 50 * US, 100 * US, 200 * US,
	500 * US, 1 * MS,   2 * MS, 5 * MS,  10 * MS, 20 * MS, 50 * MS,  100 * MS,
	200 * MS, 500 * MS, 1 * S,  2 * S,   5 * S,   10 * S,
};

static void observe(struct event_histogram *h, uint64_t ns)
{
	size_t i = 0;

	while (i < EVENT_TALLY_BOUNDS && ns > event_tally_bounds[i])
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
static size_t cut(const char *text)
{
	size_t len = strnlen(text, EVENT_TALLY_TYPE + 1);

	if (len <= EVENT_TALLY_TYPE)
		return len;
	len = EVENT_TALLY_TYPE;
	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static uint32_t type_row(struct event_tally *t, const char *type, enum trace_job job)
{
	SCRATCH(tmp);
	size_t len = type ? cut(type) : 0;

	if (type && !str_is_plain(type, len)) {
		type = str_clean(&tmp, type, len);
		len = strlen(type);
	}
	uint64_t key = map_key_of_pair(map_key_of(type ? type : "", len), (uint64_t)job + 1);
	uintptr_t row = (uintptr_t)map_get(&t->type_rows, key);

	if (row)
		return (uint32_t)row - 1;
	if (t->types.n >= EVENT_TALLY_TYPES + NOTHERS)
		return other_type(job);
	*vec_push(&t->types) = (struct tallied_type){
		.type = type ? arena_strndup(&t->arena, type, len) : NULL,
		.job = job,
	};
	map_put(&t->type_rows, key, (void *)(uintptr_t)t->types.n);
	return (uint32_t)t->types.n - 1;
}

/* ---- tasks ---- */

static struct task_entry *add_task(struct event_tally *t, uint64_t id, uint32_t row)
{
	t->types.data[row].alive++;
	if (!id || t->tasks.n >= EVENT_TALLY_TASKS) {
		t->untracked++;
		return NULL;
	}
	struct task_entry *entry = task_table_add(&t->tasks, id);
	entry->row = row;
	return entry;
}

static struct task_entry *find_task(const struct event_tally *t, const struct trace_item *item)
{
	return item->task ? task_table_find(&t->tasks, item->task) : NULL;
}

/* The row of the event's task. One whose type its spawn did not tell moves to that of its poll. */
static struct tallied_type *row_of(struct event_tally *t, const struct trace_item *item,
                                   struct task_entry *entry)
{
	if (!entry)
		return &t->types.data[type_row(t, item->type, item->job)];
	const struct tallied_type *known = &t->types.data[entry->row];
	if (item->type && !known->type && !known->others) {
		t->types.data[entry->row].alive--;
		entry->row = type_row(t, item->type, item->job);
		t->types.data[entry->row].alive++;
	}
	return &t->types.data[entry->row];
}

static void spawn(struct event_tally *t, const struct trace_item *item)
{
	if (find_task(t, item))
		return;
	uint32_t row = type_row(t, item->type, item->job);
	struct task_entry *entry = add_task(t, item->task, row);

	t->types.data[row].spawned++;
	if (entry && !item->late)
		entry->runnable = item->time;
}

static void start_poll(struct event_tally *t, const struct trace_item *item)
{
	struct task_entry *entry = find_task(t, item);
	struct tallied_type *row = row_of(t, item, entry);

	row->polls++;
	if (!entry)
		return;
	if (entry->runnable && item->time >= entry->runnable)
		observe(entry->polled ? &row->scheduled : &row->first_delay,
		        clock_between(entry->runnable, item->time));
	entry->runnable = 0;
	entry->polled = true;
}

static void end_poll(struct event_tally *t, const struct trace_item *item)
{
	struct tallied_type *row = row_of(t, item, find_task(t, item));

	if (item->late)
		return;
	observe(&row->poll, item->poll_ns);
	row->slow += item->poll_ns > t->slow_ns;
}

static void wake(struct event_tally *t, const struct trace_item *item)
{
	struct task_entry *entry = find_task(t, item);

	/* Before its first poll, what counts is its spawn. */
	if (entry && entry->polled)
		entry->runnable = item->time;
}

static void end_task(struct event_tally *t, const struct trace_item *item)
{
	struct task_entry *entry = find_task(t, item);
	struct tallied_type *row = row_of(t, item, entry);

	row->ended++;
	/* One that ended before the first snapshot does not count as alive. */
	if (row->alive && (entry || t->untracked))
		row->alive--;
	if (entry)
		task_table_remove(&t->tasks, entry);
}

/* ---- threads ---- */

/* The row of a worker; -1, -1: that of all others. */
static int worker_row(struct event_tally *t, int runtime, int worker)
{
	uint64_t key = map_key_of_pair((uint64_t)(runtime + 2), (uint64_t)(worker + 2));
	uintptr_t row = (uintptr_t)map_get(&t->worker_rows, key);

	if (row)
		return (int)row - 1;
	if (runtime < 0 || t->workers.n > EVENT_TALLY_WORKERS)
		return OTHER_THREADS;
	*vec_push(&t->workers) = (struct tallied_worker){ .runtime = runtime, .worker = worker };
	map_put(&t->worker_rows, key, (void *)(uintptr_t)t->workers.n);
	return (int)t->workers.n - 1;
}

static struct tallied_thread *thread_of(const struct event_tally *t, pid_t tid)
{
	uintptr_t row = (uintptr_t)map_get(&t->thread_rows, (uint64_t)tid);

	return row ? &t->threads.data[row - 1] : NULL;
}

static struct tallied_thread *thread_new(struct event_tally *t, pid_t tid)
{
	struct tallied_thread *th = vec_push(&t->threads);

	th->tid = tid;
	th->row = -1;
	map_put(&t->thread_rows, (uint64_t)tid, (void *)(uintptr_t)t->threads.n);
	return th;
}

/* The thread of an event; NULL: there are too many of them. */
static struct tallied_thread *working_thread(struct event_tally *t, pid_t tid)
{
	struct tallied_thread *th = thread_of(t, tid);

	if (th || tid <= 0)
		return th;
	return t->threads.n < EVENT_TALLY_THREADS ? thread_new(t, tid) : NULL;
}

/* Counts the time up to an event, or to now, and goes on in that state. */
static void pass_time(struct tallied_thread *th, uint64_t time, enum thread_is then)
{
	uint64_t ns = clock_between(th->since, time);

	if (th->is == THREAD_BUSY)
		th->busy_ns += ns;
	if (th->is == THREAD_PARKED)
		th->parked_ns += ns;
	th->is = then;
	th->since += ns;
}

/* Adds what a thread has done to a row; -1: to that of all others. */
static void settle(struct event_tally *t, struct tallied_thread *th, int row)
{
	struct tallied_worker *w = &t->workers.data[row < 0 ? OTHER_THREADS : row];

	w->polls += th->polls;
	w->parks += th->parks;
	w->busy_ns += th->busy_ns;
	w->parked_ns += th->parked_ns;
	th->polls = th->parks = th->busy_ns = th->parked_ns = 0;
}

static void work(struct event_tally *t, const struct trace_item *item)
{
	struct tallied_thread *th = working_thread(t, item->tid);

	if (!th) {
		t->workers.data[OTHER_THREADS].polls += item->event == TRACE_POLL_START;
		t->workers.data[OTHER_THREADS].parks += item->event == TRACE_PARK;
		return;
	}
	switch (item->event) {
	case TRACE_POLL_START:
		th->polls++;
		/* It was parked already when it was seen first. */
		if (th->is == THREAD_PARKED)
			pass_time(th, item->time, THREAD_BUSY);
		break;
	case TRACE_PARK:
		th->parks++;
		pass_time(th, item->time, THREAD_PARKED);
		break;
	case TRACE_WORKER_STOP:
		pass_time(th, item->time, THREAD_UNKNOWN);
		settle(t, th, th->row);
		th->row = -1;
		th->looks = LOOKS;
		break;
	case TRACE_WORKER_START:
		th->looks = 0;
		/* fall through */
	default:
		pass_time(th, item->time, THREAD_BUSY);
		break;
	}
}

/* ---- snapshots ---- */

static const char *copy(struct event_tally *t, const char *text)
{
	return text ? arena_strdup(&t->arena, text) : NULL;
}

/* The index of its row; -1: there are too many. */
static int runtime_row(struct event_tally *t, const struct runtime_info *r)
{
	for (size_t i = 0; i < t->runtimes.n; i++) {
		const struct tallied_runtime *row = &t->runtimes.data[i];

		if (row->addr == r->addr && strcmp(row->kind, r->kind) == 0)
			return (int)i;
	}
	if (t->runtimes.n == EVENT_TALLY_RUNTIMES)
		return -1;
	*vec_push(&t->runtimes) = (struct tallied_runtime){
		.kind = copy(t, r->kind),
		.flavor = copy(t, r->flavor),
		.name = copy(t, r->name),
		.addr = r->addr,
	};
	return (int)t->runtimes.n - 1;
}

static void look_at_runtime(struct event_tally *t, const struct runtime_info *r)
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
static int row_of_thread(struct event_tally *t, const struct snapshot *s,
                         const struct thread_info *info, bool drives)
{
	const struct tallied_thread *th = thread_of(t, info->tid);
	bool worked = th && (th->is != THREAD_UNKNOWN || th->polls || th->parks);

	if (info->runtime < 0 || (size_t)info->runtime >= s->nruntimes || !(worked || drives))
		return -1;
	int runtime = runtime_row(t, &s->runtimes[info->runtime]);
	int worker = info->worker >= 0 ? info->worker : drives ? 0 : -1;
	return worker_row(t, runtime, worker);
}

static void look_at_thread(struct event_tally *t, const struct snapshot *s,
                           const struct thread_info *info, uint64_t time)
{
	bool drives = info->runtime >= 0 && (size_t)info->runtime < s->nruntimes &&
	              runtime_is_driven_by(&s->runtimes[info->runtime], info);
	int row = row_of_thread(t, s, info, drives);
	struct tallied_thread *th = thread_of(t, info->tid);

	if (th)
		th->looks++;
	if (row < 0)
		return;
	if (!th)
		th = working_thread(t, info->tid);
	if (!th)
		return;
	th->row = row;
	if (drives && th->is == THREAD_UNKNOWN) {
		th->is = info->state && strcmp(info->state, "parked") == 0 ? THREAD_PARKED
		                                                           : THREAD_BUSY;
		th->since = time;
	}
	t->workers.data[row].queue_len = info->queue_len;
	t->workers.data[row].has_queue = info->has_queue;
}

/* Forgets the threads that have ended, with what they have done in its row. */
static void keep_threads(struct event_tally *t, const struct snapshot *s)
{
	size_t kept = 0;

	map_clear(&t->thread_rows);
	for (size_t i = 0; i < t->threads.n; i++) {
		struct tallied_thread *th = &t->threads.data[i];
		bool exists = snapshot_thread_by_tid(s, th->tid) != NULL;

		if (!exists || th->row >= 0)
			settle(t, th, th->row);
		if (!exists)
			continue;
		t->threads.data[kept++] = *th;
		map_put(&t->thread_rows, (uint64_t)th->tid, (void *)(uintptr_t)kept);
	}
	t->threads.n = kept;
}

void event_tally_look(struct event_tally *t, const struct snapshot *s, uint64_t time)
{
	for (size_t i = 0; i < t->runtimes.n; i++)
		t->runtimes.data[i].exists = false;
	for (size_t i = 0; i < t->workers.n; i++)
		t->workers.data[i].has_queue = false;
	if (!s)
		return;
	keep_threads(t, s);
	for (size_t i = 0; i < s->nruntimes; i++)
		look_at_runtime(t, &s->runtimes[i]);
	for (size_t i = 0; i < s->nthreads; i++)
		look_at_thread(t, s, &s->threads[i], time);
}

static void add_tasks(struct event_tally *t, const struct snapshot *s)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		const struct task *task = s->tasks[i];

		if (task->state == TASK_COMPLETE ||
		    (trace_key(task) && task_table_find(&t->tasks, trace_key(task))))
			continue;
		struct task_entry *entry =
			add_task(t, trace_key(task), type_row(t, task->type, TRACE_TASK));
		if (entry)
			entry->polled = true;
	}
	for (size_t i = 0; i < s->njobs; i++) {
		uint64_t id = s->jobs[i].id ? strtoull(s->jobs[i].id, NULL, 10) : 0;

		if (!id || !task_table_find(&t->tasks, id))
			add_task(t, id, type_row(t, s->jobs[i].type, TRACE_BLOCKING));
	}
}

void event_tally_begin(struct event_tally *t, const struct snapshot *s, uint64_t time)
{
	if (!t->no_tasks)
		add_tasks(t, s);
	event_tally_look(t, s, time);
}

bool event_tally_wants_look(const struct event_tally *t)
{
	for (size_t i = 0; i < t->threads.n; i++) {
		if (t->threads.data[i].row < 0 && t->threads.data[i].looks < LOOKS)
			return true;
	}
	return false;
}

/* ---- events ---- */

/* What it tells of its task. */
static void count_task(struct event_tally *t, const struct trace_item *item)
{
	switch (item->event) {
	case TRACE_SPAWN:
		spawn(t, item);
		break;
	case TRACE_POLL_START:
		start_poll(t, item);
		break;
	case TRACE_POLL_END:
		end_poll(t, item);
		break;
	case TRACE_TERMINATE:
		end_task(t, item);
		break;
	case TRACE_WAKE:
		wake(t, item);
		break;
	default:
		break;
	}
}

void event_tally_add(struct event_tally *t, const struct trace_item *item)
{
	if (!t->no_tasks)
		count_task(t, item);
	switch (item->event) {
	case TRACE_POLL_START:
		if (item->job == TRACE_TASK || item->job == TRACE_UNKNOWN_JOB)
			work(t, item);
		break;
	case TRACE_SPAWN:
	case TRACE_POLL_END:
	case TRACE_TERMINATE:
	case TRACE_WAKE:
		break;
	default:
		work(t, item);
		break;
	}
}

void event_tally_lost(struct event_tally *t)
{
	for (size_t i = 0; i < t->tasks.capacity; i++)
		t->tasks.slots[i].runnable = 0;
}

void event_tally_advance(struct event_tally *t, uint64_t time)
{
	for (size_t i = 0; i < t->threads.n; i++) {
		struct tallied_thread *th = &t->threads.data[i];

		pass_time(th, time, th->is);
		if (th->row >= 0)
			settle(t, th, th->row);
	}
}

void event_tally_finish(struct event_tally *t)
{
	for (size_t i = 0; i < t->threads.n; i++)
		settle(t, &t->threads.data[i], t->threads.data[i].row);
}

/* ---- the whole ---- */

struct event_tally *event_tally_new(uint64_t slow_ns)
{
	struct event_tally *t = alloc_zeroed(sizeof(*t));

	t->slow_ns = slow_ns;
	*vec_push(&t->types) = (struct tallied_type){ .others = true, .job = TRACE_TASK };
	*vec_push(&t->types) = (struct tallied_type){ .others = true, .job = TRACE_BLOCKING };
	*vec_push(&t->workers) = (struct tallied_worker){ .runtime = -1, .worker = -1 };
	return t;
}

struct event_tally *event_tally_new_workers(void)
{
	struct event_tally *t = event_tally_new(0);

	t->no_tasks = true;
	return t;
}

void event_tally_free(struct event_tally *t)
{
	if (!t)
		return;
	vec_free(&t->types);
	vec_free(&t->workers);
	vec_free(&t->runtimes);
	vec_free(&t->threads);
	map_free(&t->type_rows);
	map_free(&t->worker_rows);
	map_free(&t->thread_rows);
	task_table_free(&t->tasks);
	arena_free(&t->arena);
	free(t);
}

void event_tally_freep(struct event_tally **t)
{
	event_tally_free(*t);
}

const struct tallied_type *event_tally_types(const struct event_tally *t, size_t *n)
{
	*n = t->types.n;
	return t->types.data;
}

const struct tallied_worker *event_tally_workers(const struct event_tally *t, size_t *n)
{
	*n = t->workers.n;
	return t->workers.data;
}

const struct tallied_runtime *event_tally_runtimes(const struct event_tally *t, size_t *n)
{
	*n = t->runtimes.n;
	return t->runtimes.data;
}

uint64_t event_tally_untracked(const struct event_tally *t)
{
	return t->untracked;
}
