/*
 * The future that a thread drives in block_on: it belongs to no task and lies on the stack, where
 * optimised builds keep no record of its address.
 */
#ifndef RUNTIMES_ROOT_H
#define RUNTIMES_ROOT_H

#include "runtimes/stack.h"

/*
 * Looks through the frames of block_on and its callers for the one place that holds a suspended
 * F. NULL when none or several do; *why then says which.
 */
struct future *root_find(struct collector *c, const struct thread_stack *s, const struct mark *m,
                         const char **why);

#endif
