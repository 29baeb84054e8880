#include <inttypes.h>

#include "debugger/base/str.h"
#include "runtimes/leaf_sync.h"

/* More than can wait for one thing in reason; a torn list may run in a circle. */
enum { MAX_WAITERS = 10000 };

/* Option<NonNull<_>>: 0 is None. */
static struct error *read_link(const struct leaf *l, struct value from, const char *expr,
                               uint64_t *ret)
{
	struct value link;
	bool found;

	*ret = 0;
	TRY(leaf_place(l, from, expr, &link, &found));
	return found ? target_read_uint(l->d->c->in->target, link.addr, 8, ret) : NULL;
}

static struct error *add_waiter(const struct leaf *l, struct value node, struct queue *q)
{
	struct value place;
	struct waker waker = { 0 };
	bool found;

	q->ahead++;
	TRY(leaf_place(l, node, "waker", &place, &found));
	if (found)
		TRY(waker_read(l->d->c, place, &waker));
	const char *task = waker_task(l->d->c, waker);
	if (!task)
		q->unknown++;
	else if (q->ntasks < QUEUE_MAX_LISTED)
		q->tasks[q->ntasks++] = task;
	return NULL;
}

struct error *queue_read(const struct leaf *l, struct value list, struct value node,
                         struct queue *ret)
{
	struct value at = { node.type, 0 };

	*ret = (struct queue){ 0 };
	TRY(read_link(l, list, "tail", &at.addr));
	ret->first = at.addr;
	for (int i = 0; i < MAX_WAITERS && at.addr && at.addr != node.addr; i++) {
		TRY(add_waiter(l, at, ret));
		TRY(read_link(l, at, "pointers.prev", &at.addr));
	}
	ret->found = at.addr == node.addr;
	return NULL;
}

const char *queue_text(struct arena *a, const struct queue *q)
{
	STR(s);

	if (!q->ahead)
		return "first in its queue";
	const char *what = q->unknown ? "waiter" : "task";
	str_printf(&s, "%zu %s%s ahead in its queue", q->ahead, what, q->ahead == 1 ? "" : "s");
	for (size_t i = 0; i < q->ntasks; i++) {
		const char *before = i ? ", " : q->ntasks == 1 ? " (task " : " (tasks ";

		str_printf(&s, "%s%s", before, q->tasks[i]);
	}
	size_t known = q->ahead - q->unknown;
	if (known > q->ntasks)
		str_printf(&s, ", and %zu more", known - q->ntasks);
	if (q->ntasks)
		str_printf(&s, "%s", ")");
	return arena_printf(a, "%s", s.data);
}

void queue_details(const struct leaf *l, const struct queue *q)
{
	const char **tasks = NEW_ARRAY(l->d->c->a, const char *, q->ntasks + 1);

	for (size_t i = 0; i < q->ntasks; i++)
		tasks[i] = q->tasks[i];
	wait_int(l, "position", (int64_t)q->ahead + 1);
	wait_list(l, "tasks_ahead", tasks, q->ntasks);
}

const char *leaf_count(const struct leaf *l, uint64_t n, const char *what)
{
	return arena_printf(l->d->c->a, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}
