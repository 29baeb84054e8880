/*
 * What share of their time the workers of a trace are busy: all of it but that when they are
 * parked. Items go in, shares come out.
 */
#ifndef RUNTIMES_TRACE_WORKER_LOAD_H
#define RUNTIMES_TRACE_WORKER_LOAD_H

#include <stdint.h>

#include "runtimes/trace/trace.h"

/* Never NULL. */
struct worker_load *worker_load_new(void);
/* NULL is allowed. */
void worker_load_free(struct worker_load *l);
void worker_load_freep(struct worker_load **l);

/* Threads that are no workers are ignored, as the trace knows them. */
void worker_load_add(struct worker_load *l, const struct trace_item *item);
/* Events were lost: threads are known again from their next event on. */
void worker_load_lost(struct worker_load *l);

/* The last item that named the worker, and its times since the last call or since it is known. */
typedef void worker_load_fn(const struct trace_item *of, uint64_t busy_ns, uint64_t all_ns,
                            void *arg);
/* Visits the workers that are known, up to this time, before which all items were added. */
void worker_load_take(struct worker_load *l, uint64_t time, worker_load_fn *visit, void *arg);

#endif
