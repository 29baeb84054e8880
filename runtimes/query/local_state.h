/* Facts about the value of a variable of a running frame, for all that show or read it. */
#ifndef RUNTIMES_QUERY_LOCAL_STATE_H
#define RUNTIMES_QUERY_LOCAL_STATE_H

#include "runtimes/query/locals.h"

struct variable_state;

/*
 * Fills in the doubts of l, of which name and type are known, or its problem where it has no value
 * for sure. may_be_lost: see await_states.h.
 */
void local_state_apply(struct inspector *in, const struct variable_state *s, bool may_be_lost,
                       struct local_place *l);

#endif
