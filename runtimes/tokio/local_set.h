/* tokio's set of tasks, as struct task_set_ops asks for it. */
#ifndef RUNTIMES_TOKIO_LOCAL_SET_H
#define RUNTIMES_TOKIO_LOCAL_SET_H

#include "runtimes/future/task_set.h"

extern const struct task_set_ops local_set_ops;

/* Is it driven by whom a waker with that data wakes? False when that cannot be told. */
bool local_set_wakes(struct collector *c, struct value set, uint64_t waker);

/*
 * What a LocalSet is known by wherever it moves: the address of its list of tasks. first: the
 * header of a task in it, 0 none. An error when it is none.
 */
struct error *local_set_list(struct collector *c, struct value set, uint64_t *list, uint64_t *first)
	MUST_CHECK;

#endif
