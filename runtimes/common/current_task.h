/* Where a thread has the number of the task that it runs, so that no look at the tasks is needed.
 */
#ifndef RUNTIMES_COMMON_CURRENT_TASK_H
#define RUNTIMES_COMMON_CURRENT_TASK_H

#include <stdbool.h>
#include <stdint.h>

struct inspector;

struct current_task {
	int64_t offset; /* from its thread pointer, of 8 bytes: the number while it runs a task */
	bool zero;      /* they are 0 while it runs none; otherwise they may be anything then */
};

/* False: unknown, or not the same for all threads, as with several copies of a runtime. */
typedef bool current_task_fn(struct inspector *in, struct current_task *ret);

#endif
