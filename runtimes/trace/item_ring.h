/*
 * The last items of a trace, in a buffer of a fixed size: an item that has no room displaces the
 * oldest ones. Most take 15 to 25 bytes.
 */
#ifndef RUNTIMES_TRACE_ITEM_RING_H
#define RUNTIMES_TRACE_ITEM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "runtimes/trace/trace.h"

struct item_ring;

enum { ITEM_RING_MIN = 64 << 10 /* bytes */ };

/*
 * An item that is displaced; it is valid during the call. The types, places, sites and probes of
 * all items are borrowed: they live as long as the trace.
 */
typedef void item_ring_fn(const struct trace_item *item, void *arg);

/* size: of the buffer, at least ITEM_RING_MIN. ERR_OS: there is not so much memory. */
struct error *item_ring_new(size_t size, item_ring_fn *displaced, void *arg, struct item_ring **ret)
	MUST_CHECK;
/* NULL is allowed. */
void item_ring_free(struct item_ring *r);
void item_ring_freep(struct item_ring **r);

void item_ring_add(struct item_ring *r, const struct trace_item *item);
size_t item_ring_count(const struct item_ring *r);

/* A place in the ring, which is valid until the item there is displaced. */
struct item_ring_place {
	uint64_t at;   /* bytes, of all that were ever added */
	uint64_t time; /* of the item before it */
};
/* The place of the oldest item, and that behind the newest one. */
struct item_ring_place item_ring_oldest(const struct item_ring *r);
struct item_ring_place item_ring_end(const struct item_ring *r);
/*
 * Reads the item at a place and moves the place behind it; false: it is at the end. Texts are in
 * arena a.
 */
bool item_ring_read(const struct item_ring *r, struct item_ring_place *place, struct arena *a,
                    struct trace_item *ret);

#endif
