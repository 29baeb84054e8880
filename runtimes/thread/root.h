/*
 * Finds the future that a thread drives in block_on. It belongs to no task and is on the stack. In
 * optimised builds the debug info often lacks its address.
 */
#ifndef RUNTIMES_THREAD_ROOT_H
#define RUNTIMES_THREAD_ROOT_H

#include "runtimes/thread/stack.h"

/*
 * Finds the future of a block_on, one of the marks, that is waiting, not polling, at this moment.
 * Uses the variables that refer to it if the debug info has their locations. Otherwise searches the
 * stack frames of block_on and its callers for an address that holds a suspended F. If no address
 * is certain, the tree has only what follows from the types, and a problem that explains the rest.
 * Never NULL.
 */
struct future *root_find(struct collector *c, const struct thread_stack *s,
                         const struct marks *marks, const struct mark *m, uint64_t waker,
                         unsigned runtime);

#endif
