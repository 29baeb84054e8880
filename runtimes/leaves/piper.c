/*
 * The crate piper: a pipe of bytes in memory (piper 0.2.5, src/lib.rs), by which a task reads or
 * writes what a thread of the crate blocking writes or reads. Each end has an Arc of the Pipe,
 * which has a waker for each. Head and tail count up to twice the capacity, so that a full pipe
 * differs from an empty one. `closed` is set when either end is dropped.
 */
#include <inttypes.h>

#include "runtimes/future/leaf.h"
#include "runtimes/leaves/leaves.h"

#define READER "piper::Reader"
#define WRITER "piper::Writer"

/* The bytes in the pipe; false if the positions contradict the capacity. */
static bool piper_buffered(uint64_t head, uint64_t tail, uint64_t capacity, uint64_t *ret)
{
	if (capacity > UINT64_MAX / 2 || head > 2 * capacity || tail > 2 * capacity)
		return false;
	*ret = head <= tail ? tail - head : 2 * capacity - (head - tail);
	return *ret <= capacity;
}

static struct error *piper_describe(struct leaf *l, struct value pipe, const char *direction)
{
	static const char head_path[] = "head", tail_path[] = "tail", capacity_path[] = "cap",
			  closed_path[] = "closed";
	uint64_t head, tail, capacity, closed, buffered;

	TRY(leaf_uint(l, pipe, head_path, &head));
	TRY(leaf_uint(l, pipe, tail_path, &tail));
	TRY(leaf_uint(l, pipe, capacity_path, &capacity));
	TRY(leaf_uint(l, pipe, closed_path, &closed));
	if (!piper_buffered(head, tail, capacity, &buffered))
		return error_new(ERR_CORRUPT, "the pipe has more bytes than room");
	wait_string(l, "resource", "pipe");
	wait_string(l, "direction", direction);
	wait_int(l, "buffered", (int64_t)buffered);
	wait_int(l, "capacity", (int64_t)capacity);
	wait_bool(l, "other_end_alive", !closed);
	wait_phrase(l, "pipe %s, %" PRIu64 " of %" PRIu64 " bytes buffered, other end %s",
	            direction, buffered, capacity, closed ? "dropped" : "alive");
	return NULL;
}

static struct error *piper_decode(struct leaf *l, const char *waker_path, const char *direction)
{
	static const char pipe_path[] = "inner";
	struct value arc, pipe;
	bool found;

	TRY(leaf_place(l, l->v, pipe_path, &arc, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "it has no pipe");
	TRY(value_shared(l->d->c->in->target, arc, &pipe));
	l->w->object = pipe.addr;
	TRY(leaf_arm_at(l, pipe, waker_path));
	return piper_describe(l, pipe, direction);
}

static struct error *piper_decode_reader(struct leaf *l)
{
	static const char waker_path[] = "reader";

	return piper_decode(l, waker_path, "readable");
}

static struct error *piper_decode_writer(struct leaf *l)
{
	static const char waker_path[] = "writer";

	return piper_decode(l, waker_path, "writable");
}

static const struct leaf_row leaves[] = {
	{ .type = READER, .kind = "duplex", .decode = piper_decode_reader, .resource = true },
	{ .type = WRITER, .kind = "duplex", .decode = piper_decode_writer, .resource = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

const struct crate_types piper_types = {
	.crate = "piper",
	.path = "piper::",
	.leaves = families,
};
