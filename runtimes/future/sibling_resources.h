/*
 * Resources that a future polls in addition to the futures that it contains: sockets, ends of
 * channels, and places that store its waker until another part of the program calls it.
 *
 * The edge depends on the evidence. If the resource contains the task's own waker, the future waits
 * for it and the edge is "waits". If the future owns the resource and the owner of the waker in it
 * is unknown, the future may poll it and the edge is "holds".
 */
#ifndef RUNTIMES_FUTURE_SIBLING_RESOURCES_H
#define RUNTIMES_FUTURE_SIBLING_RESOURCES_H

#include "runtimes/future/object_walk.h"

/*
 * Appends leaves for these resources to f's children, which are the futures in v. A resource that a
 * child already waits for is left out. region: the number of regions in the collector just after
 * f's own region was recorded; later regions belong to the futures below f. Returns
 * reach.hidden or reach.limit.
 */
const char *sibling_resources_add(struct decoder *d, struct value v, struct future *f,
                                  size_t region);

/* Keeps those entries of list for which no child of f waits. */
void sibling_resources_keep_new(const struct future *f, frame_vec *list);

/*
 * Futures and streams that a walk from another future meets, and which that one may poll although
 * no rule says so: in an object of a trait of the program's own, in a map. Where others can poll
 * it, too, only a waker of the task tells that this one has polled it.
 */
struct sibling_future {
	struct value v;
	bool stream; /* a stream, or a set of futures */
	bool shared; /* others can poll it, too */
};

typedef VEC(struct sibling_future) sibling_futures;

/*
 * Notes the future at a place, unless it was decoded already. region: as of
 * sibling_resources_add(). The caller frees r.
 */
void sibling_note_future(sibling_futures *r, struct decoder *d, size_t region,
                         const struct reached *at);
/* Notes a stream that nobody else can poll, or a FuturesUnordered with a future. */
void sibling_note_stream(sibling_futures *r, struct decoder *d, size_t region,
                         const struct reached *at);

/*
 * Decodes those noted. Adds the frames of those for which the task waits to list, with the edge
 * "holds", or "waits" where others can poll it. Ends the walk that noted them.
 */
void sibling_decode_futures(struct decoder *d, const sibling_futures *r, frame_vec *list);

/*
 * Whether the rows of a crate's leaves cover the waker at list[index] of a walk: it is in a type of
 * that crate, and not in the contents of a generic one.
 */
bool sibling_is_covered(const struct reached *list, size_t index);
/* Whether a leaf of f's tree, which must be polled, has the waker of the task. */
bool sibling_has_our_waker(const struct future *f);

#endif
