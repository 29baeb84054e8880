/*
 * Decodes waits for permits of tokio's batch semaphore: Mutex, RwLock, Semaphore, OnceCell, and
 * senders of bounded mpsc channels.
 */
#include <inttypes.h>
#include <string.h>

#include "runtimes/future/pool.h"
#include "runtimes/tokio/leaf_sync.h"

enum { MANY = 1 << 20 /* no program has that many readers at once */ };

struct acquire {
	struct value semaphore, node;
	uint64_t wanted, missing, available;
	bool polled, closed;
	struct queue queue;
	const char *turn; /* for the phrase: its place in the queue */
};

static struct error *read_semaphore(struct leaf *l, struct acquire *q)
{
	static const char type[] = "tokio::sync::batch_semaphore::Semaphore";
	struct value reference;
	uint64_t number;
	bool found;

	TRY(leaf_place(l, l->v, sync_path(ACQUIRE_SEMAPHORE), &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, type, &q->semaphore, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the wait refers to no semaphore");
	TRY(leaf_uint(l, q->semaphore, sync_path(SEMAPHORE_PERMITS), &number));
	q->available = number >> PERMIT_SHIFT;
	TRY(leaf_uint(l, q->semaphore, sync_path(SEMAPHORE_CLOSED), &number));
	q->closed = number != 0;
	return NULL;
}

static const char *turn_text(const struct leaf *l, const struct acquire *q)
{
	const char *text;

	if (q->closed)
		return "closed";
	if (!q->polled)
		return "never polled";
	if (!q->queue.found && q->missing)
		return "its place in the queue is unknown";
	/* A waiter in the queue exists. A granted one may be a trace of a future that moved. */
	bool stays = l->d->unpolled && (q->queue.found || !l->d->doubted);
	text = q->queue.found ? leaf_queue_turn(l, &q->queue) : leaf_next(l, "granted");
	return stays ? leaf_text(l, "%s%s", text, leaf_queue_behind(l, &q->queue)) : text;
}

static struct error *leaf_lock_read_acquire(struct leaf *l, struct acquire *q)
{
	struct value list;
	uint64_t number;
	bool found;

	TRY(read_semaphore(l, q));
	TRY(leaf_uint(l, l->v, sync_path(ACQUIRE_WANTED), &q->wanted));
	TRY(leaf_uint(l, l->v, sync_path(ACQUIRE_MISSING), &q->missing));
	TRY(leaf_uint(l, l->v, sync_path(ACQUIRE_QUEUED), &number));
	q->polled = number != 0;
	if (q->missing > q->wanted)
		return error_new(ERR_CORRUPT, "more permits are missing than were wanted");
	TRY(leaf_place(l, l->v, sync_path(ACQUIRE_NODE), &q->node, &found));
	TRY(leaf_place(l, q->semaphore, sync_path(SEMAPHORE_QUEUE), &list, &found));
	if (q->polled)
		TRY(leaf_queue_read(l, list, q->node, &leaf_sync_queue, &q->queue));
	if (q->polled)
		TRY(leaf_arm_at(l, q->node, "waker"));
	else
		leaf_arm_none(l);
	q->turn = turn_text(l, q);
	return NULL;
}

/* Number of its permits that the oldest waiter has been assigned. */
static struct error *given_to_first(const struct leaf *l, const struct acquire *q, uint64_t *ret)
{
	struct value first = { l->v.type, q->queue.first - (q->node.addr - l->v.addr) };
	uint64_t wanted, missing;

	*ret = 0;
	if (!q->queue.first)
		return NULL;
	TRY(leaf_uint(l, first, sync_path(ACQUIRE_WANTED), &wanted));
	TRY(leaf_uint(l, first, sync_path(ACQUIRE_MISSING), &missing));
	if (missing > wanted)
		return error_new(ERR_CORRUPT, "more permits are missing than were wanted");
	*ret = wanted - missing;
	return NULL;
}

static struct error *leaf_lock_describe_mutex(struct leaf *l, struct acquire *q,
                                              const struct owner *o)
{
	(void)o;
	wait_phrase(l, "mutex lock, %s", q->turn);
	return NULL;
}

bool leaf_rwlock_is_write(const char *frame_name)
{
	const char *function = strstr(frame_name, "}::");

	return function && strncmp(function + 3, "write", 5) == 0;
}

enum leaf_rwlock_held leaf_rwlock_held(uint64_t max, uint64_t held)
{
	if (held == 0)
		return RWLOCK_FREE;
	if (held < max)
		return RWLOCK_READ;
	return max < MANY ? RWLOCK_FULL : RWLOCK_WRITTEN;
}

/* The text for the lock's holders, as far as the permits tell. */
static const char *leaf_lock_holders(struct leaf *l, uint64_t max, uint64_t held)
{
	switch (leaf_rwlock_held(max, held)) {
	case RWLOCK_FREE:
		return "free, ";
	case RWLOCK_FULL:
		wait_int(l, "permits_held", (int64_t)held);
		return "held by a writer or by the maximum number of readers, ";
	case RWLOCK_WRITTEN:
		wait_bool(l, "writer", true);
		wait_int(l, "readers", 0);
		return "held by a writer, ";
	case RWLOCK_READ:
		break;
	}
	wait_bool(l, "writer", false);
	wait_int(l, "readers", (int64_t)held);
	return leaf_text(l, "held by %s, ", leaf_count(l, held, "reader"));
}

static struct error *leaf_lock_describe_rwlock(struct leaf *l, struct acquire *q,
                                               const struct owner *o)
{
	bool write = leaf_rwlock_is_write(o->frame_name);
	const char *held = "";
	uint64_t max, given;

	l->w->kind = write ? "rwlock_write" : "rwlock_read";
	TRY(leaf_uint(l, o->object, sync_path(RWLOCK_READERS), &max));
	/* Permits that are neither available nor assigned to the first waiter are held. */
	if (q->queue.found) {
		TRY(given_to_first(l, q, &given));
		if (given + q->available <= max)
			held = leaf_lock_holders(l, max, max - q->available - given);
	}
	wait_phrase(l, "rwlock %s, %s%s", write ? "write" : "read", held, q->turn);
	return NULL;
}

static struct error *leaf_lock_describe_semaphore(struct leaf *l, struct acquire *q,
                                                  const struct owner *o)
{
	struct pool pool;

	(void)o;
	if (pool_find(l, q->semaphore.addr, &pool))
		return pool_describe(l, &pool, q->turn);
	wait_int(l, "permits_wanted", (int64_t)q->wanted);
	wait_int(l, "permits_missing", (int64_t)q->missing);
	wait_int(l, "permits_available", (int64_t)q->available);
	wait_phrase(l, "semaphore, %s wanted, %" PRIu64 " missing, %" PRIu64 " available, %s",
	            leaf_count(l, q->wanted, "permit"), q->missing, q->available, q->turn);
	return NULL;
}

static struct error *leaf_lock_describe_cell(struct leaf *l, struct acquire *q,
                                             const struct owner *o)
{
	uint64_t set;

	TRY(leaf_uint(l, o->object, sync_path(ONCE_CELL_SET), &set));
	wait_bool(l, "value_set", set != 0);
	wait_phrase(l, "once cell, %s, %s",
	            set ? "initialised" : "being initialised by another task", q->turn);
	return NULL;
}

static struct error *leaf_lock_describe_send(struct leaf *l, struct acquire *q,
                                             const struct owner *o)
{
	struct channel ch;
	const char *receiver;

	TRY(leaf_channel_read(l, o->object, &ch));
	wait_int(l, "permits_wanted", (int64_t)q->wanted);
	wait_int(l, "permits_missing", (int64_t)q->missing);
	wait_int(l, "permits_available", (int64_t)q->available);
	l->w->task = waker_task(l->d->c, ch.rx);
	receiver = waker_text(l->d->c, ch.rx);
	if (receiver)
		receiver = leaf_text(l, "received by %s, ", receiver);
	wait_phrase(l, "mpsc send, %s, %s%s", ch.leaf_queue_text, receiver ? receiver : "",
	            q->turn);
	return NULL;
}

static const struct owner_row owners[] = {
	{ "tokio::sync::mutex::", "self", "tokio::sync::mutex::Mutex", "s" },
	{ "tokio::sync::rwlock::", "self", "tokio::sync::rwlock::RwLock", "s" },
	{ "tokio::sync::semaphore::", "self", "tokio::sync::semaphore::Semaphore", "ll_sem" },
	{ "tokio::sync::once_cell::", "self", "tokio::sync::once_cell::OnceCell",
	  "semaphore.ll_sem" },
	/* 1.22 and newer | before */
	{ "tokio::sync::mpsc::bounded::", "self.chan.inner", "tokio::sync::mpsc::chan::Chan",
	  "semaphore.semaphore | semaphore.0" },
	{ 0 },
};

/* Kinds of waits and their descriptions, by row of owners. */
static const struct {
	const char *kind;
	struct error *(*describe)(struct leaf *l, struct acquire *q, const struct owner *o);
} described[] = {
	{ "mutex", leaf_lock_describe_mutex },         { "rwlock", leaf_lock_describe_rwlock },
	{ "semaphore", leaf_lock_describe_semaphore }, { "once_cell", leaf_lock_describe_cell },
	{ "mpsc_send", leaf_lock_describe_send },
};

struct error *leaf_decode_acquire(struct leaf *l)
{
	struct acquire q = { 0 };
	struct owner o;

	TRY(leaf_lock_read_acquire(l, &q));
	l->w->object = l->w->primitive = q.semaphore.addr;
	wait_bool(l, "polled", q.polled);
	/* A waiter that has all its permits is unlinked and woken. */
	wait_bool(l, "granted", q.polled && !q.missing);
	wait_bool(l, "closed", q.closed);
	if (q.queue.found)
		leaf_queue_details(l, &q.queue);
	if (!leaf_owner_find(l, owners, q.semaphore.addr, &o))
		return leaf_lock_describe_semaphore(l, &q, NULL);
	l->w->kind = described[o.row].kind;
	l->w->object = o.object.addr;
	return described[o.row].describe(l, &q, &o);
}
