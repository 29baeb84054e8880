/* Workers of a frame of `top`: the numbers of each in the interval. */
#ifndef COMMANDS_TOP_TOP_WORKERS_H
#define COMMANDS_TOP_TOP_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "runtimes/timeline/event_counts.h"

struct top_worker {
	int runtime; /* index; -1: unknown */
	int worker;  /* index in its runtime; -1: threads that are no workers */
	uint64_t polls, parks;
	uint64_t busy_ns, parked_ns; /* in the interval, as far as it is known */
	uint64_t queue_len;
	bool has_queue;
};

/* The counts at the end of the last interval. All zeros: there was none. */
struct top_workers {
	struct tallied_worker *before;
	size_t n;
};

/* The workers that exist or have done something since the last call; *list is in a. */
void top_workers_next(struct top_workers *t, const struct event_counts *tally, struct arena *a,
                      struct top_worker **list, size_t *n);
void top_workers_free(struct top_workers *t);

#endif
