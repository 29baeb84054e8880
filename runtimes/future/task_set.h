/* A set of tasks that a future drives was met while decoding: its tasks are listed afterwards. */
#ifndef RUNTIMES_FUTURE_TASK_SET_H
#define RUNTIMES_FUTURE_TASK_SET_H

#include "runtimes/future/future.h"

/*
 * v: a set of tasks, or a reference to one; f: the future that drives it, whose wait or
 * note will name the tasks, NULL where it is only stored.
 */
void task_set_met(struct decoder *d, const struct task_set_ops *of, struct value v,
                  struct future *f);

/* As above, of one that a strict decoder met. */
void task_set_add(struct collector *c, const struct task_set *set);

#endif
