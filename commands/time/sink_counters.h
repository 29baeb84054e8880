/*
 * Counter tracks of a trace for Perfetto, beside that of the tasks that are alive: polls a second,
 * the share of time that workers are busy, and the lengths of queues.
 */
#ifndef COMMANDS_TIME_SINK_COUNTERS_H
#define COMMANDS_TIME_SINK_COUNTERS_H

#include "commands/perfetto/perfetto.h"
#include "commands/time/sink.h"

struct sink_counters;

/*
 * p is borrowed. A trace that shows only some tasks or polls has no counters of polls and of busy
 * workers. Never NULL.
 */
struct sink_counters *sink_counters_new(struct perfetto *p, const struct trace_heading *h);
/* NULL is allowed. */
void sink_counters_free(struct sink_counters *c);

/* Events were lost. */
void sink_counters_lost(struct sink_counters *c);
/* A poll or a park that goes on when the trace begins. */
void sink_counters_known(struct sink_counters *c, const struct trace_item *start);
/* sink_counters_item() and sink_counters_queue() return the first error of writing. */
struct error *sink_counters_item(struct sink_counters *c, const struct trace_item *item) MUST_CHECK;
struct error *sink_counters_queue(struct sink_counters *c, const struct sink_queue *q) MUST_CHECK;
/* Writes the counters up to this time. */
struct error *sink_counters_end(struct sink_counters *c, uint64_t time) MUST_CHECK;

#endif
