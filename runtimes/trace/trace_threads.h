/* The worker and runtime of each thread of a trace, as far as they are known. */
#ifndef RUNTIMES_TRACE_TRACE_THREADS_H
#define RUNTIMES_TRACE_TRACE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "runtimes/trace/trace.h"

struct snapshot;
struct worker_identity;

/* Known threads. All zeros: none, and no look is taken. Free it with trace_threads_free(). */
struct trace_threads {
	struct map known;               /* tid -> struct known_thread, in the arena */
	struct map numbers;             /* address and serial of a runtime -> its number + 1 */
	unsigned nruntimes;             /* runtimes that have a number */
	trace_look_fn *look;            /* NULL: threads that appear later stay unknown */
	void *arg;                      /* of look */
	uint64_t first_look, last_look; /* ns, CLOCK_MONOTONIC; 0: there was none */
	uint64_t looks_ns;              /* duration of all looks */
	struct arena arena;
};

/*
 * Takes the threads of a snapshot over. A runtime keeps the number that the first snapshot with it
 * gave it, though others have ended since.
 */
void trace_threads_know(struct trace_threads *t, const struct snapshot *s);
/* A thread begins to run a worker: who it is; NULL: unknown. */
void trace_threads_begin(struct trace_threads *t, pid_t tid, const struct worker_identity *who);
/* The thread does not run a worker any more. */
void trace_threads_end(struct trace_threads *t, pid_t tid);
/*
 * Fills worker and runtime of an item that is passed on now. A thread that runs tasks, and is of no
 * runtime as far as is known, is looked up first.
 */
void trace_threads_fill(struct trace_threads *t, struct trace_item *item);
void trace_threads_free(struct trace_threads *t);

#endif
