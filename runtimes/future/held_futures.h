/* Finds the futures that are in a suspended coroutine's variables but are not polled. */
#ifndef RUNTIMES_FUTURE_HELD_FUTURES_H
#define RUNTIMES_FUTURE_HELD_FUTURES_H

#include "runtimes/future/combinator.h"

/*
 * Adds the unpolled futures of v to out. The awaitee of v must already be decoded as f's child: a
 * future that the awaitee may refer to counts as in use and is left out. s: v's state. first: the
 * awaitee's first entry in the collector's regions. Records the task sets (LocalSet) that it finds.
 * Returns whether a variable has more values than are searched, so that it may hold more futures.
 */
bool held_futures_find(struct decoder *d, struct value v, const struct coroutine_state *s,
                       const struct future *f, size_t first, child_vec *out);

/*
 * Adds the futures that v captured, which was not polled yet. s: its state, which
 * coroutine_captured() completed. They are as certain as v. Returns the same as
 * held_futures_find().
 */
bool held_futures_find_captured(struct decoder *d, struct value v, const struct coroutine_state *s,
                                const struct future *f, child_vec *out);

/* Fills held, flags and runtimes of a state of t: the variables that held_futures_find() reads. */
void held_futures_plan(struct inspector *in, const struct type *t, struct coroutine_state *s);

#endif
