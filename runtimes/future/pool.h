/*
 * Pools of connections: the wait for one. A pool is found by the futures around the leaf: one of
 * them refers to it, and the primitive that the leaf waits at is the pool's.
 */
#ifndef RUNTIMES_FUTURE_POOL_H
#define RUNTIMES_FUTURE_POOL_H

#include "runtimes/future/leaf.h"

struct pool {
	const struct pool_row *row;
	struct value object; /* what the pool's clones share */
	uint64_t size, max;  /* connections that exist; that there may be, 0: no limit */
	uint64_t idle, opening;
	uint64_t own_frames; /* how many futures around the leaf are the pool's, from the leaf to
	                        the outermost one of them */
};

/* The row for futures of this type, which may wait for a connection. NULL: none. */
const struct pool_row *pool_find_row(const struct type *t);
/*
 * Finds the pool that a leaf waits for at this primitive. False when it waits for no pool, or the
 * futures are not readable.
 */
bool pool_find(const struct leaf *l, uint64_t primitive, struct pool *ret);
/*
 * Like pool_find(), for a leaf that receives a value of type `sent` through a channel of its own.
 */
bool pool_find_sent(const struct leaf *l, const struct type *sent, struct pool *ret);
/* Whether a pool sends values of type t to those who wait for it. */
bool pool_is_sent(const struct type *t);
/*
 * The address of the primitive of pool `object`, its own where each waiter has a channel. *found is
 * false when nothing leads to it.
 */
struct error *pool_primitive(const struct leaf *l, const struct pool_row *row, struct value object,
                             uint64_t *ret, bool *found) MUST_CHECK;
/* Reads the numbers of pool `object`. Fails when one of them is missing or they contradict. */
struct error *pool_read(const struct leaf *l, const struct pool_row *row, struct value object,
                        struct pool *ret) MUST_CHECK;
/* How many connections somebody has or opens. */
uint64_t pool_in_use(const struct pool *p);
/* Makes the pool the object of the wait: adds details and the phrase, which ends with `turn`. */
struct error *pool_describe(struct leaf *l, struct pool *p, const char *turn) MUST_CHECK;

#endif
