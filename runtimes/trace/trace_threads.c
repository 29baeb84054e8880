#include "runtimes/trace/trace_threads.h"

#include <time.h>

#include "debugger/base/clock.h"
#include "debugger/base/log.h"
#include "runtimes/model/model.h"
#include "runtimes/trace/worker_job.h"

enum {
	FREE_LOOKS_NS = 1000000000, /* time that all looks may take together, beside */
	LOOKS_SHARE = 20,           /* this part of the time */
	FIRST_PAUSE_NS = 1000000,   /* after a look in vain at a thread; doubled each time, */
	LAST_PAUSE_NS = 1000000000, /* up to this */
	WORKER_TRIES = 50,          /* looks at a worker that begins, a millisecond apart */
};

struct known_thread {
	int worker, runtime;
	bool blocks_on;     /* the thread is in block_on, and runs the tasks of a runtime without
	                       workers */
	uint64_t next_look; /* the earliest time of the next look */
	uint64_t pause;     /* between looks in vain */
};

static struct known_thread *thread_known(struct trace_threads *t, pid_t tid)
{
	struct known_thread *th = map_get(&t->known, (uint64_t)tid);

	if (th || t->known.n >= TRACE_MAX_THREADS)
		return th;
	th = NEW(&t->arena, struct known_thread);
	*th = (struct known_thread){ .worker = -1, .runtime = -1, .pause = FIRST_PAUSE_NS };
	map_put(&t->known, (uint64_t)tid, th);
	return th;
}

/* The number of the runtime with that address and serial. */
static int trace_threads_number_at(struct trace_threads *t, uint64_t addr, uint64_t serial)
{
	uint64_t key = map_key_of_pair(addr, serial);
	uintptr_t number = (uintptr_t)map_get(&t->numbers, key);

	if (!number) {
		number = ++t->nruntimes;
		map_put(&t->numbers, key, (void *)number);
	}
	return (int)number - 1;
}

/* The number of a runtime of a snapshot; -1: it has none. */
static int trace_threads_number_of(struct trace_threads *t, const struct snapshot *s, int index)
{
	const struct runtime_info *r;

	if (index < 0 || (size_t)index >= s->nruntimes)
		return -1;
	r = &s->runtimes[index];
	return r->addr ? trace_threads_number_at(t, r->addr, r->serial) : -1;
}

static void know_thread(struct trace_threads *t, const struct snapshot *s,
                        const struct thread_info *info)
{
	struct known_thread *th = thread_known(t, info->tid);
	int runtime = trace_threads_number_of(t, s, info->runtime);

	/* A worker is one until it stops, which an item shows. */
	if (!th || (th->worker >= 0 && info->worker < 0))
		return;
	th->worker = info->worker;
	th->runtime = runtime;
	th->blocks_on = info->role == THREAD_BLOCK_ON;
}

void trace_threads_know(struct trace_threads *t, const struct snapshot *s)
{
	for (size_t i = 0; i < s->nruntimes; i++)
		trace_threads_number_of(t, s, (int)i);
	for (size_t i = 0; i < s->nthreads; i++)
		know_thread(t, s, &s->threads[i]);
}

/* ---- looks ---- */

/* Whether the program may be stopped for one more look. */
static bool may_look(const struct trace_threads *t, uint64_t now)
{
	return t->look &&
	       (!t->first_look ||
	        t->looks_ns < FREE_LOOKS_NS + clock_between(t->first_look, now) / LOOKS_SHARE);
}

/* False: the process could not be looked at, or not now. */
static bool trace_threads_look(struct trace_threads *t)
{
	uint64_t began = clock_now_ns();

	if (!may_look(t, began))
		return false;
	if (!t->first_look)
		t->first_look = began;
	struct snapshot *s = t->look(t->arg);
	if (s) {
		t->last_look = began;
		trace_threads_know(t, s);
		snapshot_free(s);
	}
	t->looks_ns += clock_since(began);
	LOG("trace", "a look at the threads: %s, %zu known", s ? "taken" : "failed", t->known.n);
	return s != NULL;
}

/*
 * Looks until a thread that has begun to run a worker is one: it enters its runtime soon after the
 * point at which it was seen. An item of it would have no worker otherwise.
 */
static void look_at_worker(struct trace_threads *t, const struct known_thread *th)
{
	static const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < WORKER_TRIES && trace_threads_look(t) && th->worker < 0; i++)
		nanosleep(&pause, NULL);
}

/* Whether an item shows that its thread runs tasks: as a worker, or in block_on. */
static bool shows_driver(const struct trace_item *item)
{
	bool polls = item->event == TRACE_POLL_START || item->event == TRACE_POLL_END;

	return item->event == TRACE_WORKER_START || item->event == TRACE_PARK ||
	       (polls && item->job == TRACE_TASK);
}

static bool trace_threads_is_known(const struct known_thread *th, const struct trace_item *item)
{
	return th->runtime >= 0 && (th->worker >= 0 || th->blocks_on || !shows_driver(item));
}

static void look_if_unknown(struct trace_threads *t, struct known_thread *th,
                            const struct trace_item *item)
{
	uint64_t now;

	if (!t->look || trace_threads_is_known(th, item))
		return;
	now = clock_now_ns();
	if (item->event == TRACE_WORKER_START)
		look_at_worker(t, th);
	/* A look that was taken after the item has shown all that there is. */
	else if (now >= th->next_look && item->time >= t->last_look)
		trace_threads_look(t);
	if (trace_threads_is_known(th, item))
		return;
	th->next_look = clock_now_ns() + th->pause;
	th->pause = th->pause * 2 < LAST_PAUSE_NS ? th->pause * 2 : LAST_PAUSE_NS;
}

void trace_threads_begin(struct trace_threads *t, pid_t tid, const struct worker_identity *who)
{
	struct known_thread *th = tid > 0 ? thread_known(t, tid) : NULL;

	if (!th)
		return;
	th->worker = who ? who->worker : -1;
	th->runtime = who ? trace_threads_number_at(t, who->runtime, who->serial) : th->runtime;
	th->blocks_on = false;
}

void trace_threads_end(struct trace_threads *t, pid_t tid)
{
	struct known_thread *th = tid > 0 ? map_get(&t->known, (uint64_t)tid) : NULL;

	if (th)
		th->worker = -1;
}

void trace_threads_fill(struct trace_threads *t, struct trace_item *item)
{
	struct known_thread *th = item->tid > 0 ? thread_known(t, item->tid) : NULL;

	item->worker = item->runtime = -1;
	if (!th)
		return;
	/* A thread that runs a job of a pool is no worker any more. */
	if (item->event == TRACE_POLL_START && item->job == TRACE_BLOCKING)
		th->worker = -1, th->blocks_on = false;
	look_if_unknown(t, th, item);
	item->worker = th->worker;
	item->runtime = th->runtime;
}

void trace_threads_free(struct trace_threads *t)
{
	map_free(&t->known);
	map_free(&t->numbers);
	arena_free(&t->arena);
}
