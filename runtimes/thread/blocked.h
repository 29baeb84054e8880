/*
 * What a thread sits in that should be polling a task or running a job: a system call, a lock, or
 * plain computation. A thread that the runtime parked sits in nothing.
 */
#ifndef RUNTIMES_THREAD_BLOCKED_H
#define RUNTIMES_THREAD_BLOCKED_H

#include "runtimes/thread/stack.h"

/*
 * Fills info->wait, all but where in the program that is. Reads memory: during the stop. info's
 * role and task are known.
 */
void blocked_find(struct collector *c, struct thread_info *info, const struct thread_stack *s,
                  const struct marks *marks);
/* Completes its phrase by the nearest frame of the program's own code. Reads line tables. */
void blocked_finish(struct collector *c, struct thread_info *info, const struct thread_stack *s,
                    const struct marks *marks);

#endif
