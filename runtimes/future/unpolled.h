/* Futures that a suspended coroutine has in its variables but does not poll. */
#ifndef RUNTIMES_FUTURE_UNPOLLED_H
#define RUNTIMES_FUTURE_UNPOLLED_H

#include "runtimes/future/combinator.h"

/*
 * Adds them, after the awaitee of v was decoded as f's child: what the awaitee may reach by
 * reference is in use and left out. s: v's state; first: index into the collector's regions of the
 * first one of the awaitee. Tells of LocalSets met on the way.
 */
void unpolled_find(struct decoder *d, struct value v, const struct coroutine_state *s,
                   const struct future *f, size_t first, child_vec *out);

/*
 * Once all trees are decoded: what one frame holds and another polls was moved from the first,
 * which kept its bits.
 */
void unpolled_settle(struct snapshot *s);

/* Of a coroutine's type in one state: the variables worth a look. For coroutine_state(). */
void unpolled_plan(struct inspector *in, const struct type *t, struct coroutine_state *s);

#endif
