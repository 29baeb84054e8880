/* The number of the task that a thread runs, of whichever runtime has numbers. */
#ifndef RUNTIMES_INSPECT_CURRENT_TASK_H
#define RUNTIMES_INSPECT_CURRENT_TASK_H

#include "runtimes/common/current_task.h"

struct inspector;

/*
 * Where threads have it. zero: they have 0 there while they run no task of any runtime. False:
 * unknown, or not the same for all threads.
 */
bool current_task_find(struct inspector *in, struct current_task *ret);

#endif
