#include "runtimes/waker.h"

#include <inttypes.h>

/* AtomicWaker keeps it in a member; the wrappers around a Waker are looked through. */
static const char vtable_path[] = "waker.vtable | vtable";
static const char data_path[] = "waker.data | data";

static struct error *part(struct collector *c, struct value v, const char *expr, uint64_t *ret)
{
	const struct path *p;
	bool found;

	*ret = 0;
	TRY(inspector_path(c->in, v.type, expr, &p));
	return path_uint(c->in->target, p, v, ret, &found);
}

struct error *waker_read(struct collector *c, struct value v, struct waker *ret)
{
	TRY(part(c, v, vtable_path, &ret->vtable));
	return part(c, v, data_path, &ret->data);
}

const char *waker_task(struct collector *c, struct waker w)
{
	const struct task *task = w.vtable ? map_get(&c->tasks, w.data) : NULL;

	return task ? task->id : NULL;
}

const char *waker_text(struct collector *c, struct waker w)
{
	const char *task = waker_task(c, w);

	if (!w.vtable)
		return NULL;
	return task ? arena_printf(c->a, "task %s", task) : "an unknown waker";
}
