/*
 * Futures that poll more than the futures they hold: channels' ends, connections.
 *
 * What the rule of combinator.h finds in them is not all, and it may not be polled at all: the
 * worker of a tower Buffer keeps the timers of its services between two requests.
 */
#ifndef RUNTIMES_FUTURE_COMPOSITE_FUTURE_H
#define RUNTIMES_FUTURE_COMPOSITE_FUTURE_H

#include "runtimes/future/future.h"

/* Is it one, by a row of the table? */
bool composite_future_is_type(const struct type *t);
/*
 * Puts before f's children, the futures in v, the resources in it that hold this task's waker.
 * What nobody polls now (a timer that is not set) is held, and comes last; if there is nothing
 * else, f stays as it is.
 */
void composite_future_add(struct decoder *d, struct value v, struct future *f);

#endif
