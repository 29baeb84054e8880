#include "runtimes/analysis/holders.h"

#include <string.h>

#include "runtimes/model/wait_kind.h"

bool holders_has_holder(const struct wait *w)
{
	return w->primitive && wait_kind_of(w)->has_holder;
}

/* ---- waiting tasks ---- */

const struct wait *holders_blocked_in(const struct snapshot *s, const struct task *task)
{
	const struct thread_info *th = task->thread ? snapshot_thread(s, task->thread) : NULL;

	return th ? th->wait : NULL;
}

struct holders_count {
	uint64_t tasks;
	const struct task *last; /* the task counted last */
};

static void count_wait(struct waiting *w, const struct task *task, const struct wait *wait)
{
	struct holders_count *c;

	if (!wait || !wait->primitive)
		return;
	c = map_get(&w->by_primitive, wait->primitive);
	if (!c) {
		c = NEW(&w->arena, struct holders_count);
		map_put(&w->by_primitive, wait->primitive, c);
	}
	c->tasks += c->last != task;
	c->last = task;
}

static void count_tree(struct waiting *w, const struct task *task, const struct future *f)
{
	count_wait(w, task, f->wait);
	for (size_t i = 0; i < f->nchildren; i++)
		count_tree(w, task, f->children[i]);
}

void holders_waiting_count(const struct snapshot *s, struct waiting *ret)
{
	*ret = (struct waiting){ .counted = true };
	for (size_t i = 0; i < s->ntasks; i++) {
		const struct task *task = s->tasks[i];

		if (task->root)
			count_tree(ret, task, task->root);
		count_wait(ret, task, holders_blocked_in(s, task));
	}
}

uint64_t holders_waiting_at(const struct waiting *w, uint64_t primitive)
{
	const struct holders_count *c = primitive ? map_get(&w->by_primitive, primitive) : NULL;

	return c ? c->tasks : 0;
}

void holders_waiting_free(struct waiting *w)
{
	map_free(&w->by_primitive);
	arena_free(&w->arena);
	w->counted = false;
}

/* ---- holdings of one task ---- */

static bool ends_in(const struct holding *h, const struct future *f)
{
	if (f->wait && holding_can_end(h, f->wait))
		return true;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (ends_in(h, f->children[i]))
			return true;
	}
	return false;
}

bool holders_concern(const struct snapshot *s, const struct holding *h, const struct task *task)
{
	const struct wait *wait = holders_blocked_in(s, task);

	return h->task == task || (task->root && ends_in(h, task->root)) ||
	       (wait && holding_can_end(h, wait));
}
