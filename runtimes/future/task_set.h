/* Records the task sets (LocalSet) found while decoding; their tasks are listed afterwards. */
#ifndef RUNTIMES_FUTURE_TASK_SET_H
#define RUNTIMES_FUTURE_TASK_SET_H

#include "runtimes/future/future.h"

/*
 * Records one set. v: the set, or a reference to it. f: the future that drives it, whose wait or
 * note will name the tasks; NULL if the set is only stored.
 */
void task_set_met(struct decoder *d, const struct task_set_ops *of, struct value v,
                  struct future *f);

/* Records a set that a strict decoder had only remembered in decoder.set. */
void task_set_add(struct collector *c, const struct task_set *set);

#endif
