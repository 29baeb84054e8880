/*
 * What can be reached from a value through members and pointers: for a future of which no table
 * knows what it waits for.
 */
#ifndef RUNTIMES_FUTURE_OBJECT_WALK_H
#define RUNTIMES_FUTURE_OBJECT_WALK_H

#include "runtimes/future/future.h"

/* One value on the way. */
struct reached {
	struct value v;
	size_t from;      /* index of what led to it; 0 for the start itself */
	const char *name; /* of the member, NULL for what a pointer leads to */
	unsigned depth;
	bool exclusive; /* nobody else can poll it: owned, or borrowed by &mut */
};

/* Called for every value, nearest first; false: do not look behind it. */
typedef bool object_walk_fn(const struct reached *at, size_t index, void *arg);

struct reach {
	struct reached *list; /* the collector's: valid until the next walk */
	size_t n, capacity;
	bool complete; /* nothing on the way was unreadable, opaque or too much */
	bool cut;      /* there was too much */
};

/* Walks from v, v itself excluded. Never fails: *ret says whether it saw all. */
void object_walk(struct collector *c, struct value v, object_walk_fn *visit, void *arg,
                 struct reach *ret);
/* The same, of what lies near: so few values that it may be asked of each of many futures. */
void object_walk_near(struct collector *c, struct value v, object_walk_fn *visit, void *arg,
                      struct reach *ret);
/* The members that lead to list[index]: "inner.state.waker"; in the snapshot's arena. */
const char *object_walk_path(struct collector *c, const struct reach *r, size_t index);

/* Does the search end there? For records.c, which keeps the answer. */
bool object_walk_is_boundary(const struct type *t);

/* A frame for a resource (leaf.h) that a future polls: its edge is "waits". */
struct future *object_walk_resource(struct collector *c, struct value v);

/*
 * Fills f->wait: the task's waker lies in these places of r, by index. Notes that they are told,
 * for the futures around f.
 */
void object_walk_report_wakers(struct decoder *d, const struct reach *r, const size_t *places,
                               size_t n, struct future *f);

/*
 * Adds to list[n..max) frames of the resources inside v that hold this task's waker, each once.
 * Returns how many the list has then.
 */
size_t object_walk_registered(struct decoder *d, struct value v, struct future **list, size_t n,
                              size_t max);

/*
 * Fills f->wait, or f's children, of a future v that no table knows and that polls no future: by
 * the resources that it holds, else by the places that hold its waker.
 */
void object_walk_explain(struct decoder *d, struct value v, struct future *f);

#endif
