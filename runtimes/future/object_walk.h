/*
 * Walks all values that a value leads to through members and pointers. Used for futures that have
 * no table row, to find what they wait for.
 */
#ifndef RUNTIMES_FUTURE_OBJECT_WALK_H
#define RUNTIMES_FUTURE_OBJECT_WALK_H

#include "debugger/base/vec.h"
#include "runtimes/future/future.h"

/* A value that the walk visits. */
struct reached {
	struct value v;
	size_t from;      /* index of the value that led to it; 0 for the start itself */
	const char *name; /* of the member; NULL for an element or the target of a pointer */
	unsigned depth;
	bool exclusive; /* owned or borrowed by &mut: no other future can poll it */
};

/* Called for every value in breadth-first order; returns false to skip what the value leads to. */
typedef bool object_walk_fn(const struct reached *at, size_t index, void *arg);

struct reach {
	struct reached *list; /* owned by the collector: valid until the next walk */
	size_t n, capacity;
	bool complete; /* no value was unreadable or opaque, and no limit was reached */
	bool cut;      /* a limit was reached */
	/*
	 * The limit that was reached, where it has left out an object that v owns, or shares and
	 * may poll: more futures may be there. NULL: none.
	 */
	const char *limit;
	/*
	 * Why more futures may be there than the walk met: the first object that it could not
	 * enter. NULL: all of them were entered. Bytes behind a raw pointer
	 * do not count unless something beside the pointer polls them.
	 */
	const char *hidden;
};

/* Walks from v; v itself is not visited. Never fails: ret->complete shows whether it saw all. */
void object_walk(struct collector *c, struct value v, object_walk_fn *visit, void *arg,
                 struct reach *ret);
/* Like object_walk(), with a limit so low that it may be called for each of many futures. */
void object_walk_near(struct collector *c, struct value v, object_walk_fn *visit, void *arg,
                      struct reach *ret);
/* The names of the members that lead to list[index]: "inner.state.waker". In the snapshot's arena.
 */
const char *object_walk_path(struct collector *c, const struct reach *r, size_t index);

/* Whether the walk stops at this type. struct type_class caches the result. */
bool object_walk_is_boundary(const struct type *t);

/* Frames of futures and resources, in the order in which they were found. */
typedef VEC(struct future *) frame_vec;

/* Makes a frame for a resource (leaf.h) that a future polls. Its edge is "waits". */
struct future *object_walk_resource(struct collector *c, struct value v);

/*
 * Fills f->wait with the n places of r (indices) that contain the task's waker. Records them as
 * reported, so that the futures around f do not report them again.
 */
void object_walk_report_wakers(struct decoder *d, const struct reach *r, const size_t *places,
                               size_t n, struct future *f);

/*
 * Adds frames for the resources inside v that contain this task's waker, without duplicates.
 * Returns reach.hidden or reach.limit.
 */
const char *object_walk_registered(struct decoder *d, struct value v, frame_vec *list);

/*
 * Finds what v waits for, a future that has no table row and polls no other future by a rule. Fills
 * f->wait or f's children from the resources in v, else from the places that contain its waker. The
 * futures in v, as in objects of traits of the program's own, become children beside these. Returns
 * reach.hidden or reach.limit.
 */
const char *object_walk_explain(struct decoder *d, struct value v, struct future *f);

#endif
