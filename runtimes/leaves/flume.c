/*
 * The crate flume: channels with any number of senders and receivers. A future that waits has a
 * hook, which is in a list of the channel too; that of a sender contains its message until a
 * receiver takes it (flume 0.11, src/async.rs and src/lib.rs).
 */
#include "runtimes/leaves/leaves.h"
#include "runtimes/leaves/leaves_wait.h"
#include "runtimes/ownership/ownership.h"

#define SHARED "flume::Shared"

/* Weak references beside those of the WeakSenders: all strong ones count as one. */
enum { OWN_WEAK = 1 };

/* Reads the channel of a sender or receiver at the end of that path. */
static struct error *flume_read_channel(struct leaf *l, const char *expr,
                                        struct leaves_channel *ret)
{
	/* 0.11 and newer have WeakSenders */
	static const char queued_path[] = "chan.data.queue.len", closed_path[] = "disconnected",
			  senders_path[] = "sender_count", receivers_path[] = "receiver_count",
			  capacity_path[] = "chan.data.sending.Some.0.0", weak_path[] = "weak";
	struct value arc, shared;
	bool found;
	uint64_t closed, weak;

	*ret = (struct leaves_channel){ .name = "flume" };
	TRY(leaf_place(l, l->v, expr, &arc, &found));
	if (found)
		TRY(leaf_strip_to(l, arc, SHARED, &shared, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no channel");
	l->w->object = l->w->primitive = shared.addr;
	TRY(leaf_uint(l, shared, queued_path, &ret->queued));
	TRY(leaf_uint(l, shared, senders_path, &ret->senders));
	TRY(leaf_uint(l, shared, receivers_path, &ret->receivers));
	TRY(leaf_uint(l, shared, closed_path, &closed));
	TRY(leaf_optional_uint(l, shared, capacity_path, &ret->capacity, &ret->bounded));
	TRY(leaf_optional_uint(l, arc, weak_path, &weak, &found));
	ret->weak = found && weak > OWN_WEAK ? weak - OWN_WEAK : 0;
	ret->closed = closed != 0;
	return NULL;
}

static struct error *flume_decode_recv(struct leaf *l)
{
	/* borrowed | owned */
	static const char borrowed[] = "receiver.Ref.0.shared", owned[] = "receiver.Owned.0.shared",
			  waker_path[] = "hook.1.waker.data";
	struct leaves_channel ch;
	struct value place;
	bool found;

	TRY(leaf_place(l, l->v, borrowed, &place, &found));
	TRY(flume_read_channel(l, found ? borrowed : owned, &ch));
	TRY(leaf_arm_at(l, l->v, waker_path));
	leaves_channel_recv(l, &ch);
	return NULL;
}

static struct error *flume_decode_send(struct leaf *l)
{
	static const char borrowed[] = "sender.Ref.0.shared", owned[] = "sender.Owned.0.shared",
			  hook_path[] = "hook.QueuedItem.0",
			  waker_path[] = "hook.QueuedItem.0.1.waker.data",
			  message_path[] = "hook.QueuedItem.0.0.Some.0.data.Some";
	struct leaves_channel ch;
	struct value place;
	bool found, full;

	TRY(leaf_place(l, l->v, borrowed, &place, &found));
	TRY(flume_read_channel(l, found ? borrowed : owned, &ch));
	TRY(leaf_arm_at(l, l->v, waker_path));
	TRY(leaf_place(l, l->v, hook_path, &place, &found));
	if (found && leaf_has_path(l, l->v.type, message_path)) {
		TRY(leaf_place(l, l->v, message_path, &place, &full));
		ch.granted = !full;
	}
	leaves_channel_send(l, &ch);
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = "flume::async::RecvFut", .kind = "channel_recv", .decode = flume_decode_recv },
	{ .type = "flume::async::SendFut", .kind = "channel_send", .decode = flume_decode_send },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

static const struct ownership_row holdings[] = {
	{ .type = "flume::Sender",
	  .role = HOLDING_SENDER,
	  .kind = "channel",
	  .member = "shared",
	  .of = SHARED,
	  .part = "" },
	{ .type = "flume::Receiver",
	  .role = HOLDING_RECEIVER,
	  .kind = "channel",
	  .member = "shared",
	  .of = SHARED,
	  .part = "" },
	{ 0 },
};

/* Futures that may own their end. */
static const struct special_row specials[] = {
	{ "flume::async::RecvFut", SPECIAL_MEMBERS },
	{ "flume::async::SendFut", SPECIAL_MEMBERS },
	{ 0 },
};

const struct crate_types flume_types = {
	.crate = "flume",
	.path = "flume::",
	.leaves = families,
	.holdings = holdings,
	.specials = specials,
};
