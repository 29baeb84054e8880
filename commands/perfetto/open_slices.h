/* Counts of the open slices on each track of a trace. Only tracks with open slices need memory. */
#ifndef COMMANDS_PERFETTO_OPEN_SLICES_H
#define COMMANDS_PERFETTO_OPEN_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct open_slice {
	uint64_t track; /* 0: an empty place in the table */
	uint64_t n;
};

struct open_slices {
	struct open_slice *slots; /* open addressing, linear probing */
	size_t tracks, capacity;  /* capacity is 0 or a power of two */
};

/* track is not 0. */
void open_slices_begin(struct open_slices *o, uint64_t track);
/* False: the track has no open slice. */
bool open_slices_end(struct open_slices *o, uint64_t track);
/*
 * Walks through the tracks with open slices: the one at *place, which starts at 0, or behind it; 0:
 * there is none. While the slices of the track are ended, and nothing else, no track is missed.
 */
uint64_t open_slices_next(const struct open_slices *o, size_t *place);
void open_slices_free(struct open_slices *o);

#endif
