/*
 * Decodes waits at the receiving ends of tokio's mpsc and broadcast channels, and at both ends of
 * its oneshot.
 */
#include <inttypes.h>

#include "runtimes/tokio/leaf_sync.h"

bool leaf_channel_queued(uint64_t tail, uint64_t index, uint64_t senders, uint64_t *ret)
{
	/* Positions may wrap, but a difference this large is inconsistent. */
	if (tail - index > INT64_MAX)
		return false;
	*ret = tail - index;
	if (senders == 0 && *ret)
		--*ret;
	return true;
}

static struct error *leaf_channel_read_queued(struct leaf *l, struct value chan,
                                              struct channel *ret)
{
	uint64_t tail, index;

	TRY(leaf_uint(l, chan, sync_path(CHAN_TAIL), &tail));
	TRY(leaf_uint(l, chan, sync_path(CHAN_INDEX), &index));
	if (!leaf_channel_queued(tail, index, ret->senders, &ret->queued))
		return error_new(ERR_CORRUPT, "the channel's receiver is ahead of its senders");
	return NULL;
}

/* 1.34 has no such count, 1.54 has it. */
static const char weak_path[] = "tx_weak_count";

struct error *leaf_channel_read(struct leaf *l, struct value chan, struct channel *ret)
{
	struct value place;
	uint64_t number, weak;
	bool found;

	*ret = (struct channel){ 0 };
	l->w->object = chan.addr;
	TRY(leaf_uint(l, chan, sync_path(CHAN_SENDERS), &ret->senders));
	TRY(leaf_channel_read_queued(l, chan, ret));
	TRY(leaf_uint(l, chan, sync_path(CHAN_CLOSED), &number));
	ret->closed = number != 0;
	TRY(leaf_optional_uint(l, chan, sync_path(CHAN_BOUND), &ret->capacity, &ret->bounded));
	TRY(leaf_place(l, chan, sync_path(CHAN_WAKER), &place, &found));
	TRY(waker_read(l->d->c, place, &ret->rx));
	wait_int(l, "queued", (int64_t)ret->queued);
	wait_int(l, "senders", (int64_t)ret->senders);
	TRY(leaf_optional_uint(l, chan, weak_path, &weak, &found));
	if (found && weak)
		wait_int(l, "weak_senders", (int64_t)weak);
	if (ret->bounded)
		wait_int(l, "capacity", (int64_t)ret->capacity);
	ret->leaf_queue_text = leaf_text(l, "%" PRIu64 " queued", ret->queued);
	if (ret->bounded)
		ret->leaf_queue_text =
			leaf_text(l, "%s of %" PRIu64, ret->leaf_queue_text, ret->capacity);
	return NULL;
}

/*
 * Counts weak senders where the channel has no count of them: they are the references to it beyond
 * those of the senders and the receiver.
 */
static struct error *count_weak(struct leaf *l, struct value chan, uint64_t senders)
{
	static const char references_path[] = "inner.strong";
	uint64_t references;
	bool found;

	if (leaf_has_path(l, chan.type, weak_path))
		return NULL;
	TRY(leaf_optional_uint(l, l->v, references_path, &references, &found));
	if (found && references > senders + 1)
		wait_int(l, "weak_senders", (int64_t)(references - senders - 1));
	return NULL;
}

/* w is the waker that is stored in the channel for this end. */
static void leaf_channel_arm(struct leaf *l, struct waker w)
{
	l->w->armed = waker_registered_in(l->d->c, w, l->d->waker);
	l->vacant = !w.vtable;
}

struct error *leaf_decode_mpsc_rx(struct leaf *l)
{
	struct value chan;
	struct channel ch;
	bool found;

	TRY(leaf_place(l, l->v, sync_path(CHAN_OF_RX), &chan, &found));
	if (found)
		TRY(leaf_strip_to(l, chan, "tokio::sync::mpsc::chan::Chan", &chan, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the receiver refers to no channel");
	l->w->primitive = chan.addr;
	TRY(leaf_channel_read(l, chan, &ch));
	TRY(count_weak(l, chan, ch.senders));
	wait_bool(l, "closed", ch.closed);
	leaf_channel_arm(l, ch.rx);
	const char *closed = ch.closed ? ", closed by the receiver" : "";
	if (ch.senders)
		wait_phrase(l, "mpsc receive, %s, %s alive%s", ch.leaf_queue_text,
		            leaf_count(l, ch.senders, "sender"), closed);
	else
		wait_phrase(l, "mpsc receive, %s, no sender left%s", ch.leaf_queue_text, closed);
	return NULL;
}

struct leaf_channel_broadcast {
	uint64_t senders, receivers, closed, lag;
};

static struct error *read_broadcast(struct leaf *l, struct value shared,
                                    struct leaf_channel_broadcast *ret)
{
	uint64_t tail, next;

	TRY(leaf_uint(l, shared, sync_path(BROADCAST_SENDERS), &ret->senders));
	TRY(leaf_uint(l, shared, sync_path(BROADCAST_RECEIVERS), &ret->receivers));
	TRY(leaf_uint(l, shared, sync_path(BROADCAST_CLOSED), &ret->closed));
	TRY(leaf_uint(l, shared, sync_path(BROADCAST_TAIL), &tail));
	TRY(leaf_uint(l, l->v, sync_path(BROADCAST_NEXT), &next));
	ret->lag = tail - next;
	return NULL;
}

struct error *leaf_decode_broadcast(struct leaf *l)
{
	struct value reference, shared, place;
	struct leaf_channel_broadcast b;
	struct slice buffer;
	bool found;

	TRY(leaf_place(l, l->v, sync_path(BROADCAST_SHARED), &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, "tokio::sync::broadcast::Shared", &shared, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the receiver refers to no channel");
	l->w->object = l->w->primitive = shared.addr;
	TRY(leaf_arm_at(l, l->v, sync_path(BROADCAST_WAITER)));
	TRY(read_broadcast(l, shared, &b));
	TRY(leaf_place(l, shared, sync_path(BROADCAST_BUFFER), &place, &found));
	TRY(value_slice(l->d->c->in->target, place, &buffer));
	wait_int(l, "lag", (int64_t)b.lag);
	wait_int(l, "capacity", (int64_t)buffer.count);
	wait_int(l, "senders", (int64_t)b.senders);
	wait_int(l, "receivers", (int64_t)b.receivers);
	wait_bool(l, "closed", b.closed != 0);
	const char *senders = b.senders
	                              ? leaf_text(l, "%s alive", leaf_count(l, b.senders, "sender"))
	                              : "no sender left";
	if (b.lag > buffer.count)
		wait_phrase(l,
		            "broadcast receive, %" PRIu64 " behind, %" PRIu64 " of them lost, %s",
		            b.lag, b.lag - buffer.count, senders);
	else
		wait_phrase(l, "broadcast receive, %" PRIu64 " behind, %s", b.lag, senders);
	return NULL;
}

/* ---- both ends of the oneshot channel ---- */

struct leaf_channel_oneshot {
	uint64_t state;
	bool value;          /* a value is there and not taken */
	struct waker rx, tx; /* of the receiver, of the sender */
};

static struct error *leaf_channel_read_waker(struct leaf *l, struct value inner, int row,
                                             struct waker *ret)
{
	struct value place;
	bool found;

	TRY(leaf_place(l, inner, sync_path(row), &place, &found));
	return found ? waker_read(l->d->c, place, ret) : NULL;
}

/* *found false: this end of the channel was consumed. */
static struct error *leaf_channel_read_oneshot(struct leaf *l, int row,
                                               struct leaf_channel_oneshot *ret, bool *found)
{
	struct value inner, value;
	bool is_one;

	*ret = (struct leaf_channel_oneshot){ 0 };
	TRY(leaf_place(l, l->v, sync_path(row), &inner, found));
	if (!*found)
		return NULL;
	TRY(leaf_strip_to(l, inner, "tokio::sync::oneshot::Inner", &inner, &is_one));
	if (!is_one)
		return error_new(ERR_CORRUPT, "this end refers to no channel");
	l->w->object = l->w->primitive = inner.addr;
	TRY(leaf_uint(l, inner, sync_path(ONESHOT_STATE), &ret->state));
	/* A channel of Infallible has no value. */
	if (leaf_has_path(l, inner.type, sync_path(ONESHOT_VALUE)))
		TRY(leaf_place(l, inner, sync_path(ONESHOT_VALUE), &value, &ret->value));
	/* The wakers are uninitialised until their bit is set. */
	if (ret->state & RX_TASK_SET)
		TRY(leaf_channel_read_waker(l, inner, ONESHOT_RX_TASK, &ret->rx));
	if (ret->state & TX_TASK_SET)
		TRY(leaf_channel_read_waker(l, inner, ONESHOT_TX_TASK, &ret->tx));
	return NULL;
}

struct error *leaf_decode_oneshot_receiver(struct leaf *l)
{
	struct leaf_channel_oneshot o;
	bool found;

	TRY(leaf_channel_read_oneshot(l, ONESHOT_OF_RECEIVER, &o, &found));
	if (!found) {
		wait_phrase(l, "oneshot receive, received already");
		return NULL;
	}
	/* Sending consumes the sender. */
	bool alive = !(o.state & VALUE_SENT);
	leaf_channel_arm(l, o.rx);
	l->w->task = waker_task(l->d->c, o.tx);
	wait_bool(l, "sender_alive", alive);
	wait_bool(l, "value_there", !alive && o.value);
	wait_bool(l, "closed", o.state & CLOSED);
	wait_bool(l, "polled", o.state & RX_TASK_SET);
	const char *sender = waker_text(l->d->c, o.tx);
	wait_phrase(l, "oneshot receive, %s%s%s",
	            alive     ? "sender alive"
	            : o.value ? "the value is there"
	                      : "sender gone without a value",
	            alive && sender ? " in " : "", alive && sender ? sender : "");
	return NULL;
}

struct error *leaf_decode_oneshot_sender(struct leaf *l)
{
	struct leaf_channel_oneshot o;
	bool found;

	TRY(leaf_channel_read_oneshot(l, ONESHOT_OF_SENDER, &o, &found));
	if (!found) {
		wait_phrase(l, "oneshot close, sent already");
		return NULL;
	}
	bool alive = !(o.state & CLOSED);
	leaf_channel_arm(l, o.tx);
	l->w->task = waker_task(l->d->c, o.rx);
	wait_bool(l, "receiver_alive", alive);
	wait_bool(l, "polled", o.state & TX_TASK_SET);
	const char *receiver = waker_text(l->d->c, o.rx);
	wait_phrase(l, "oneshot close, %s%s%s", alive ? "receiver alive" : "it is closed",
	            alive && receiver ? " in " : "", alive && receiver ? receiver : "");
	return NULL;
}
