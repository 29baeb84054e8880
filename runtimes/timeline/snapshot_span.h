/* Spans of the tasks of a snapshot, in the form that a trace has them. */
#ifndef RUNTIMES_TIMELINE_SNAPSHOT_SPAN_H
#define RUNTIMES_TIMELINE_SNAPSHOT_SPAN_H

#include <stdbool.h>

#include "runtimes/model/model.h"
#include "runtimes/timeline/task_span.h"

/*
 * Fills task, type, job, doing and tid of a span, and leaves the rest 0; the type is that of the
 * snapshot. False: the task has ended, or has no id.
 */
bool snapshot_span(const struct snapshot *s, const struct task *task, struct task_span *ret);
bool snapshot_span_of_job(const struct snapshot *s, const struct job *job, struct task_span *ret);

#endif
