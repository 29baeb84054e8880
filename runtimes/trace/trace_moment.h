/*
 * What is the case at one moment of a trace: what each task does, and which polls and parks each
 * thread is in. A snapshot and the events up to that moment tell it.
 */
#ifndef RUNTIMES_TRACE_TRACE_MOMENT_H
#define RUNTIMES_TRACE_TRACE_MOMENT_H

#include <stdint.h>

#include "runtimes/trace/task_spans.h"
#include "runtimes/trace/trace.h"

struct snapshot;
struct trace_moment;

enum { TRACE_MOMENT_THREADS = 1 << 13 /* that are in a call at a time */ };

/* Each span of a task that has ended is passed to ended (NULL: none). Never NULL. */
struct trace_moment *trace_moment_new(task_span_fn *ended, void *arg);
/* NULL is allowed. */
void trace_moment_free(struct trace_moment *m);
void trace_moment_freep(struct trace_moment **m);

/* The snapshot and the time are those of task_spans_begin(). */
void trace_moment_begin(struct trace_moment *m, const struct snapshot *s, uint64_t time);
void trace_moment_add(struct trace_moment *m, const struct trace_item *item);
/* Events were lost: what tasks and threads do is unknown until their next event. */
void trace_moment_lost(struct trace_moment *m, uint64_t time);

/* How many tasks of one kind exist. */
size_t trace_moment_alive(const struct trace_moment *m, enum trace_job job);
/* Each task that exists, with what it does since span->began; span->open is true. */
void trace_moment_tasks(struct trace_moment *m, task_span_fn *visit, void *arg);
/* The item that each call began with, the outer calls of a thread first. */
typedef void trace_moment_fn(const struct trace_item *start, void *arg);
void trace_moment_calls(const struct trace_moment *m, trace_moment_fn *visit, void *arg);

#endif
