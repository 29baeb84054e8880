/* Facts about the value of a variable of a running frame, for all that show or read it. */
#ifndef RUNTIMES_QUERY_LOCAL_STATE_H
#define RUNTIMES_QUERY_LOCAL_STATE_H

#include "runtimes/query/locals.h"

struct variable_state;

/*
 * Whether a variable of the type has its value also behind a use of it, which copies it: a number,
 * a reference, a tuple or an Option of such, or what has no bytes. The debug info does not tell of
 * structs and enums whether they are Copy, nor of `&mut` whether a use moved it or borrowed it
 * anew.
 */
bool local_state_is_kept(const struct type *t);

/*
 * Fills in the doubts of l, of which name and type are known, or its problem where it has no value
 * for sure. may_be_lost: see await_states.h.
 */
void local_state_apply(struct inspector *in, const struct variable_state *s, bool may_be_lost,
                       struct local_place *l);

#endif
