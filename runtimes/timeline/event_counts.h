/*
 * Counts of the events of a trace: by type of task, by worker and by runtime. Events and snapshots
 * go in, plain structs come out. Memory is bounded whatever the program does: tasks, types and
 * workers beyond a limit are counted in a row for all others.
 */
#ifndef RUNTIMES_TIMELINE_EVENT_COUNTS_H
#define RUNTIMES_TIMELINE_EVENT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/trace/trace.h"

struct event_counts;
struct snapshot;

enum {
	EVENT_COUNTS_BOUNDS = 22,       /* of each histogram */
	EVENT_COUNTS_TYPE = 512,        /* bytes of a type's name; longer ones are cut */
	EVENT_COUNTS_TYPES = 200,       /* rows of types, without those for all others */
	EVENT_COUNTS_RUNTIMES = 64,     /* rows */
	EVENT_COUNTS_WORKERS = 1 << 10, /* rows, without that for all others */
};

/* Upper bounds of the buckets, inclusive: 1, 2, 5, 10 us and so on, up to 10 s; ns. */
extern const uint64_t event_counts_bounds[EVENT_COUNTS_BOUNDS];

struct event_histogram {
	uint64_t n, sum_ns, max_ns;
	uint64_t buckets[EVENT_COUNTS_BOUNDS + 1]; /* the last one: beyond all bounds */
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
struct event_counts *event_counts_new(uint64_t slow_ns);
/* A tally of workers and runtimes alone, which follows no task and has no types. Never NULL. */
struct event_counts *event_counts_new_workers(void);
/* NULL is allowed. */
void event_counts_free(struct event_counts *t);
void event_counts_freep(struct event_counts **t);

/*
 * Supplies the tasks that exist: s is the snapshot that trace_seed_from_snapshot() was called with,
 * and time (ns, CLOCK_MONOTONIC) was taken thereafter. Call it once, before the first event.
 */
void event_counts_begin(struct event_counts *t, const struct snapshot *s, uint64_t time);
/*
 * Supplies runtimes, workers and the lengths of their queues from a newer snapshot, which was taken
 * at that time; NULL: there is none, and the contents of the last one are unknown now.
 */
void event_counts_look(struct event_counts *t, const struct snapshot *s, uint64_t time);
/* Whether a thread works that no snapshot has shown, so that its runtime is unknown. */
bool event_counts_wants_look(const struct event_counts *t);

void event_counts_add(struct event_counts *t, const struct trace_item *item);
/* Events were lost: state that depends on the last event of a task or thread is reset. */
void event_counts_lost(struct event_counts *t);
/* Counts the time of threads up to this one, before which all events were added. */
void event_counts_advance(struct event_counts *t, uint64_t time);
/* No event follows: threads whose runtime is still unknown join the row of all others. */
void event_counts_finish(struct event_counts *t);

/* The rows, borrowed until the next event. */
const struct tallied_type *event_counts_types(const struct event_counts *t, size_t *n);
const struct tallied_worker *event_counts_workers(const struct event_counts *t, size_t *n);
const struct tallied_runtime *event_counts_runtimes(const struct event_counts *t, size_t *n);
/*
 * The number of tasks that were not followed because there were too many: their delays are unknown.
 */
uint64_t event_counts_untracked(const struct event_counts *t);

#endif
