/*
 * Guards of a program's own pools, which have no row. A type is taken for such a guard if all of
 * this is true of it:
 *
 * - it has an impl of Drop of its own;
 * - it refers, directly or through handles, to a semaphore that others share;
 * - it has, in itself or in an Option, a value of a type that a collection has which is behind its
 *   references too: the idle connections.
 *
 * The guards of sqlx, deadpool, bb8 and mobc have this form. What the impl of Drop calls is not in
 * the debug info: of a function that is not inlined, only the machine code has the calls. Therefore
 * such a value is only a possible holder (HOLDING_SLOT), and no verdict depends on it.
 */
#ifndef RUNTIMES_OWNERSHIP_OWNERSHIP_POOLED_H
#define RUNTIMES_OWNERSHIP_OWNERSHIP_POOLED_H

#include "runtimes/ownership/ownership.h"

struct pooled {
	const char *content;           /* path to the connection; leads nowhere in an empty guard */
	const char *const *semaphores; /* paths */
	size_t n;
};

/* NULL: the type is no such guard. Cached for each type. */
const struct pooled *ownership_pooled(const struct type *t);
/*
 * Fills role, kind, object and uncertain of ret->h for a value of such a type and one of its
 * semaphores. *found is false where the value is empty or refers to nothing.
 */
struct error *ownership_read_pooled(struct collector *c, struct value v, size_t index,
                                    struct found *ret, bool *found) MUST_CHECK;

#endif
