/*
 * The crate tokio-uring: operations of io_uring. Its tasks are tokio's, in a LocalSet. An operation
 * of the kernel is an Op or an InFlightOneshot, with its index in a slab of the driver, which has
 * its state: submitted, a waker, a result (tokio-uring 0.5, src/runtime/driver/op/mod.rs).
 */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "runtimes/future/leaf_fd.h"
#include "runtimes/future/leaf_queue.h"
#include "runtimes/leaves/leaves.h"

/* State of an operation: Lifecycle of the driver. */
struct lifecycle {
	struct value place; /* type NULL: its driver is gone */
	bool waits, done;
	struct value waker;
};

/* "Recv"; what an InFlightOneshot keeps of a write is called WriteData. */
static const char *uring_operation_name(const struct leaf *l, const struct type *t)
{
	static const char data[] = "Data";
	const char *last = qualified_last(type_name(t));
	size_t len = qualified_base_len(last), suffix = strlen(data);

	if (str_begins(type_name(t), "tokio_uring::io::") && len > suffix &&
	    strncmp(last + len - suffix, data, suffix) == 0)
		len -= suffix;
	return inspector_clean_name(l->d->c->a, arena_strndup(&l->d->c->scratch, last, len));
}

static struct error *read_variants(const struct leaf *l, struct value place, struct lifecycle *ret)
{
	static const char waiting_path[] = "Waiting.0", result_path[] = "Completed",
			  results_path[] = "CompletionList";
	struct value unused;

	*ret = (struct lifecycle){ .place = place };
	TRY(leaf_place(l, place, waiting_path, &ret->waker, &ret->waits));
	TRY(leaf_place(l, place, result_path, &unused, &ret->done));
	if (!ret->done)
		TRY(leaf_place(l, place, results_path, &unused, &ret->done));
	return NULL;
}

/* The entry of an operation's index in the slab of its driver. */
static struct error *read_lifecycle(const struct leaf *l, struct value op, struct lifecycle *ret)
{
	static const char index_path[] = "index",
			  entries_path[] = "driver.inner.value.ops.lifecycle.entries",
			  occupied_path[] = "Occupied.0";
	struct value list, place;
	struct slice entries;
	uint64_t index;
	bool found;

	TRY(leaf_uint(l, op, index_path, &index));
	TRY(leaf_place(l, op, entries_path, &list, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no driver");
	TRY(value_slice(l->d->c->in->target, list, &entries));
	if (index >= entries.count)
		return error_new(ERR_CORRUPT, "its driver has no operation of that index");
	place = (struct value){ entries.element,
		                entries.addr + index * type_size(entries.element) };
	TRY(leaf_place(l, place, occupied_path, &place, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "its driver has forgotten the operation");
	return read_variants(l, place, ret);
}

/* ", fd 9, 127.0.0.1:80 -> 127.0.0.1:5123"; "" where the operation has none. */
static struct error *uring_describe_fd(const struct leaf *l, struct value data, const char **ret)
{
	static const char fd_path[] = "fd.Some.0.inner.value.fd | fd.inner.value.fd"
				      " | _fd.inner.value.fd | fd";
	uint64_t fd;
	bool found;

	*ret = "";
	TRY(leaf_optional_uint(l, data, fd_path, &fd, &found));
	if (found && fd <= INT32_MAX)
		*ret = leaf_fd_describe(l, (int)fd);
	return NULL;
}

/* op: with its index and driver; data: what it keeps while the kernel works on it. */
static struct error *uring_describe(struct leaf *l, struct value op, struct value data)
{
	const char *name = uring_operation_name(l, data.type), *direction = leaf_fd_direction(name);
	struct lifecycle life;
	const char *where;

	l->w->object = op.addr;
	wait_string(l, "resource", name);
	if (direction)
		wait_string(l, "direction", direction);
	TRY(read_lifecycle(l, op, &life));
	if (life.waits)
		TRY(leaf_arm(l, life.waker));
	else
		leaf_arm_none(l);
	TRY(uring_describe_fd(l, data, &where));
	wait_phrase(l, "%s %s%s%s%s", name, life.done ? leaf_next(l, "done") : "in flight",
	            direction ? ", " : "", direction ? direction : "", where);
	return NULL;
}

static struct error *decode_op(struct leaf *l)
{
	static const char data_path[] = "data.Some.0";
	struct value data;
	bool found;

	TRY(leaf_place(l, l->v, data_path, &data, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has given its result already");
	return uring_describe(l, l->v, data);
}

static struct error *uring_decode_oneshot(struct leaf *l)
{
	static const char op_path[] = "inner.Some.0", data_path[] = "stable_data";
	struct value op, data;
	bool found;

	TRY(leaf_place(l, l->v, op_path, &op, &found));
	if (found)
		TRY(leaf_place(l, op, data_path, &data, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has given its result already");
	return uring_describe(l, op, data);
}

static const struct leaf_row leaves[] = {
	{ .type = "tokio_uring::runtime::driver::op::Op", .kind = "io", .decode = decode_op },
	{ .type = "tokio_uring::runtime::driver::op::InFlightOneshot",
	  .kind = "io",
	  .decode = uring_decode_oneshot },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types uring_types = {
	.crate = "tokio-uring",
	.path = "tokio_uring::",
	.leaves = families,
};
