/*
 * Finds what blocks a thread that should be polling a task or running a job: a system call, a lock,
 * or its own code. A thread that the runtime parked is not blocked.
 */
#ifndef RUNTIMES_THREAD_BLOCKED_H
#define RUNTIMES_THREAD_BLOCKED_H

#include "runtimes/thread/stack.h"

/*
 * Fills info->wait, except for the source location, and s->in_condvar. Reads memory, so call it
 * during the stop. info's role and task must be known.
 */
void blocked_find(struct collector *c, struct thread_info *info, struct thread_stack *s,
                  const struct marks *marks);
/* Appends the nearest frame of the program's own code to the wait's phrase. Reads line tables. */
void blocked_finish(struct collector *c, struct thread_info *info, const struct thread_stack *s,
                    const struct marks *marks);

#endif
