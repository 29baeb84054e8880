/* Both ends of tokio's oneshot channel. */
#include "runtimes/tokio/leaf_sync.h"

/* oneshot::State, since 1.0 */
enum {
	RX_TASK_SET = 1,
	VALUE_SENT = 2, /* or the sender was dropped */
	CLOSED = 4,     /* by the receiver, also when it is dropped */
	TX_TASK_SET = 8,
};

struct oneshot {
	uint64_t state;
	bool value;          /* one is there that was not taken */
	struct waker rx, tx; /* who waits for the value, for the receiver to close */
};

static struct error *read_waker(struct leaf *l, struct value inner, int row, struct waker *ret)
{
	struct value place;
	bool found;

	TRY(leaf_place(l, inner, sync_path(row), &place, &found));
	return found ? waker_read(l->d->c, place, ret) : NULL;
}

/* *found false: its end of the channel was used up. */
static struct error *read_oneshot(struct leaf *l, int row, struct oneshot *ret, bool *found)
{
	struct value inner, value;
	bool is_one;

	*ret = (struct oneshot){ 0 };
	TRY(leaf_place(l, l->v, sync_path(row), &inner, found));
	if (!*found)
		return NULL;
	TRY(leaf_strip_to(l, inner, "tokio::sync::oneshot::Inner", &inner, &is_one));
	if (!is_one)
		return error_new(ERR_CORRUPT, "this end refers to no channel");
	l->w->object = l->w->primitive = inner.addr;
	TRY(leaf_uint(l, inner, sync_path(ONESHOT_STATE), &ret->state));
	/* Of an Infallible there is never one. */
	if (leaf_has_path(l, inner.type, sync_path(ONESHOT_VALUE)))
		TRY(leaf_place(l, inner, sync_path(ONESHOT_VALUE), &value, &ret->value));
	/* The places of the wakers are not initialised before. */
	if (ret->state & RX_TASK_SET)
		TRY(read_waker(l, inner, ONESHOT_RX_TASK, &ret->rx));
	if (ret->state & TX_TASK_SET)
		TRY(read_waker(l, inner, ONESHOT_TX_TASK, &ret->tx));
	return NULL;
}

struct error *leaf_decode_oneshot_receiver(struct leaf *l)
{
	struct oneshot o;
	bool found;

	TRY(read_oneshot(l, ONESHOT_OF_RECEIVER, &o, &found));
	if (!found) {
		wait_phrase(l, "oneshot receive, received already");
		return NULL;
	}
	/* Who sends does not hold its end any longer. */
	bool alive = !(o.state & VALUE_SENT);
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
	struct oneshot o;
	bool found;

	TRY(read_oneshot(l, ONESHOT_OF_SENDER, &o, &found));
	if (!found) {
		wait_phrase(l, "oneshot close, sent already");
		return NULL;
	}
	bool alive = !(o.state & CLOSED);
	l->registered = o.tx.vtable && o.tx.data == l->d->waker;
	l->vacant = !o.tx.vtable;
	l->w->task = waker_task(l->d->c, o.rx);
	wait_bool(l, "receiver_alive", alive);
	wait_bool(l, "polled", o.state & TX_TASK_SET);
	const char *receiver = waker_text(l->d->c, o.rx);
	wait_phrase(l, "oneshot close, %s%s%s", alive ? "receiver alive" : "it is closed",
	            alive && receiver ? " in " : "", alive && receiver ? receiver : "");
	return NULL;
}
