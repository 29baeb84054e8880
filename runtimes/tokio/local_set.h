/* tokio's LocalSet, as an implementation of struct task_set_ops. */
#ifndef RUNTIMES_TOKIO_LOCAL_SET_H
#define RUNTIMES_TOKIO_LOCAL_SET_H

#include "runtimes/future/task_set.h"

extern const struct task_set_ops local_set_ops;

/* The path from a LocalSet to the waker that its tasks wake it by: an AtomicWaker. */
extern const char local_set_waker_path[];
/* Does a waker with that data wake the set's driver? False when unknown. */
bool local_set_wakes(struct collector *c, struct value set, uint64_t waker);

/*
 * The identity of a LocalSet, which stays when it moves: the address of its list of tasks. first:
 * the header of a task in it, 0 none. An error when it is no LocalSet.
 */
struct error *local_set_list(struct collector *c, struct value set, uint64_t *list, uint64_t *first)
	MUST_CHECK;

#endif
