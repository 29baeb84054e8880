/*
 * The crate async-channel: a concurrent-queue, and an event for each kind of waiter (async-channel
 * 2.5, 1.9 and 1.6, src/lib.rs). Any end may close the channel.
 */
#include "dwarf/values/queue_length.h"
#include "runtimes/leaves/leaves.h"
#include "runtimes/leaves/leaves_wait.h"
#include "runtimes/ownership/ownership.h"

#define CHANNEL "async_channel::Channel"

/* concurrent-queue 2.5, src/single.rs */
enum { SINGLE_PUSHED = 2, SINGLE_CLOSED = 4 };

static struct error *read_bounded(struct leaf *l, struct value queue, struct leaves_channel *ret)
{
	static const char head_path[] = "head.value", tail_path[] = "tail.value",
			  mark_path[] = "mark_bit", buffer_path[] = "buffer";
	uint64_t head, tail, mark;
	struct value place;
	struct slice buffer;
	bool found;

	TRY(leaf_uint(l, queue, head_path, &head));
	TRY(leaf_uint(l, queue, tail_path, &tail));
	TRY(leaf_uint(l, queue, mark_path, &mark));
	TRY(leaf_place(l, queue, buffer_path, &place, &found));
	TRY(value_slice(l->d->c->in->target, place, &buffer));
	ret->closed = tail & mark;
	ret->bounded = true;
	ret->capacity = buffer.count;
	ret->queued = queue_length_bounded(head, tail, mark, ret->capacity);
	return ret->queued <= ret->capacity
	               ? NULL
	               : error_new(ERR_CORRUPT, "the queue has more messages than slots");
}

static struct error *read_unbounded(struct leaf *l, struct value queue, struct leaves_channel *ret)
{
	static const char head_path[] = "head.value.index | head.index",
			  tail_path[] = "tail.value.index | tail.index";
	uint64_t head, tail;

	TRY(leaf_uint(l, queue, head_path, &head));
	TRY(leaf_uint(l, queue, tail_path, &tail));
	ret->closed = tail & 1;
	return queue_length_unbounded(head, tail, &ret->queued)
	               ? NULL
	               : error_new(ERR_CORRUPT, "the queue's head is behind its tail");
}

static struct error *async_channel_read_queue(struct leaf *l, struct value channel,
                                              struct leaves_channel *ret)
{
	/* concurrent-queue 2.x | 1.x */
	static const char single_path[] = "queue.Single.0 | queue.0.Single.0",
			  bounded_path[] = "queue.Bounded.0 | queue.0.Bounded.0",
			  unbounded_path[] = "queue.Unbounded.0 | queue.0.Unbounded.0",
			  state_path[] = "state";
	struct value queue;
	uint64_t state;
	bool found;

	TRY(leaf_place(l, channel, bounded_path, &queue, &found));
	if (found)
		return read_bounded(l, queue, ret);
	TRY(leaf_place(l, channel, unbounded_path, &queue, &found));
	if (found)
		return read_unbounded(l, queue, ret);
	TRY(leaf_place(l, channel, single_path, &queue, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the queue is of no known kind");
	TRY(leaf_uint(l, queue, state_path, &state));
	ret->closed = state & SINGLE_CLOSED;
	ret->queued = (state & SINGLE_PUSHED) != 0;
	ret->bounded = true;
	ret->capacity = 1;
	return NULL;
}

/* Reads the channel of a sender or receiver at the end of that path. */
static struct error *async_channel_read(struct leaf *l, const char *expr,
                                        struct leaves_channel *ret)
{
	static const char senders_path[] = "sender_count", receivers_path[] = "receiver_count",
			  strong_path[] = "strong";
	struct value arc, channel;
	uint64_t strong;
	bool found;

	*ret = (struct leaves_channel){ .name = "async-channel", .closable = true };
	TRY(leaf_place(l, l->v, expr, &arc, &found));
	if (found)
		TRY(leaf_strip_to(l, arc, CHANNEL, &channel, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no channel");
	l->w->object = l->w->primitive = channel.addr;
	TRY(leaf_uint(l, channel, senders_path, &ret->senders));
	TRY(leaf_uint(l, channel, receivers_path, &ret->receivers));
	TRY(leaf_optional_uint(l, arc, strong_path, &strong, &found));
	/* Weak ends are counted by the Arc alone. */
	if (found && strong > ret->senders + ret->receivers)
		ret->weak = strong - ret->senders - ret->receivers;
	return async_channel_read_queue(l, channel, ret);
}

/* Reads the channel at that path, and whether the future's listener is armed. */
static struct error *async_channel_read_end(struct leaf *l, const char *expr,
                                            struct leaves_channel *ret)
{
	static const char listener_path[] = "listener";
	struct leaves_listener listener;

	TRY(async_channel_read(l, expr, ret));
	return leaves_listener_read(l, l->v, listener_path, &listener);
}

static struct error *async_channel_decode_recv(struct leaf *l)
{
	static const char channel_path[] = "receiver.channel";
	struct leaves_channel ch;

	TRY(async_channel_read_end(l, channel_path, &ch));
	leaves_channel_recv(l, &ch);
	return NULL;
}

/* The receiver is a stream. */
static struct error *async_channel_decode_receiver(struct leaf *l)
{
	static const char channel_path[] = "channel";
	struct leaves_channel ch;

	TRY(async_channel_read_end(l, channel_path, &ch));
	leaves_channel_recv(l, &ch);
	return NULL;
}

static const char sender_path[] = "sender.channel";

static struct error *async_channel_decode_send(struct leaf *l)
{
	struct leaves_channel ch;

	TRY(async_channel_read_end(l, sender_path, &ch));
	leaves_channel_send(l, &ch);
	return NULL;
}

/* Decodes a future of 2.x that waits until the channel is closed. */
static struct error *decode_closed(struct leaf *l)
{
	struct leaves_channel ch;

	TRY(async_channel_read_end(l, sender_path, &ch));
	leaves_channel_closed(l, &ch);
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = "async_channel::Recv",
	  .kind = "channel_recv",
	  .decode = async_channel_decode_recv },
	{ .type = "async_channel::Send",
	  .kind = "channel_send",
	  .decode = async_channel_decode_send },
	{ .type = "async_channel::Closed", .kind = "channel_closed", .decode = decode_closed },
	{ .type = "async_channel::Receiver",
	  .kind = "channel_recv",
	  .decode = async_channel_decode_receiver,
	  .resource = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

static const struct ownership_row holdings[] = {
	{ .type = "async_channel::Sender",
	  .role = HOLDING_SENDER,
	  .kind = "channel",
	  .member = "channel",
	  .of = CHANNEL,
	  .part = "" },
	{ .type = "async_channel::Receiver",
	  .role = HOLDING_RECEIVER,
	  .kind = "channel",
	  .member = "channel",
	  .of = CHANNEL,
	  .part = "" },
	{ 0 },
};

const struct crate_types async_channel_types = {
	.crate = "async-channel",
	.path = "async_channel::",
	.leaves = families,
	.holdings = holdings,
};
