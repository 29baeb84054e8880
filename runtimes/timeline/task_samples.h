/*
 * Spans of tasks from snapshots alone: each snapshot stands for the time since the last one. Spans
 * are those of task_span.h, none of them exact.
 */
#ifndef RUNTIMES_TIMELINE_TASK_SAMPLES_H
#define RUNTIMES_TIMELINE_TASK_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtimes/timeline/task_span.h"

struct task_samples;

/* Whether a thread is off its CPU; false: unknown. */
typedef bool task_samples_off_fn(pid_t tid, bool *off, void *arg);

/* Never NULL. Both functions are called with arg; off may be NULL. */
struct task_samples *task_samples_new(task_span_fn *visit, task_samples_off_fn *off, void *arg);
/* NULL is allowed. */
void task_samples_free(struct task_samples *t);

/*
 * Passes a span for each task of a snapshot with WANT_TASKS; times are ns, CLOCK_MONOTONIC. Names
 * and places live as long as the samples.
 */
void task_samples_add(struct task_samples *t, const struct snapshot *s, uint64_t from, uint64_t to);
/* Tasks of the last snapshot without a span: they have no id, or there are too many. */
uint64_t task_samples_untracked(const struct task_samples *t);

#endif
