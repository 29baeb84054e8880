/*
 * Whether a function that creates a Context, or has one, may be an executor's: something that it
 * polls may contain tasks. Others have one, too: a reader that a poll function calls and that calls
 * a poll function of its own stream, with a waker that wakes both directions; a thread that polls
 * one hand-written future, such as that of the timers of futures-timer.
 */
#ifndef RUNTIMES_INSPECT_MAY_RUN_TASKS_H
#define RUNTIMES_INSPECT_MAY_RUN_TASKS_H

#include "runtimes/common/inspector.h"

/*
 * Decides by the types of the function's generics, parameters and variables, and by what these
 * consist of. False only if none of them can be a coroutine or a boxed future, and
 *  - it returns a Poll: its caller polls again, or
 *  - one of them is a future, and none has anything whose type is erased.
 * True where the debug info does not tell.
 */
bool may_run_tasks(struct inspector *in, const struct function *f);

#endif
