/* The runtimes and tasks of a snapshot that is being taken: each runtime adds its own. */
#include <stdlib.h>

#include "runtimes/common/inspector.h"

struct runtime_info *collector_add_runtime(struct collector *c, const struct runtime *of)
{
	struct runtime_info *info = NEW(c->a, struct runtime_info);

	info->index = (unsigned)c->runtimes.n;
	info->kind = of->name;
	*vec_push(&c->runtimes) = (struct listed_runtime){ of, info };
	return info;
}

const struct runtime *collector_runtime(const struct collector *c, size_t index)
{
	return index < c->runtimes.n ? c->runtimes.data[index].of : NULL;
}

bool collector_has_runtime(const struct collector *c, const struct runtime *r)
{
	struct runtime_copy copy;

	for (size_t i = 0; i < c->runtimes.n; i++) {
		if (c->runtimes.data[i].of == r)
			return true;
	}
	return r->expected && r->copy(c->in, 0, &copy);
}

void collector_add_task(struct collector *c, struct task *task, uint64_t poll)
{
	if (!task->id)
		task->id = task_key(c->a, c->runtimes.data[task->runtime].of->name, task->addr);
	*vec_push(&c->listed) = task;
	map_put(&c->tasks, task->addr, task);
	if (c->by_poll)
		*vec_push(&c->polls) = (struct task_poll){ poll, task };
}

size_t collector_begin_decoding(struct collector *c, const struct task *task)
{
	c->decoding.task = task;
	return c->in->target->stop.doubts;
}

void collector_end_decoding(struct collector *c, struct task *task, size_t doubts,
                            struct error *err)
{
	if (err)
		task->problem = marked_finish(c->a, err->marked, &task->problem_parts);
	error_free(err);
	task->changed |= c->in->target->stop.doubts != doubts;
	if (task->problem || task->changed)
		c->out->complete = false;
	c->decoding.task = NULL;
}

int collector_compare_tasks(const struct task *x, const struct task *y)
{
	if (x->runtime != y->runtime)
		return x->runtime < y->runtime ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return 0;
}

/* Tasks without a number are in the order of their addresses. */
static int by_runtime_and_id(const void *a, const void *b)
{
	const struct task *x = *(struct task *const *)a, *y = *(struct task *const *)b;
	int order = collector_compare_tasks(x, y);

	if (order || x->number)
		return order;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void collector_publish_tasks(struct collector *c)
{
	struct snapshot *s = c->out;

	s->ntasks = c->listed.n;
	s->tasks = arena_memdup(c->a, c->listed.data, s->ntasks * sizeof(*s->tasks));
	if (s->ntasks)
		qsort(s->tasks, s->ntasks, sizeof(*s->tasks), by_runtime_and_id);
}

void collector_publish_runtimes(struct collector *c)
{
	struct snapshot *s = c->out;

	s->nruntimes = c->runtimes.n;
	s->runtimes = NEW_ARRAY(c->a, struct runtime_info, s->nruntimes);
	for (size_t i = 0; i < s->nruntimes; i++)
		s->runtimes[i] = *c->runtimes.data[i].info;
}
