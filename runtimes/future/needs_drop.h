/* Whether values of a type need drop. */
#ifndef RUNTIMES_FUTURE_NEEDS_DROP_H
#define RUNTIMES_FUTURE_NEEDS_DROP_H

#include "runtimes/future/future.h"

/*
 * Whether a value of this type needs drop, so that it may be gone although its bytes remain. In
 * doubt true. May search the debug info for drop glue, once per type.
 */
bool needs_drop(struct inspector *in, const struct type *t);
/* Whether t may have an impl of Drop of its own, besides what its parts need. */
bool needs_drop_itself(struct inspector *in, const struct type *t);

#endif
