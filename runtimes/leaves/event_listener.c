/*
 * The crate event-listener: futures of an Event, which notifies its listeners in order. Locks and
 * channels of other crates are built on it.
 *
 * A listener is a node of the event's list, and lies in the future (2.x: on the heap). It stays in
 * the list when it is notified, until it is polled or dropped (event-listener 5.4,
 * src/intrusive.rs; 2.5, src/lib.rs).
 */
#include "runtimes/leaves/leaves.h"
#include "runtimes/leaves/leaves_wait.h"
#include "runtimes/ownership/ownership.h"

#define EVENT "event_listener::"

/* 3.x and newer | 2.x */
static const struct queue_layout layout = { "list.head", "next",
	                                    "state.Task.0.Waker.0 | state.Polling.0" };

/* *found false: it was never in a list, or was taken out of it. */
static struct error *event_listener_find_node(struct leaf *l, struct value v, struct value *ret,
                                              bool *found)
{
	/* 2.x | newer */
	static const char path[] = "entry | listener.listener.link";
	struct value place;

	TRY(leaf_place(l, v, path, &place, found));
	if (!*found)
		return NULL;
	TRY(leaf_strip_to(l, place, EVENT "sys::Link", ret, found));
	return *found ? NULL : leaf_strip_to(l, place, EVENT "Entry", ret, found);
}

static struct error *read_node(struct leaf *l, struct value inner, struct value node,
                               struct leaves_listener *ret)
{
	static const char notified_path[] = "state.Notified";
	struct value place;

	ret->listening = true;
	TRY(leaf_place(l, node, notified_path, &place, &ret->notified));
	TRY(leaf_arm_at(l, node, layout.waker));
	return leaf_queue_read(l, inner, node, &layout, &ret->queue);
}

static struct error *read_listener(struct leaf *l, struct value v, struct leaves_listener *ret)
{
	/* 2.x | newer */
	static const char inner_path[] = "inner | listener.event";
	struct value reference, inner, node;
	bool found;

	TRY(leaf_place(l, v, inner_path, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, EVENT "Inner", &inner, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the listener refers to no event");
	ret->event = inner.addr;
	/* Without std the list is an array of entries. */
	if (!leaf_has_path(l, inner.type, layout.first))
		return NULL;
	TRY(event_listener_find_node(l, v, &node, &found));
	if (found)
		return read_node(l, inner, node, ret);
	leaf_arm_none(l);
	return NULL;
}

struct error *leaves_listener_read(struct leaf *l, struct value from, const char *expr,
                                   struct leaves_listener *ret)
{
	struct value v;
	bool found;

	*ret = (struct leaves_listener){ 0 };
	TRY(leaf_place(l, from, expr, &v, &found));
	if (found)
		TRY(leaf_strip_to(l, v, EVENT "EventListener", &v, &found));
	if (found)
		return read_listener(l, v, ret);
	leaf_arm_none(l);
	return NULL;
}

const char *leaves_listener_text(const struct leaf *l, const struct leaves_listener *listener)
{
	if (!listener->event)
		return "never polled";
	if (!listener->listening)
		return "its place in the queue is unknown";
	if (listener->notified)
		return leaf_next(l, "notified");
	return listener->queue.found ? leaf_queue_turn(l, &listener->queue)
	                             : "its place in the queue is unknown";
}

static struct error *decode_listener(struct leaf *l)
{
	struct leaves_listener listener = { 0 };
	bool known;

	TRY(read_listener(l, l->v, &listener));
	TRY(leaves_lock_describe(l, &listener, &known));
	if (known)
		return NULL;
	l->w->object = l->w->primitive = listener.event;
	wait_bool(l, "notified", listener.notified);
	if (listener.queue.found)
		leaf_queue_details(l, &listener.queue);
	wait_phrase(l, "event, %s", leaves_listener_text(l, &listener));
	return NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = EVENT "EventListener", .kind = "notify", .decode = decode_listener },
	{ .type = EVENT "__private::StackListener", .kind = "notify", .decode = decode_listener },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

static const struct ownership_row holdings[] = {
	{ .type = EVENT "Event",
	  .role = HOLDING_WAKER,
	  .kind = "notify",
	  .member = "inner",
	  .of = EVENT "Inner",
	  .part = "",
	  .shared = true },
	{ 0 },
};

const struct crate_types event_listener_types = {
	.crate = "event-listener",
	.path = EVENT,
	.leaves = families,
	.holdings = holdings,
};
