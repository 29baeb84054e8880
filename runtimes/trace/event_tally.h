/*
 * Counts of the events of a trace: by type of task, by worker and by runtime. Events and snapshots
 * go in, plain structs come out. Memory is bounded whatever the program does: what exceeds a limit
 * is counted in a row for all others.
 */
#ifndef RUNTIMES_TRACE_EVENT_TALLY_H
#define RUNTIMES_TRACE_EVENT_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/trace/trace.h"

struct event_tally;
struct snapshot;

enum {
	EVENT_TALLY_BOUNDS = 22,       /* of each histogram */
	EVENT_TALLY_TYPE = 512,        /* bytes of a type's name; what is longer is cut */
	EVENT_TALLY_TYPES = 200,       /* rows of types, without those for all others */
	EVENT_TALLY_TASKS = 1 << 20,   /* tasks that are followed at a time */
	EVENT_TALLY_RUNTIMES = 64,     /* rows */
	EVENT_TALLY_WORKERS = 1 << 10, /* rows, without that for all others */
	EVENT_TALLY_THREADS = 1 << 13, /* that are followed at a time */
};

/* Upper bounds of the buckets, inclusive: 1, 2, 5, 10 us and so on, up to 10 s; ns. */
extern const uint64_t event_tally_bounds[EVENT_TALLY_BOUNDS];

struct event_histogram {
	uint64_t n, sum_ns, max_ns;
	uint64_t buckets[EVENT_TALLY_BOUNDS + 1]; /* the last one: beyond all bounds */
};

/* Tasks of one type, since the tally was made. */
struct tallied_type {
	const char *type; /* sanitised, its start where it is very long; NULL: unknown */
	bool others;      /* the row of all types that have none of their own */
	enum trace_job job;
	uint64_t alive;                     /* now; those of the first snapshot too */
	uint64_t spawned, ended;            /* jobs that run workers are left out */
	uint64_t polls;                     /* starts of polls */
	uint64_t slow;                      /* polls over the limit, when they have ended */
	struct event_histogram poll;        /* lengths of polls whose end was seen itself */
	struct event_histogram first_delay; /* from the spawn to the first poll */
	struct event_histogram scheduled;   /* from a wake-up to the next poll */
};

/* A worker, or another thread that polls tasks. */
struct tallied_worker {
	int runtime;    /* index of its row; -1: unknown */
	int worker;     /* index in its runtime; -1: it is no worker, or unknown */
	uint64_t polls; /* of tasks */
	uint64_t parks;
	uint64_t busy_ns, parked_ns; /* all its time since it was known, parked or not */
	uint64_t queue_len;          /* of its local queue, when has_queue */
	bool has_queue;              /* the last snapshot has it */
};

struct tallied_runtime {
	const char *kind, *flavor, *name; /* as in struct runtime_info */
	uint64_t addr;                    /* of its handle */
	bool exists;                      /* the last snapshot has it; else no number is known */
	unsigned workers;
	uint64_t alive; /* by its own count */
	bool has_alive;
	uint64_t inject_len; /* of its injection queue */
	bool has_inject;
	uint64_t blocking_threads, blocking_idle, blocking_queued;
	bool has_blocking;
};

/* A poll longer than slow_ns is slow. Never NULL. */
struct event_tally *event_tally_new(uint64_t slow_ns);
/* Of workers and runtimes alone, so that no task is followed: it has no types. Never NULL. */
struct event_tally *event_tally_new_workers(void);
/* NULL is allowed. */
void event_tally_free(struct event_tally *t);
void event_tally_freep(struct event_tally **t);

/*
 * Tells the tasks that exist: s is the snapshot that trace_know() was called with, and time (ns,
 * CLOCK_MONOTONIC) was taken thereafter. Call it once, before the first event.
 */
void event_tally_begin(struct event_tally *t, const struct snapshot *s, uint64_t time);
/*
 * Tells runtimes, workers and the lengths of their queues from a newer snapshot, which was taken at
 * that time; NULL: there is none, and what the last one had is unknown now.
 */
void event_tally_look(struct event_tally *t, const struct snapshot *s, uint64_t time);
/* Whether a thread works that no snapshot has shown, so that its runtime is unknown. */
bool event_tally_wants_look(const struct event_tally *t);

void event_tally_add(struct event_tally *t, const struct trace_item *item);
/* Events were lost: what depends on the last event of a task or thread begins anew. */
void event_tally_lost(struct event_tally *t);
/* Counts the time of threads up to this one, before which all events were added. */
void event_tally_advance(struct event_tally *t, uint64_t time);
/* No event follows: threads whose runtime is still unknown join the row of all others. */
void event_tally_finish(struct event_tally *t);

/* The rows, borrowed until the next event. */
const struct tallied_type *event_tally_types(const struct event_tally *t, size_t *n);
const struct tallied_worker *event_tally_workers(const struct event_tally *t, size_t *n);
const struct tallied_runtime *event_tally_runtimes(const struct event_tally *t, size_t *n);
/* How many tasks were not followed because there were too many: their delays are unknown. */
uint64_t event_tally_untracked(const struct event_tally *t);

#endif
