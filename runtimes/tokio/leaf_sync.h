/*
 * Internals of the leaf_sync family: what the waits of tokio::sync have in common. Nearly all of
 * them use one of two primitives, the batch semaphore and Notify. The futures around the leaf tell
 * which object is waited for (leaf_owner.c); the queue of the primitive tells the order of the
 * waiters (runtimes/future/leaf_queue.h).
 */
#ifndef RUNTIMES_TOKIO_LEAF_SYNC_H
#define RUNTIMES_TOKIO_LEAF_SYNC_H

#include "runtimes/common/waker.h"
#include "runtimes/future/leaf_queue.h"
#include "runtimes/tokio/tokio_leaf.h"

/* ---- bits of the states of primitives ---- */

enum {
	PERMIT_SHIFT = 1,        /* batch_semaphore::Semaphore.permits: bit 0 is CLOSED */
	WATCH_VERSION_SHIFT = 1, /* watch::AtomicState: bit 0 is set when all senders are gone */
};

/* oneshot::State, since 1.0 */
enum {
	RX_TASK_SET = 1,
	VALUE_SENT = 2, /* or the sender was dropped */
	CLOSED = 4,     /* by the receiver, also when it is dropped */
	TX_TASK_SET = 8,
};

/* ---- leaf_owner.c ---- */

/* A kind of object that has a primitive inside. Tables end with a row without frame. */
struct owner_row {
	const char *frame;  /* type name prefix of a future around the leaf */
	const char *member; /* path from that frame to what refers to the object */
	const char *type;   /* the object's type */
	const char *part;   /* path from the object to its primitive */
};

struct owner {
	size_t row;             /* in the table */
	const char *frame_name; /* type of the innermost future around the leaf that refers to the
	                           object */
	struct value frame;     /* its members: of a coroutine those of its current state */
	struct value object;
};

/*
 * Finds the object one of whose parts is, or spans, the primitive at that address; among several
 * the outermost (a OnceCell has a Semaphore). Only tokio's own futures around the leaf are
 * considered: those beyond the user's code do not own the primitive. False when there is none, or
 * it is not readable.
 */
bool leaf_owner_find(const struct leaf *l, const struct owner_row *rows, uint64_t primitive,
                     struct owner *ret);

/*
 * A list of waiters: util::linked_list::LinkedList. They are pushed at the head and served from the
 * tail.
 */
extern const struct queue_layout leaf_sync_queue;

/* ---- leaf_channel.c ---- */

/* A tokio::sync::mpsc::chan::Chan. */
struct channel {
	uint64_t queued, senders, capacity;
	bool bounded;
	bool closed;                 /* by its receiver */
	struct waker rx;             /* the receiver's waker; none while it does not wait */
	const char *leaf_queue_text; /* "2 queued of 8" */
};

/* Reads a channel, makes it the object of the wait and adds its details. */
struct error *leaf_channel_read(struct leaf *l, struct value chan, struct channel *ret) MUST_CHECK;

/*
 * Number of messages between the positions of senders and receiver. False when the positions are
 * inconsistent. The last sender leaves a mark in the slot behind the last message.
 */
bool leaf_channel_queued(uint64_t tail, uint64_t index, uint64_t senders, uint64_t *ret);

/* ---- leaf_lock.c ---- */

/* State of an RwLock of which that many permits are taken: a reader takes one, a writer all. */
enum leaf_rwlock_held {
	RWLOCK_FREE,
	RWLOCK_READ,
	RWLOCK_WRITTEN,
	RWLOCK_FULL, /* by a writer, or by as many readers as there may be */
};
enum leaf_rwlock_held leaf_rwlock_held(uint64_t max, uint64_t held);

/*
 * Does a future of an RwLock want to write? Decided by the name of its function:
 * "tokio::sync::rwlock::{impl#3}::write_owned::{async_fn_env#0}<u8>".
 */
bool leaf_rwlock_is_write(const char *frame_name);

/* ---- the decode functions, by file ---- */

leaf_fn leaf_decode_acquire;                                      /* leaf_lock.c */
leaf_fn leaf_decode_notified, leaf_decode_cancellation;           /* leaf_notify.c */
leaf_fn leaf_decode_mpsc_rx, leaf_decode_broadcast;               /* leaf_channel.c */
leaf_fn leaf_decode_oneshot_receiver, leaf_decode_oneshot_sender; /* leaf_channel.c */

/* Rows of leaf_sync_layout. */
enum {
	ACQUIRE_SEMAPHORE,
	ACQUIRE_NODE,
	ACQUIRE_WANTED,
	ACQUIRE_MISSING,
	ACQUIRE_QUEUED,
	SEMAPHORE_PERMITS,
	SEMAPHORE_CLOSED,
	SEMAPHORE_QUEUE,
	RWLOCK_READERS,
	ONCE_CELL_SET,
	NOTIFIED_NOTIFY,
	OWNED_NOTIFIED_NOTIFY,
	NOTIFIED_WAITER,
	NOTIFIED_WAKER,
	NOTIFIED_NUMBER,
	NOTIFIED_SOME,
	NOTIFY_QUEUE,
	CHAN_OF_RX,
	CHAN_TAIL,
	CHAN_INDEX,
	CHAN_SENDERS,
	CHAN_CLOSED,
	CHAN_WAKER,
	CHAN_BOUND,
	WATCH_STATE,
	WATCH_RECEIVERS,
	WATCH_SENDERS,
	BROADCAST_SHARED,
	BROADCAST_NEXT,
	BROADCAST_WAITER,
	BROADCAST_TAIL,
	BROADCAST_SENDERS,
	BROADCAST_RECEIVERS,
	BROADCAST_CLOSED,
	BROADCAST_BUFFER,
	BARRIER_ARRIVED,
	BARRIER_WANTED,
	BARRIER_GENERATION,
	SET_ONCE_SET,
	CANCELLATION_TOKEN,
	CANCELLATION_WAKER,
	CANCELLATION_SET,
	ONESHOT_OF_RECEIVER,
	ONESHOT_OF_SENDER,
	ONESHOT_STATE,
	ONESHOT_VALUE,
	ONESHOT_TX_TASK,
	ONESHOT_RX_TASK,
	NLEAF_SYNC_PATHS,
};

/* The path of such a row; a constant of the program. */
static inline const char *sync_path(int row)
{
	return leaf_sync_layout[row].path;
}

#endif
