/*
 * Parts that the leaves of crates that are no runtime have in common: channels with two ends, and
 * listeners of the crate event-listener, on which many crates are built.
 */
#ifndef RUNTIMES_LEAVES_LEAVES_WAIT_H
#define RUNTIMES_LEAVES_LEAVES_WAIT_H

#include "runtimes/future/leaf_queue.h"

/* ---- channels, which may have several receivers ---- */

struct leaves_channel {
	const char *name; /* for the phrase: "flume" */
	uint64_t queued, senders, receivers;
	uint64_t capacity; /* of messages; valid if bounded */
	uint64_t weak;     /* references that may become another end */
	bool bounded, closed;
	bool closable; /* any end may close it, not only the last one that is dropped */
	bool granted;  /* the wait is over: a message was taken, or put there */
};

/*
 * Adds the details of a wait at the receiving or sending end, of kind channel_recv or channel_send,
 * and sets the phrase.
 */
void leaves_channel_recv(struct leaf *l, const struct leaves_channel *ch);
void leaves_channel_send(struct leaf *l, const struct leaves_channel *ch);
/* leaves_channel_send() for a sender that waits until the channel is closed: channel_closed. */
void leaves_channel_closed(struct leaf *l, const struct leaves_channel *ch);
/* "2 queued of 8"; in the snapshot's arena. */
const char *leaves_channel_queue(const struct leaf *l, const struct leaves_channel *ch);

/* Adds the details of a wait for a part of an HTTP body, http_body, and sets the phrase. */
void leaves_describe_body(const struct leaf *l, bool has_part, bool open);

/* ---- event_listener.c ---- */

/* A listener of an Event. */
struct leaves_listener {
	uint64_t event; /* address of what the Event and its listeners share; 0: there is none */
	bool listening; /* it is in the event's queue */
	bool notified;  /* and it was notified; polling it will take it out of the queue */
	struct queue queue; /* its place; notified listeners are before the others */
};

/*
 * Reads an EventListener, or an Option of one, at the end of a path, and fills w->armed from its
 * waker. An empty Option is no error.
 */
struct error *leaves_listener_read(struct leaf *l, struct value from, const char *expr,
                                   struct leaves_listener *ret) MUST_CHECK;
/* Text for the phrase: "first in its queue", "notified, about to resume", "never polled". */
const char *leaves_listener_text(const struct leaf *l, const struct leaves_listener *listener);

/* ---- async_lock.c ---- */

/*
 * If an async function of async-lock's waits at the listener l: makes it the wait of that lock or
 * cell and sets the phrase. *known false: it is another listener.
 */
struct error *leaves_lock_describe(struct leaf *l, const struct leaves_listener *listener,
                                   bool *known) MUST_CHECK;

#endif
