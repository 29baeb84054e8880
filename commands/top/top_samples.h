/*
 * Activity of tasks in an interval, from looks at the program, where there is no trace: snapshots
 * go in, and for each interval a frame comes out. Times are shares of the looks, and so estimates;
 * what happens between two looks is not seen.
 */
#ifndef COMMANDS_TOP_TOP_SAMPLES_H
#define COMMANDS_TOP_TOP_SAMPLES_H

#include "commands/top/top_rows.h"
#include "commands/top/top_workers.h"

struct top_samples;

/* The first interval begins at that time. Never NULL. */
struct top_samples *top_samples_new(uint64_t time);
/* NULL is allowed. */
void top_samples_free(struct top_samples *t);
/* s is a snapshot with WANT_TASKS; its names live as long as its inspector. */
void top_samples_look(struct top_samples *t, const struct snapshot *s);
/* Looks since the interval began. */
uint64_t top_samples_looks(const struct top_samples *t);
/*
 * Ends the interval, in which there was a look. The frame lives until the next look; its tasks have
 * the stats polled_ns and runnable_ns alone.
 */
const struct top_frame *top_samples_cut(struct top_samples *t, uint64_t time);
/* The workers of that frame, in a: their times and queues alone. */
void top_samples_workers(const struct top_samples *t, struct arena *a, struct top_worker **list,
                         size_t *n);

#endif
