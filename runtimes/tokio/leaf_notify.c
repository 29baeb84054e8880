/*
 * Decodes waits for a tokio Notify: the user's own, or one inside watch, Barrier, mpsc and others.
 */
#include <inttypes.h>

#include "runtimes/future/pool.h"
#include "runtimes/tokio/leaf_sync.h"

static struct error *describe_mpsc_closed(struct leaf *l, const struct owner *o)
{
	struct channel ch;

	TRY(leaf_channel_read(l, o->object, &ch));
	wait_bool(l, "closed", ch.closed);
	wait_phrase(l, "mpsc close, %s, %s", ch.closed ? "it is closed" : "receiver alive",
	            ch.leaf_queue_text);
	return NULL;
}

static struct error *watch_details(struct leaf *l, struct value shared, uint64_t *state,
                                   uint64_t *receivers)
{
	uint64_t senders;
	bool found;

	TRY(leaf_uint(l, shared, sync_path(WATCH_STATE), state));
	TRY(leaf_uint(l, shared, sync_path(WATCH_RECEIVERS), receivers));
	TRY(leaf_optional_uint(l, shared, sync_path(WATCH_SENDERS), &senders, &found));
	wait_int(l, "version", (int64_t)(*state >> WATCH_VERSION_SHIFT));
	wait_bool(l, "closed", *state & 1);
	wait_int(l, "receivers", (int64_t)*receivers);
	if (found)
		wait_int(l, "senders", (int64_t)senders);
	return NULL;
}

static struct error *describe_watch(struct leaf *l, const struct owner *o)
{
	uint64_t state, receivers, seen;
	bool found;

	TRY(watch_details(l, o->object, &state, &receivers));
	/* of changed_impl(), 1.37 and newer | of changed() */
	TRY(leaf_optional_uint(l, o->frame, "version.0 | self.version.0", &seen, &found));
	if (found)
		wait_int(l, "version_seen", (int64_t)(seen >> WATCH_VERSION_SHIFT));
	const char *senders = state & 1 ? "no sender left" : "sender alive";
	if (!found)
		wait_phrase(l, "watch change, %s", senders);
	else if (seen >> WATCH_VERSION_SHIFT == state >> WATCH_VERSION_SHIFT)
		wait_phrase(l, "watch change, version %" PRIu64 " seen, %s",
		            seen >> WATCH_VERSION_SHIFT, senders);
	else
		wait_phrase(l, "watch change, version %" PRIu64 " seen, %" PRIu64 " is there, %s",
		            seen >> WATCH_VERSION_SHIFT, state >> WATCH_VERSION_SHIFT, senders);
	return NULL;
}

static struct error *describe_watch_closed(struct leaf *l, const struct owner *o)
{
	uint64_t state, receivers;

	TRY(watch_details(l, o->object, &state, &receivers));
	wait_phrase(l, "watch close, %s alive", leaf_count(l, receivers, "receiver"));
	return NULL;
}

static struct error *describe_broadcast_closed(struct leaf *l, const struct owner *o)
{
	uint64_t receivers;

	TRY(leaf_uint(l, o->object, sync_path(BROADCAST_RECEIVERS), &receivers));
	wait_int(l, "receivers", (int64_t)receivers);
	wait_phrase(l, "broadcast close, %s alive", leaf_count(l, receivers, "receiver"));
	return NULL;
}

static struct error *leaf_notify_describe_barrier(struct leaf *l, const struct owner *o)
{
	uint64_t arrived, wanted, now, own;
	bool found;

	TRY(leaf_uint(l, o->object, sync_path(BARRIER_ARRIVED), &arrived));
	TRY(leaf_uint(l, o->object, sync_path(BARRIER_WANTED), &wanted));
	TRY(leaf_uint(l, o->object, sync_path(BARRIER_GENERATION), &now));
	/* of wait_internal(): the generation at its arrival */
	TRY(leaf_optional_uint(l, o->frame, "generation", &own, &found));
	wait_int(l, "wanted", (int64_t)wanted);
	if (!found || own > now)
		return error_new(ERR_CORRUPT, "the wait is for no round of its barrier");
	bool complete = own < now;
	wait_bool(l, "complete", complete);
	wait_int(l, "arrived", (int64_t)(complete ? wanted : arrived));
	if (complete)
		wait_phrase(l, "barrier, all %" PRIu64 " arrived", wanted);
	else
		wait_phrase(l, "barrier, %" PRIu64 " of %" PRIu64 " arrived", arrived, wanted);
	return NULL;
}

static struct error *describe_set_once(struct leaf *l, const struct owner *o)
{
	uint64_t set;

	TRY(leaf_uint(l, o->object, sync_path(SET_ONCE_SET), &set));
	wait_bool(l, "value_set", set != 0);
	wait_phrase(l, "set once, %s", set ? "set" : "not set yet");
	return NULL;
}

static const struct owner_row owners[] = {
	{ "tokio::sync::mpsc::chan::", "self.inner", "tokio::sync::mpsc::chan::Chan",
	  "notify_rx_closed" },
	/* of changed_impl(), 1.37 and newer | of changed() */
	{ "tokio::sync::watch::", "shared | self.shared", "tokio::sync::watch::Shared",
	  "notify_rx" },
	{ "tokio::sync::watch::", "self.shared", "tokio::sync::watch::Shared", "notify_tx" },
	{ "tokio::sync::broadcast::", "self.shared", "tokio::sync::broadcast::Shared",
	  "notify_last_rx_drop" },
	{ "tokio::sync::barrier::", "self", "tokio::sync::barrier::Barrier",
	  "wait.shared.notify_rx" },
	{ "tokio::sync::set_once::", "self", "tokio::sync::set_once::SetOnce", "notify" },
	{ 0 },
};

/* Kinds of waits and their descriptions, by row of owners. */
static const struct {
	const char *kind;
	struct error *(*describe)(struct leaf *l, const struct owner *o);
} described[] = {
	{ "mpsc_closed", describe_mpsc_closed },
	{ "watch", describe_watch },
	{ "watch_closed", describe_watch_closed },
	{ "broadcast_closed", describe_broadcast_closed },
	{ "barrier", leaf_notify_describe_barrier },
	{ "set_once", describe_set_once },
};

/* Did notify_one() or notify_waiters() wake it? */
static struct error *was_notified(struct leaf *l, bool *ret)
{
	struct value some;
	uint64_t number;
	bool found;

	*ret = false;
	TRY(leaf_optional_uint(l, l->v, sync_path(NOTIFIED_NUMBER), &number, &found));
	if (!found)
		return leaf_place(l, l->v, sync_path(NOTIFIED_SOME), &some, ret);
	*ret = number != 0;
	return NULL;
}

/* Describes a wait at a pool's Notify: the task that is notified tries to take a connection. */
static struct error *leaf_notify_describe_pool(struct leaf *l, struct pool *pool, struct value list,
                                               struct value node, bool notified)
{
	const char *turn = "its place in the queue is unknown";
	struct queue q;

	TRY(leaf_queue_read(l, list, node, &leaf_sync_queue, &q));
	wait_bool(l, "polled", notified || q.found);
	wait_bool(l, "granted", notified);
	if (q.found)
		leaf_queue_details(l, &q);
	if (q.found)
		turn = leaf_queue_turn(l, &q);
	else if (notified)
		turn = leaf_next(l, "notified");
	return pool_describe(l, pool, turn);
}

/* Describes a wait at a user's Notify, which wakes its waiters one by one. */
static struct error *describe_notify(struct leaf *l, struct value notify)
{
	struct value list, node;
	bool found, has_list, notified;
	struct pool pool;
	struct queue q;

	TRY(leaf_place(l, l->v, sync_path(NOTIFIED_WAITER), &node, &found));
	TRY(leaf_strip_to(l, node, "tokio::sync::notify::Waiter", &node, &found));
	TRY(leaf_place(l, notify, sync_path(NOTIFY_QUEUE), &list, &has_list));
	if (!found || !has_list)
		return error_new(ERR_CORRUPT, "the wait has no place in a queue");
	TRY(was_notified(l, &notified));
	if (pool_find(l, notify.addr, &pool))
		return leaf_notify_describe_pool(l, &pool, list, node, notified);
	wait_bool(l, "notified", notified);
	TRY(leaf_queue_read(l, list, node, &leaf_sync_queue, &q));
	if (q.found)
		leaf_queue_details(l, &q);
	wait_phrase(l, "notify, %s",
	            notified  ? leaf_next(l, "notified")
	            : q.found ? leaf_queue_turn(l, &q)
	            : q.whole ? "not in its queue"
	                      : "its place in the queue is unknown");
	return NULL;
}

struct error *leaf_decode_notified(struct leaf *l)
{
	static const char type[] = "tokio::sync::notify::Notify";
	struct value reference, notify;
	struct owner o;
	bool found;

	TRY(leaf_place(l, l->v, sync_path(NOTIFIED_NOTIFY), &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, type, &notify, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the wait refers to no Notify");
	l->w->object = l->w->primitive = notify.addr;
	TRY(leaf_arm_at(l, l->v, sync_path(NOTIFIED_WAKER)));
	if (!leaf_owner_find(l, owners, notify.addr, &o))
		return describe_notify(l, notify);
	l->w->kind = described[o.row].kind;
	l->w->object = l->w->primitive = o.object.addr;
	return described[o.row].describe(l, &o);
}

/*
 * Decodes the futures of a CancellationToken. Their Notified (type-erased in the owned one) is not
 * decoded: the state of the token matters.
 */
struct error *leaf_decode_cancellation(struct leaf *l)
{
	static const char type[] = "tokio_util::sync::cancellation_token::tree_node::TreeNode";
	struct value token, node;
	uint64_t set;
	bool found;

	TRY(leaf_place(l, l->v, sync_path(CANCELLATION_TOKEN), &token, &found));
	if (found)
		TRY(leaf_strip_to(l, token, type, &node, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the wait refers to no token");
	l->w->object = l->w->primitive = node.addr;
	TRY(leaf_uint(l, node, sync_path(CANCELLATION_SET), &set));
	TRY(leaf_arm_at(l, l->v, sync_path(CANCELLATION_WAKER)));
	wait_bool(l, "cancelled", set != 0);
	wait_phrase(l, "cancellation token, %s", set ? "cancelled" : "not cancelled");
	return NULL;
}
