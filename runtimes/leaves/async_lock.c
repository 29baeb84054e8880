/*
 * The crate async-lock: locks on event-listener (async-lock 3.5 and 2.8, src/mutex.rs, src/rwlock/,
 * src/semaphore.rs, src/barrier.rs). A lock that is released notifies the first listener; a future
 * that comes later may take the lock before that one is polled.
 */
#include <inttypes.h>

#include "debugger/base/str.h"
#include "runtimes/holding/holding.h"
#include "runtimes/leaves/leaves.h"
#include "runtimes/leaves/leaves_wait.h"

#define LOCK      "async_lock::"
#define MUTEX     LOCK "mutex::"
#define RWLOCK    LOCK "rwlock::"
#define FUTURES   RWLOCK "futures::"
#define RAW       RWLOCK "raw::RawRwLock"
#define SEMAPHORE LOCK "semaphore::"

enum {
	MUTEX_LOCKED = 1,
	RWLOCK_WRITER = 1, /* has it, or waits for the readers that have it */
	RWLOCK_SHIFT = 1,  /* above it: the number of readers */
};

/* ---- Mutex ---- */

struct mutex_wait {
	struct value mutex;
	bool locked;
	struct leaves_listener listener;
};

/* Reads the AcquireSlow at the end of a path. *found false: it was not polled. */
static struct error *read_acquire(struct leaf *l, struct value from, const char *expr,
                                  struct mutex_wait *ret, bool *found)
{
	static const char mutex_path[] = "mutex", listener_path[] = "listener";
	struct value slow, reference;

	TRY(leaf_place(l, from, expr, &slow, found));
	if (*found)
		TRY(leaf_strip_to(l, slow, MUTEX "AcquireSlow", &slow, found));
	if (!*found)
		return NULL;
	TRY(leaf_place(l, slow, mutex_path, &reference, found));
	if (*found)
		TRY(leaf_strip_to(l, reference, MUTEX "Mutex", &ret->mutex, found));
	return *found ? leaves_listener_read(l, slow, listener_path, &ret->listener) : NULL;
}

/* Adds what is known of the mutex at which a future waits. */
static struct error *describe_mutex(struct leaf *l, struct mutex_wait *m)
{
	static const char state_path[] = "state";
	struct value state;
	uint64_t number;
	bool found;

	TRY(leaf_place(l, m->mutex, state_path, &state, &found));
	TRY(leaf_uint(l, m->mutex, state_path, &number));
	m->locked = number & MUTEX_LOCKED;
	l->w->object = m->mutex.addr;
	l->w->primitive = state.addr;
	wait_bool(l, "polled", m->listener.event != 0);
	wait_bool(l, "granted", m->listener.notified && !m->locked);
	if (m->listener.queue.found)
		leaf_queue_details(l, &m->listener.queue);
	return NULL;
}

/* The paths lead to the AcquireSlow of a future that was polled, and to the mutex of another. */
static struct error *decode_mutex(struct leaf *l, const char *slow_path, const char *mutex_path)
{
	struct mutex_wait m = { 0 };
	struct value reference;
	bool found;

	TRY(read_acquire(l, l->v, slow_path, &m, &found));
	if (!found) {
		TRY(leaf_place(l, l->v, mutex_path, &reference, &found));
		if (found)
			TRY(leaf_strip_to(l, reference, MUTEX "Mutex", &m.mutex, &found));
	}
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no mutex");
	TRY(describe_mutex(l, &m));
	wait_phrase(l, "async-lock mutex lock, %s", leaves_listener_text(l, &m.listener));
	return NULL;
}

static struct error *decode_lock(struct leaf *l)
{
	static const char slow_path[] = "acquire_slow", mutex_path[] = "mutex";

	return decode_mutex(l, slow_path, mutex_path);
}

static struct error *decode_lock_arc(struct leaf *l)
{
	/* 3.x | 2.x */
	static const char slow_path[] = "AcquireSlow.inner | AcquireSlow.0",
			  mutex_path[] = "Unpolled.mutex | Unpolled.0";

	return decode_mutex(l, slow_path, mutex_path);
}

/* ---- RwLock ---- */

struct rwlock {
	uint64_t readers;
	bool writer;
};

static struct error *read_rwlock(struct leaf *l, struct rwlock *ret)
{
	static const char lock_path[] = "raw.lock", state_path[] = "state";
	struct value reference, lock, place;
	uint64_t state;
	bool found;

	TRY(leaf_place(l, l->v, lock_path, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, RAW, &lock, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no lock");
	TRY(leaf_place(l, lock, state_path, &place, &found));
	TRY(leaf_uint(l, lock, state_path, &state));
	ret->writer = state & RWLOCK_WRITER;
	ret->readers = state >> RWLOCK_SHIFT;
	l->w->object = lock.addr;
	l->w->primitive = place.addr;
	return NULL;
}

/* The text for who has the lock. A writer that waits for readers does not have it. */
static const char *holders(struct leaf *l, const struct rwlock *lock)
{
	bool written = lock->writer && !lock->readers;

	wait_bool(l, "writer", written);
	wait_int(l, "readers", (int64_t)lock->readers);
	if (written)
		return "held by a writer, ";
	if (!lock->readers)
		return "free, ";
	return arena_printf(l->d->c->a, "held by %s, ", leaf_count(l, lock->readers, "reader"));
}

/* A reader waits while a writer has the lock, or waits for earlier readers. */
static struct error *decode_read(struct leaf *l)
{
	static const char listener_path[] = "raw.listener";
	struct leaves_listener listener;
	struct rwlock lock;

	TRY(read_rwlock(l, &lock));
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	const char *held = holders(l, &lock);
	bool behind = lock.writer && lock.readers;
	wait_bool(l, "polled", listener.event != 0);
	wait_bool(l, "granted", listener.notified && !lock.writer);
	/* The writer is first; readers have no order among each other. */
	if (behind && listener.event)
		wait_int(l, "position", 2);
	wait_phrase(l, "async-lock rwlock read, %s%s", held,
	            behind ? "behind a writer that waits for them"
	                   : leaves_listener_text(l, &listener));
	return NULL;
}

/* Waits for the mutex that writers and upgradable readers share; to is what it will do then. */
static struct error *describe_acquiring(struct leaf *l, struct value lock_future, const char *to)
{
	static const char slow_path[] = "acquire_slow";
	struct mutex_wait m = { 0 };
	struct rwlock lock;
	bool found;

	TRY(read_rwlock(l, &lock));
	TRY(read_acquire(l, lock_future, slow_path, &m, &found));
	wait_bool(l, "polled", found && m.listener.event);
	const char *held = holders(l, &lock);
	wait_phrase(l, "async-lock rwlock %s, %s%s", to, held,
	            leaves_listener_text(l, &m.listener));
	return NULL;
}

static struct error *decode_upgradable(struct leaf *l)
{
	static const char acquire_path[] = "raw.acquire";
	struct value lock;
	bool found;

	TRY(leaf_place(l, l->v, acquire_path, &lock, &found));
	return found ? describe_acquiring(l, lock, "upgradable read")
	             : error_new(ERR_CORRUPT, "the future waits for nothing");
}

/* Waits for the readers that have the lock; no later one gets it. */
static struct error *describe_first_writer(struct leaf *l, const char *listener_path,
                                           const char *to)
{
	struct leaves_listener listener;
	struct rwlock lock;

	TRY(read_rwlock(l, &lock));
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	const char *held = holders(l, &lock);
	wait_bool(l, "polled", true);
	wait_bool(l, "granted", !lock.readers);
	if (lock.readers)
		wait_int(l, "position", 1);
	wait_phrase(l, "async-lock rwlock %s, %s%s", to, held,
	            lock.readers ? "first in its queue" : leaf_next(l));
	return NULL;
}

static struct error *decode_write(struct leaf *l)
{
	/* 3.x | 2.x */
	static const char acquiring_path[] = "raw.state.Acquiring.lock | raw.state.Acquiring.0",
			  listener_path[] = "raw.no_readers | raw.state.WaitingReaders.listener";
	struct value lock;
	bool found;

	TRY(leaf_place(l, l->v, acquiring_path, &lock, &found));
	return found ? describe_acquiring(l, lock, "write")
	             : describe_first_writer(l, listener_path, "write");
}

static struct error *decode_upgrade(struct leaf *l)
{
	static const char listener_path[] = "raw.listener";

	return describe_first_writer(l, listener_path, "upgrade");
}

/* ---- Semaphore, Barrier ---- */

static const char semaphore_path[] = "count";

static struct error *decode_semaphore(struct leaf *l)
{
	static const char reference_path[] = "semaphore", listener_path[] = "listener";
	struct leaves_listener listener;
	struct value reference, semaphore;
	uint64_t available;
	bool found;

	TRY(leaf_place(l, l->v, reference_path, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, SEMAPHORE "Semaphore", &semaphore, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no semaphore");
	TRY(leaf_uint(l, semaphore, semaphore_path, &available));
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	l->w->object = l->w->primitive = semaphore.addr;
	wait_bool(l, "polled", listener.event != 0);
	wait_bool(l, "granted", listener.notified && available);
	if (listener.queue.found)
		leaf_queue_details(l, &listener.queue);
	wait_int(l, "permits_wanted", 1);
	wait_int(l, "permits_missing", available ? 0 : 1);
	wait_int(l, "permits_available", (int64_t)available);
	wait_phrase(l, "async-lock semaphore, %" PRIu64 " available, %s", available,
	            leaves_listener_text(l, &listener));
	return NULL;
}

static struct error *decode_barrier(struct leaf *l)
{
	/* 3.x | 2.x */
	static const char barrier_path[] = "barrier", wanted_path[] = "n",
			  arrived_path[] = "state.data.count",
			  round_path[] = "state.data.generation_id",
			  own_path[] = "state.Waiting.local_gen",
			  listener_path[] = "evl | state.Waiting.evl";
	struct leaves_listener listener;
	struct value reference, barrier;
	uint64_t wanted, arrived, now, own;
	bool found;

	TRY(leaf_place(l, l->v, barrier_path, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, LOCK "barrier::Barrier", &barrier, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no barrier");
	l->w->object = l->w->primitive = barrier.addr;
	TRY(leaf_uint(l, barrier, wanted_path, &wanted));
	TRY(leaf_uint(l, barrier, arrived_path, &arrived));
	TRY(leaf_uint(l, barrier, round_path, &now));
	TRY(leaf_optional_uint(l, l->v, own_path, &own, &found));
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	bool complete = found && own != now;
	wait_int(l, "wanted", (int64_t)wanted);
	wait_bool(l, "complete", complete);
	wait_int(l, "arrived", (int64_t)(complete ? wanted : arrived));
	if (complete)
		wait_phrase(l, "async-lock barrier, all %" PRIu64 " arrived", wanted);
	else
		wait_phrase(l, "async-lock barrier, %" PRIu64 " of %" PRIu64 " arrived", arrived,
		            wanted);
	return NULL;
}

/* ---- OnceCell ---- */

enum { CELL_SET = 2 };

/* The cell of a coroutine of the crate, which has it as its variable `self`. */
static struct error *find_cell(const struct leaf *l, struct value coroutine, struct value *ret,
                               bool *found)
{
	static const char self_path[] = "self";
	const struct variant *active;
	struct value members, reference;

	*found = false;
	TRY(value_variant(l->d->c->in->target, coroutine, &active));
	if (!active->payload)
		return NULL;
	members = value_payload(coroutine, active);
	if (!leaf_has_path(l, members.type, self_path))
		return NULL;
	TRY(leaf_place(l, members, self_path, &reference, found));
	return *found ? leaf_strip_to(l, reference, LOCK "once_cell::OnceCell", ret, found) : NULL;
}

bool leaves_once_cell_describe(struct leaf *l)
{
	static const char state_path[] = "state";
	struct value cell;
	uint64_t state;
	bool found = false;

	for (const struct ancestor *a = l->d->above; a && !found; a = a->up) {
		/* An async function of the user's is no part of the cell. */
		if (type_is_coroutine(a->v.type) && !str_begins(type_name(a->v.type), LOCK))
			return false;
		if (type_is_coroutine(a->v.type))
			error_free(find_cell(l, a->v, &cell, &found));
	}
	struct error *err = found ? leaf_uint(l, cell, state_path, &state) : NULL;
	found &= !err;
	error_free(err);
	if (!found)
		return false;
	l->w->kind = "once_cell";
	l->w->object = l->w->primitive = cell.addr;
	wait_bool(l, "value_set", state == CELL_SET);
	wait_phrase(l, "async-lock once cell, %s",
	            state == CELL_SET ? "initialised" : "being initialised by another task");
	return true;
}

static const struct leaf_row leaves[] = {
	{ .type = MUTEX "Lock", .kind = "mutex", .decode = decode_lock },
	{ .type = MUTEX "LockArc", .kind = "mutex", .decode = decode_lock_arc },
	{ .type = FUTURES "Read", .kind = "rwlock_read", .decode = decode_read },
	{ .type = FUTURES "ReadArc", .kind = "rwlock_read", .decode = decode_read },
	{ .type = FUTURES "UpgradableRead", .kind = "rwlock_read", .decode = decode_upgradable },
	{ .type = FUTURES "UpgradableReadArc", .kind = "rwlock_read", .decode = decode_upgradable },
	{ .type = FUTURES "Write", .kind = "rwlock_write", .decode = decode_write },
	{ .type = FUTURES "WriteArc", .kind = "rwlock_write", .decode = decode_write },
	{ .type = FUTURES "Upgrade", .kind = "rwlock_write", .decode = decode_upgrade },
	{ .type = FUTURES "UpgradeArc", .kind = "rwlock_write", .decode = decode_upgrade },
	{ .type = SEMAPHORE "Acquire", .kind = "semaphore", .decode = decode_semaphore },
	{ .type = SEMAPHORE "AcquireArc", .kind = "semaphore", .decode = decode_semaphore },
	{ .type = LOCK "barrier::BarrierWait", .kind = "barrier", .decode = decode_barrier },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

/* ---- guards ---- */

/* The free permits of a semaphore. */
static struct error *left(const struct leaf *l, struct value primitive, uint64_t *addr,
                          uint64_t *permits)
{
	*addr = primitive.addr;
	return leaf_uint(l, primitive, semaphore_path, permits);
}

enum { ANY_BIT = 0xffffffff };

#define MUTEX_GUARD(t)                                                                             \
	{                                                                                          \
		.type = MUTEX t, .role = HOLDING_LOCK, .kind = "mutex", .member = "0",             \
		.of = MUTEX "Mutex", .part = "state", .busy = MUTEX_LOCKED, .single = true         \
	}
#define RWLOCK_GUARD(t, k)                                                                         \
	{                                                                                          \
		.type = RWLOCK t, .role = HOLDING_LOCK, .kind = k, .member = "lock", .of = RAW,    \
		.part = "state", .busy = ANY_BIT                                                   \
	}
#define RWLOCK_GUARD_ARC(t, k)                                                                     \
	{                                                                                          \
		.type = RWLOCK t, .role = HOLDING_LOCK, .kind = k, .member = "lock",               \
		.of = RWLOCK "RwLock", .part = "raw.state", .busy = ANY_BIT                        \
	}
#define SEMAPHORE_GUARD(t)                                                                         \
	{                                                                                          \
		.type = SEMAPHORE t, .role = HOLDING_LOCK, .kind = "semaphore", .member = "0",     \
		.of = SEMAPHORE "Semaphore", .part = "", .left = left                              \
	}

static const struct holding_row holdings[] = {
	MUTEX_GUARD("MutexGuard"),
	MUTEX_GUARD("MutexGuardArc"),
	RWLOCK_GUARD("RwLockReadGuard", "rwlock_read"),
	RWLOCK_GUARD("RwLockUpgradableReadGuard", "rwlock_read"),
	RWLOCK_GUARD("RwLockWriteGuard", "rwlock_write"),
	RWLOCK_GUARD_ARC("RwLockUpgradableReadGuardArc", "rwlock_read"),
	RWLOCK_GUARD_ARC("RwLockWriteGuardArc", "rwlock_write"),
	SEMAPHORE_GUARD("SemaphoreGuard"),
	SEMAPHORE_GUARD("SemaphoreGuardArc"),
	{ 0 },
};

static const struct named_row named[] = {
	{ "mutex", MUTEX "Mutex", NULL },
	{ "semaphore", SEMAPHORE "Semaphore", NULL },
	{ 0 },
};

const struct crate_types async_lock_types = {
	.crate = "async-lock",
	.path = LOCK,
	.leaves = families,
	.holdings = holdings,
	.named = named,
};
