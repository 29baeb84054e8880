/*
 * Decodes what futures of compio wait for: operations in flight, timers, other tasks.
 *
 * An operation that was submitted is on the heap, with its result or the waker of the task that
 * waits for it; a Key<T> of the type of the operation leads there (compio-driver, src/key.rs).
 */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "runtimes/compio/compio.h"
#include "runtimes/future/deadline.h"
#include "runtimes/future/leaf.h"
#include "runtimes/future/leaf_fd.h"
#include "runtimes/future/leaf_queue.h"
#include "runtimes/model/names.h"

/* ---- operations ---- */

/* "Recv" */
static const char *compio_leaf_operation_name(const struct leaf *l, const struct type *op)
{
	const char *last = qualified_last(type_name(op));

	return inspector_clean_name(
		l->d->c->a, arena_strndup(&l->d->c->scratch, last, qualified_base_len(last)));
}

/* A generic type with one parameter. */
struct generic {
	const char *before, *after; /* texts around the parameter */
};

static const struct type *compio_leaf_find_type(const struct type *leaf, const struct generic *t,
                                                const struct type *parameter)
{
	SCRATCH(tmp);

	return lookup_type(type_module(leaf),
	                   arena_printf(&tmp, "%s%s%s", t->before, type_name(parameter), t->after),
	                   type_die(leaf));
}

/*
 * The type of an operation on the heap, a RawOp, and that of the cell of thin-cell in which it is
 * since compio-driver 0.10. Different versions have different paths; NULL: there is none.
 */
static void find_raw_types(const struct type *leaf, const struct type *op, const struct type **raw,
                           const struct type **cell)
{
	static const struct generic carried[] = {
		{ "compio_driver::key::RawOp<compio_driver::control::Carrier<", ">>" },
		{ "compio_driver::key::RawOp<", ">" }
	};
	static const struct generic cells[] = { { "thin_cell::unsync::Inner<", ">" },
		                                { "thin_cell::sync::Inner<", ">" },
		                                { "thin_cell::Inner<", ">" } };

	*raw = *cell = NULL;
	for (size_t i = 0; !*raw && i < sizeof(carried) / sizeof(*carried); i++)
		*raw = compio_leaf_find_type(leaf, &carried[i], op);
	for (size_t i = 0; *raw && !*cell && i < sizeof(cells) / sizeof(*cells); i++)
		*cell = compio_leaf_find_type(leaf, &cells[i], *raw);
}

const struct type *compio_leaf_type(const struct type *t, size_t n)
{
	const struct type *op = type_param(t, "T"), *types[2] = { 0 };

	if (op && n < 2 && str_begins(type_name(t), "compio_runtime::"))
		find_raw_types(t, op, &types[0], &types[1]);
	return n < 2 ? types[n] : NULL;
}

/* The operation on the heap, by the address that its key has. */
static bool find_raw(const struct leaf *l, const struct type *op, uint64_t addr, struct value *ret)
{
	const struct type *raw, *cell;

	find_raw_types(l->v.type, op, &raw, &cell);
	if (!raw)
		return false;
	const struct member *m = cell ? type_member(cell, "data") : NULL;
	*ret = (struct value){ raw, addr + (m ? m->offset : 0) };
	return true;
}

/* ", fd 9, 127.0.0.1:80 -> 127.0.0.1:5123"; "" where the operation has none. */
static struct error *compio_leaf_describe_fd(const struct leaf *l, struct value raw,
                                             const char **ret)
{
	static const char fd_path[] = "carrier.op.fd.value.fd | carrier.op.header.fd.value.fd | "
				      "op.fd.value.fd | op.header.fd.value.fd | "
				      "carrier.op.fd.data.fd | carrier.op.header.fd.data.fd | "
				      "op.fd.data.fd | op.header.fd.data.fd | "
				      "carrier.op.fd | op.fd";
	struct value place;
	uint64_t fd;
	bool found;

	*ret = "";
	if (!leaf_has_path(l, raw.type, fd_path))
		return NULL;
	TRY(leaf_place(l, raw, fd_path, &place, &found));
	if (!found)
		return NULL;
	struct error *err = value_uint(l->d->c->in->target, place, &fd);
	if (!err && fd <= INT32_MAX)
		*ret = leaf_fd_describe(l, (int)fd);
	error_free(err);
	return NULL;
}

/* Arms the leaf: an operation has its result, or the waker of the task that waits for it. */
static struct error *compio_leaf_arm(struct leaf *l, struct value raw, bool *done)
{
	static const char waker_path[] = "result.Pending.0";
	struct value place;
	bool pending;

	TRY(leaf_place(l, raw, waker_path, &place, &pending));
	*done = !pending;
	return pending ? leaf_arm(l, place) : NULL;
}

static struct error *describe_submitted(struct leaf *l, const struct type *op, const char *name)
{
	const char *direction = leaf_fd_direction(name), *where = "";
	struct value raw;
	bool done = false;

	if (find_raw(l, op, l->w->object, &raw)) {
		TRY(compio_leaf_arm(l, raw, &done));
		TRY(compio_leaf_describe_fd(l, raw, &where));
	}
	wait_phrase(l, "%s %s%s%s%s", name, done ? leaf_next(l, "done") : "in flight",
	            direction ? ", " : "", direction ? direction : "", where);
	return NULL;
}

/* Submit<T, E>, SubmitMulti<T>; before compio-runtime 0.10 OpFuture<T>, before 0.7 OpFlagsFuture<T>
 */
static struct error *compio_leaf_decode_submit(struct leaf *l)
{
	static const char key_path[] = "state.Some.0.Submitted.key | key.Some.0";
	const struct type *op = type_param(l->v.type, "T");
	struct value key;
	bool found;

	if (!op)
		return error_new(ERR_LAYOUT, "the debug info does not say which operation it is");
	const char *name = compio_leaf_operation_name(l, op), *direction = leaf_fd_direction(name);
	if (strcmp(name, "Asyncify") == 0)
		l->w->kind = "blocking";
	wait_string(l, "resource", name);
	if (direction)
		wait_string(l, "direction", direction);
	TRY(leaf_place(l, l->v, key_path, &key, &found));
	if (!found) {
		leaf_arm_none(l);
		wait_phrase(l, "%s, not submitted", name);
		return NULL;
	}
	TRY(target_read_uint(l->d->c->in->target, key.addr, 8, &l->w->object));
	return describe_submitted(l, op, name);
}

/* ---- timers ---- */

/*
 * Since compio-runtime 0.9.5 the key of a timer has its deadline. A future is there only while the
 * timer is registered.
 */
static struct error *compio_leaf_decode_timer(struct leaf *l)
{
	static const char deadline_path[] = "key.deadline | 0.deadline";
	struct value when;
	struct deadline due;
	bool found;

	wait_bool(l, "registered", true);
	if (!leaf_has_path(l, l->v.type, deadline_path)) {
		wait_phrase(l, "timer");
		return NULL;
	}
	TRY(leaf_place(l, l->v, deadline_path, &when, &found));
	TRY(deadline_read(l, when, NULL, false, &due));
	deadline_phrase(l, "timer", "", &due);
	return NULL;
}

const struct leaf_row compio_leaves[] = {
	/* compio-runtime from 0.12 | 0.10 and 0.11 | before */
	{ .type = "compio_runtime::future::future::Submit",
	  .kind = "io",
	  .decode = compio_leaf_decode_submit },
	{ .type = "compio_runtime::runtime::future::Submit",
	  .kind = "io",
	  .decode = compio_leaf_decode_submit },
	{ .type = "compio_runtime::runtime::op::OpFuture",
	  .kind = "io",
	  .decode = compio_leaf_decode_submit },
	{ .type = "compio_runtime::runtime::op::OpFlagsFuture",
	  .kind = "io",
	  .decode = compio_leaf_decode_submit },
	{ .type = "compio_runtime::future::stream::SubmitMulti",
	  .kind = "io",
	  .decode = compio_leaf_decode_submit,
	  .resource = true },
	{ .type = "compio_runtime::time::future::TimerFuture",
	  .kind = "sleep",
	  .decode = compio_leaf_decode_timer },
	{ .type = "compio_runtime::runtime::time::TimerFuture",
	  .kind = "sleep",
	  .decode = compio_leaf_decode_timer },
	{ 0 },
};

/* ---- JoinHandle (compio-executor, src/join_handle.rs) ---- */

/* The header, by the copy of the crate that knows its vtable. */
static struct error *compio_leaf_read_header(struct collector *c, uint64_t addr,
                                             struct compio_copy **copy, struct compio_header *ret)
{
	struct error *err = error_new(ERR_LAYOUT, "compio was not found");

	for (*copy = compio_of(c->in)->copies; *copy; *copy = (*copy)->next) {
		error_free(err);
		err = compio_read_header(c->in, *copy, addr, 0, ret);
		if (!err)
			return NULL;
	}
	return err;
}

static struct error *arm_join(struct leaf *l, const struct compio_copy *copy,
                              const struct compio_header *h)
{
	static const char waker_path[] = "waker";
	struct value place;

	if (!(h->state & COMPIO_NOT_SETTING_WAKER))
		return NULL;
	if (!(h->state & COMPIO_HAS_WAKER)) {
		leaf_arm_none(l);
		return NULL;
	}
	TRY(compio_header_place(l->d->c->in, copy, h->addr, waker_path, &place));
	/* The waker is in an UnsafeCell<MaybeUninit<Waker>>. */
	place.type = lookup_type(copy->dm, "core::task::wake::Waker", 0);
	return place.type ? leaf_arm(l, place) : NULL;
}

static struct error *compio_leaf_decode_join(struct leaf *l)
{
	static const char task_path[] = "task.Some.0";
	struct collector *c = l->d->c;
	struct compio_copy *copy;
	struct compio_header h;
	struct value place;
	bool found;

	TRY(leaf_place(l, l->v, task_path, &place, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "its task has ended");
	TRY(target_read_uint(c->in->target, place.addr, 8, &l->w->object));
	TRY(compio_leaf_read_header(c, l->w->object, &copy, &h));
	TRY(arm_join(l, copy, &h));
	const struct task *task = map_get(&c->tasks, h.addr);
	const char *state = task_state_name(task ? task->state : compio_state(h.state, false));
	l->w->task = task ? task->id : task_key(c->a, compio_name, h.addr);
	wait_string(l, "task_state", state);
	wait_phrase(l, "handle of task %s (%s)", waker_task_text(l->d->c, l->w->task), state);
	return NULL;
}

const struct leaf_row compio_join_leaves[] = {
	{ .type = "compio_executor::join_handle::JoinHandle",
	  .kind = "join",
	  .decode = compio_leaf_decode_join,
	  .proves = true },
	{ 0 },
};
