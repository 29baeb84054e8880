/*
 * Futures that poll both the futures that they contain and other resources, such as channel ends
 * and connections.
 *
 * The rule of combinator.h does not find all that they poll, and it finds futures that they do not
 * poll: the worker of a tower Buffer keeps the timers of its services between two requests.
 */
#ifndef RUNTIMES_FUTURE_COMPOSITE_FUTURE_H
#define RUNTIMES_FUTURE_COMPOSITE_FUTURE_H

#include "runtimes/future/future.h"

/* Whether the table lists this type. */
bool composite_future_is_type(const struct type *t);
/*
 * Inserts the resources in v that contain this task's waker before f's children, which are the
 * futures in v. Children that nothing polls now (a timer that is not set) become "held" and move to
 * the end. If that leaves no resource and no polled child, f is unchanged. Returns reach.hidden or
 * reach.limit.
 */
const char *composite_future_add(struct decoder *d, struct value v, struct future *f);

#endif
