#include "runtimes/futures_executor/future_object.h"

#include <inttypes.h>

#include "runtimes/common/type_class.h"
#include "runtimes/future/combinator.h"

struct error *future_object_read(struct collector *c, struct value object, uint64_t *data,
                                 uint64_t *vtable)
{
	const struct member *m = type_member(object.type, "future");
	const struct type_class *class = m && m->type ? type_class_of(m->type) : NULL;

	if (!class || class->step != STEP_DYN)
		return error_new(ERR_LAYOUT, "%s has no trait object", type_name(object.type));
	TRY(target_read_uint(c->in->target, object.addr + m->offset + class->offset, 8, data));
	return target_read_uint(c->in->target, object.addr + m->offset + class->vtable, 8, vtable);
}

uint64_t future_object_poll(struct collector *c, struct value object)
{
	uint64_t data, vtable, poll = 0;
	struct error *err = future_object_read(c, object, &data, &vtable);

	if (!err)
		err = target_read_uint(c->in->target, vtable + 8 * FUTURE_OBJECT_POLL, 8, &poll);
	bool known = !err;
	error_free(err);
	return known ? poll : 0;
}

/* The type of the future. */
static struct error *future_object_describe_task(struct collector *c, struct task *task,
                                                 uint64_t vtable, const struct type **ret,
                                                 bool *exact)
{
	*ret = collector_vtable(c, vtable, FUTURE_OBJECT_POLL, exact);
	if (!*ret)
		return error_new(ERR_LAYOUT, "no debug info describes its vtable 0x%" PRIx64,
		                 vtable);
	task->type = inspector_clean_name(&c->in->arena, type_name(*ret));
	task->size = type_size(*ret);
	if (*exact && type_is_coroutine(*ret))
		task->defined_at = coroutine_defined_at(c->in, *ret);
	return NULL;
}

struct error *future_object_describe(struct collector *c, struct task *task, uint64_t vtable)
{
	const struct type *future;
	bool exact;

	return future_object_describe_task(c, task, vtable, &future, &exact);
}

struct error *future_object_decode(struct collector *c, struct task *task, struct value object)
{
	const struct type *future;
	uint64_t data, vtable;
	bool exact;

	TRY(future_object_read(c, object, &data, &vtable));
	TRY(future_object_describe_task(c, task, vtable, &future, &exact));
	if (task->state == TASK_RUNNING)
		return NULL;
	struct decoder d = { .c = c, .waker = task->addr, .runtime = task->runtime };
	d.idle = task->state == TASK_IDLE;
	d.woken = future_is_woken(task->state);
	d.forgotten = task->has_wakers && task->wakers == 0;
	task->root = future_decode(&d, (struct value){ future, data });
	task->root->uncertain |= !exact;
	if (exact && !task->defined_at)
		task->defined_at = coroutine_defined_by_tree(c->in, task->root);
	return NULL;
}
