/* Types that lead to what a task may poll. */
#ifndef RUNTIMES_COMMON_MAY_POLL_H
#define RUNTIMES_COMMON_MAY_POLL_H

#include "dwarf/types/type.h"

/*
 * Whether a value of the type may be, own or lead to a future, a resource (leaf.h), a waker or an
 * object whose type is known at run time only.
 */
bool may_poll(const struct type *t);

#endif
