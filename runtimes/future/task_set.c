#include "runtimes/future/task_set.h"

void task_set_add(struct collector *c, const struct task_set *set)
{
	*vec_push(&c->task_sets) = *set;
}

void task_set_met(struct decoder *d, const struct task_set_ops *of, struct value v,
                  struct future *f)
{
	/* A set that is only held is not polled by whoever polls the future that holds it. */
	struct task_set set = { v, of, f && !d->unpolled ? d->runtime : NO_RUNTIME, f,
		                d->c->decoding.task };

	if (d->strict)
		d->set = set;
	else
		task_set_add(d->c, &set);
}
