/*
 * How many messages lie in a queue of crossbeam's design, by the positions of its head and tail: of
 * std's mpsc (library/std/src/sync/mpmc/list.rs, array.rs) and of concurrent-queue 2.5
 * (src/unbounded.rs, src/bounded.rs).
 */
#ifndef DWARF_VALUES_QUEUE_LENGTH_H
#define DWARF_VALUES_QUEUE_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Length of a queue with a fixed number of slots. mark: the bit above the index of a slot; above it
 * is the lap. The result is more than capacity if the positions are inconsistent.
 */
uint64_t queue_length_bounded(uint64_t head, uint64_t tail, uint64_t mark, uint64_t capacity);
/* Length of a list of blocks. False if the head is behind the tail. */
bool queue_length_unbounded(uint64_t head, uint64_t tail, uint64_t *ret);

#endif
