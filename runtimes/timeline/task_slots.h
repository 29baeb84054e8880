/*
 * Small numbers for the tasks that exist, which index an owner's arrays. The number of a task that
 * is removed is given to another one.
 */
#ifndef RUNTIMES_TIMELINE_TASK_SLOTS_H
#define RUNTIMES_TIMELINE_TASK_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/vec.h"
#include "runtimes/timeline/task_table.h"

/* All zeros: no tasks. */
struct task_slots {
	struct task_table tasks; /* row: the number */
	VEC(uint32_t) unused;
	uint32_t n; /* all numbers are below */
};

/* False: there is no such task; id may be 0. */
bool task_slots_find(const struct task_slots *s, uint64_t id, uint32_t *slot);
/* id is not 0, and has no number yet. */
uint32_t task_slots_add(struct task_slots *s, uint64_t id);
/* id has a number. */
void task_slots_remove(struct task_slots *s, uint64_t id);
void task_slots_free(struct task_slots *s);

#endif
