/*
 * The crate async-broadcast: a queue whose messages stay until all receivers have them, or are
 * overwritten (async-broadcast 0.7 and 0.5, src/lib.rs). Any end may close the channel.
 */
#include <inttypes.h>

#include "runtimes/leaves/leaves.h"
#include "runtimes/leaves/leaves_wait.h"
#include "runtimes/ownership/ownership.h"

#define INNER "async_broadcast::Inner"

struct async_broadcast_state {
	uint64_t queued, capacity, senders, receivers, inactive, head, closed;
};

static struct error *async_broadcast_read_channel(struct leaf *l, const char *expr,
                                                  struct async_broadcast_state *ret)
{
	static const char queued_path[] = "queue.len", capacity_path[] = "capacity",
			  senders_path[] = "sender_count", receivers_path[] = "receiver_count",
			  inactive_path[] = "inactive_receiver_count", head_path[] = "head_pos",
			  closed_path[] = "is_closed";
	struct value reference, inner;
	bool found;

	TRY(leaf_place(l, l->v, expr, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, INNER, &inner, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no channel");
	l->w->object = l->w->primitive = inner.addr;
	TRY(leaf_uint(l, inner, queued_path, &ret->queued));
	TRY(leaf_uint(l, inner, capacity_path, &ret->capacity));
	TRY(leaf_uint(l, inner, senders_path, &ret->senders));
	TRY(leaf_uint(l, inner, receivers_path, &ret->receivers));
	TRY(leaf_uint(l, inner, inactive_path, &ret->inactive));
	TRY(leaf_uint(l, inner, head_path, &ret->head));
	return leaf_uint(l, inner, closed_path, &ret->closed);
}

static void async_broadcast_add_details(struct leaf *l, const struct async_broadcast_state *b,
                                        uint64_t others)
{
	wait_int(l, "capacity", (int64_t)b->capacity);
	wait_int(l, "senders", (int64_t)b->senders);
	wait_int(l, "receivers", (int64_t)b->receivers);
	wait_bool(l, "closed", b->closed != 0);
	if (others)
		wait_int(l, "may_close", (int64_t)others);
}

/* inner, next: paths to the channel and to the position of the receiver. */
static struct error *read_recv(struct leaf *l, const char *inner, const char *next)
{
	static const char listener_path[] = "listener";
	struct leaves_listener listener;
	struct async_broadcast_state b;
	uint64_t position;

	TRY(async_broadcast_read_channel(l, inner, &b));
	TRY(leaf_uint(l, l->v, next, &position));
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	uint64_t behind = b.head + b.queued - position;
	if (behind > INT64_MAX)
		return error_new(ERR_CORRUPT, "the receiver is ahead of its senders");
	wait_int(l, "lag", (int64_t)behind);
	async_broadcast_add_details(l, &b, b.receivers + b.inactive - 1);
	wait_phrase(l, "async-broadcast receive, %" PRIu64 " behind, %s%s", behind,
	            b.senders ? leaf_count(l, b.senders, "sender") : "no sender",
	            b.senders ? " alive" : " left");
	return NULL;
}

static struct error *async_broadcast_decode_recv(struct leaf *l)
{
	static const char inner_path[] = "receiver.inner", next_path[] = "receiver.pos";

	return read_recv(l, inner_path, next_path);
}

/* The receiver is a stream. */
static struct error *async_broadcast_decode_receiver(struct leaf *l)
{
	static const char inner_path[] = "inner", next_path[] = "pos";

	return read_recv(l, inner_path, next_path);
}

/* Waits for room, or for a receiver that is active. */
static struct error *async_broadcast_decode_send(struct leaf *l)
{
	static const char inner_path[] = "sender.inner", listener_path[] = "listener";
	struct leaves_listener listener;
	struct async_broadcast_state b;

	TRY(async_broadcast_read_channel(l, inner_path, &b));
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	wait_int(l, "queued", (int64_t)b.queued);
	async_broadcast_add_details(l, &b, b.senders - 1);
	wait_phrase(l, "async-broadcast send, %" PRIu64 " queued of %" PRIu64 ", %s%s", b.queued,
	            b.capacity,
	            b.receivers ? leaf_count(l, b.receivers, "receiver") : "no receiver",
	            b.receivers ? " alive" : " is active");
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = "async_broadcast::Recv",
	  .kind = "broadcast",
	  .decode = async_broadcast_decode_recv },
	{ .type = "async_broadcast::Send",
	  .kind = "broadcast_send",
	  .decode = async_broadcast_decode_send },
	{ .type = "async_broadcast::Receiver",
	  .kind = "broadcast",
	  .decode = async_broadcast_decode_receiver,
	  .resource = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

static const struct ownership_row holdings[] = {
	{ .type = "async_broadcast::Sender",
	  .role = HOLDING_SENDER,
	  .kind = "broadcast",
	  .member = "inner",
	  .of = INNER,
	  .part = "" },
	{ .type = "async_broadcast::Receiver",
	  .role = HOLDING_RECEIVER,
	  .kind = "broadcast",
	  .member = "inner",
	  .of = INNER,
	  .part = "" },
	{ 0 },
};

const struct crate_types async_broadcast_types = {
	.crate = "async-broadcast",
	.path = "async_broadcast::",
	.leaves = families,
	.holdings = holdings,
};
