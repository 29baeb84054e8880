/*
 * Lengths of time, for percentiles. The first few are kept as they are, more of them
 * are counted in buckets: memory is bounded, and small where there are few.
 */
#ifndef COMMANDS_TOP_DURATIONS_H
#define COMMANDS_TOP_DURATIONS_H

#include <stdint.h>

#include "debugger/base/arena.h"

enum {
	DURATIONS_FIRST = 4,
	DURATIONS_BUCKETS = 1 + 28 * 4, /* up to 255 ns, then four for each power of two */
};

/* All zeros: none. */
struct durations {
	uint64_t longest;
	uint32_t n;
	uint64_t first[DURATIONS_FIRST]; /* the first n; unused where there are buckets */
	uint32_t *buckets;               /* NULL: all are in first */
};

/* Buckets are taken from a. */
void durations_add(struct durations *d, struct arena *a, uint64_t ns);
void durations_merge(struct durations *d, struct arena *a, const struct durations *from);
/*
 * The shortest length that at least percent of 100 of them do not exceed; 0: there are none. Up to
 * a quarter too long where there are many.
 */
uint64_t durations_percentile(const struct durations *d, unsigned percent);

#endif
