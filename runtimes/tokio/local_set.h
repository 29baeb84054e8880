/* A LocalSet was met while decoding: its tasks are listed afterwards. */
#ifndef RUNTIMES_TOKIO_LOCAL_SET_H
#define RUNTIMES_TOKIO_LOCAL_SET_H

#include "runtimes/future/future.h"

/*
 * v: a tokio::task::local::LocalSet or a reference to one; f: the future that drives it, whose wait
 * or note will name the tasks, NULL where it is only stored.
 */
void local_set_met(struct decoder *d, struct value v, struct future *f);

/* As above, of one that a strict decoder met. */
void local_set_add(struct collector *c, const struct local_set *set);

/* Is it driven by whom a waker with that data wakes? False when that cannot be told. */
bool local_set_wakes(struct collector *c, struct value set, uint64_t waker);

/*
 * What a LocalSet is known by wherever it moves: the address of its list of tasks. first: the
 * header of a task in it, 0 none. An error when it is none.
 */
struct error *local_set_list(struct collector *c, struct value set, uint64_t *list, uint64_t *first)
	MUST_CHECK;

#endif
