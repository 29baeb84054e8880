/* Place at which a thread has the number of the task that it runs. */
#ifndef RUNTIMES_COMMON_CURRENT_TASK_H
#define RUNTIMES_COMMON_CURRENT_TASK_H

#include <stdbool.h>
#include <stdint.h>

struct current_task {
	int64_t offset; /* from its thread pointer, of 8 bytes: the number while it runs a task */
	bool zero;      /* they are 0 while it runs none; otherwise they may be anything then */
};

#endif
