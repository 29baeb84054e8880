/*
 * The future that a thread drives in block_on: it belongs to no task and lies on the stack, where
 * optimised builds keep no record of its address.
 */
#ifndef RUNTIMES_THREAD_ROOT_H
#define RUNTIMES_THREAD_ROOT_H

#include "runtimes/thread/stack.h"

/*
 * The future of a block_on that is waiting (not polling it at this moment): by the variables
 * that refer to it where the debug info places them, else by looking through the frames of
 * block_on and its callers for a place that holds a suspended F. Never NULL: what is not sure is
 * left out, and the future's problem says so.
 */
struct future *root_find(struct collector *c, const struct thread_stack *s, const struct mark *m,
                         uint64_t waker, unsigned runtime);

#endif
