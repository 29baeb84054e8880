/*
 * The crate async-lock: locks on event-listener (async-lock 3.5, 2.8 and 2.6, src/mutex.rs,
 * src/rwlock/, src/semaphore.rs, src/barrier.rs). Until 2.6 the waits are async functions of the
 * locks, which end in a bare listener; newer ones are futures with names. A lock that is released
 * notifies the first listener; a future that comes later may take the lock before that one is
 * polled.
 */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/leaves/leaves.h"
#include "runtimes/leaves/leaves_wait.h"
#include "runtimes/ownership/ownership.h"

#define LOCK      "async_lock::"
#define MUTEX     LOCK "mutex::"
#define RWLOCK    LOCK "rwlock::"
#define FUTURES   RWLOCK "futures::"
#define RAW       RWLOCK "raw::RawRwLock"
#define SEMAPHORE LOCK "semaphore::"
#define BARRIER   LOCK "barrier::Barrier"
#define CELL      LOCK "once_cell::OnceCell"

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
static struct error *async_lock_read_acquire(struct leaf *l, struct value from, const char *expr,
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
static struct error *async_lock_describe_mutex(struct leaf *l, struct mutex_wait *m)
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
	wait_phrase(l, "async-lock mutex lock, %s", leaves_listener_text(l, &m->listener));
	return NULL;
}

/* The paths lead to the AcquireSlow of a future that was polled, and to the mutex of another. */
static struct error *async_lock_decode_mutex(struct leaf *l, const char *slow_path,
                                             const char *mutex_path)
{
	struct mutex_wait m = { 0 };
	struct value reference;
	bool found;

	TRY(async_lock_read_acquire(l, l->v, slow_path, &m, &found));
	if (!found) {
		TRY(leaf_place(l, l->v, mutex_path, &reference, &found));
		if (found)
			TRY(leaf_strip_to(l, reference, MUTEX "Mutex", &m.mutex, &found));
	}
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no mutex");
	return async_lock_describe_mutex(l, &m);
}

static struct error *decode_lock(struct leaf *l)
{
	static const char slow_path[] = "acquire_slow", mutex_path[] = "mutex";

	return async_lock_decode_mutex(l, slow_path, mutex_path);
}

static struct error *decode_lock_arc(struct leaf *l)
{
	/* 3.x | 2.x */
	static const char slow_path[] = "AcquireSlow.inner | AcquireSlow.0",
			  mutex_path[] = "Unpolled.mutex | Unpolled.0";

	return async_lock_decode_mutex(l, slow_path, mutex_path);
}

/* ---- RwLock ---- */

struct rwlock {
	uint64_t readers;
	bool writer;
};

/* Reads the lock that has that state. */
static struct error *async_lock_read_state(struct leaf *l, struct value lock, struct rwlock *ret)
{
	static const char state_path[] = "state";
	struct value place;
	uint64_t state;
	bool found;

	TRY(leaf_place(l, lock, state_path, &place, &found));
	TRY(leaf_uint(l, lock, state_path, &state));
	ret->writer = state & RWLOCK_WRITER;
	ret->readers = state >> RWLOCK_SHIFT;
	l->w->object = lock.addr;
	l->w->primitive = place.addr;
	return NULL;
}

static struct error *async_lock_read_rwlock(struct leaf *l, struct rwlock *ret)
{
	/* 2.8 | 2.7 */
	static const char lock_path[] = "raw.lock | lock | guard.Some.0.writer.0";
	struct value reference, lock;
	bool found;

	TRY(leaf_place(l, l->v, lock_path, &reference, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no lock");
	TRY(leaf_strip_to(l, reference, RAW, &lock, &found));
	if (!found)
		TRY(leaf_strip_to(l, reference, RWLOCK "RwLock", &lock, &found));
	return found ? async_lock_read_state(l, lock, ret)
	             : error_new(ERR_CORRUPT, "the future refers to no lock");
}

/* The text for the holders of the lock. A writer that waits for readers does not have it. */
static const char *async_lock_holders(struct leaf *l, const struct rwlock *lock)
{
	bool written = lock->writer && !lock->readers;

	wait_bool(l, "writer", written);
	wait_int(l, "readers", (int64_t)lock->readers);
	if (written)
		return "held by a writer, ";
	if (!lock->readers)
		return "free, ";
	return leaf_text(l, "held by %s, ", leaf_count(l, lock->readers, "reader"));
}

/* A reader waits while a writer has the lock, or waits for earlier readers. */
static void describe_read(struct leaf *l, const struct rwlock *lock,
                          const struct leaves_listener *listener)
{
	const char *held = async_lock_holders(l, lock);
	bool behind = lock->writer && lock->readers;

	wait_bool(l, "polled", listener->event != 0);
	wait_bool(l, "granted", listener->notified && !lock->writer);
	/* The writer is first; readers have no order among each other. */
	if (behind && listener->event)
		wait_int(l, "position", 2);
	wait_phrase(l, "async-lock rwlock read, %s%s", held,
	            behind ? "behind a writer that waits for them"
	                   : leaves_listener_text(l, listener));
}

static struct error *async_lock_decode_read(struct leaf *l)
{
	static const char listener_path[] = "raw.listener | listener";
	struct leaves_listener listener;
	struct rwlock lock;

	TRY(async_lock_read_rwlock(l, &lock));
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	describe_read(l, &lock, &listener);
	return NULL;
}

/* Waits for the mutex that writers and upgradable readers share; to is what it will do then. */
static void async_lock_describe_acquiring(struct leaf *l, const struct rwlock *lock,
                                          const struct leaves_listener *listener, const char *to)
{
	wait_bool(l, "polled", listener->event != 0);
	const char *held = async_lock_holders(l, lock);
	wait_phrase(l, "async-lock rwlock %s, %s%s", to, held, leaves_listener_text(l, listener));
}

static struct error *decode_acquiring(struct leaf *l, struct value lock_future, const char *to)
{
	static const char slow_path[] = "acquire_slow";
	struct mutex_wait m = { 0 };
	struct rwlock lock;
	bool found;

	TRY(async_lock_read_rwlock(l, &lock));
	TRY(async_lock_read_acquire(l, lock_future, slow_path, &m, &found));
	async_lock_describe_acquiring(l, &lock, &m.listener, to);
	return NULL;
}

static struct error *async_lock_decode_upgradable(struct leaf *l)
{
	static const char acquire_path[] = "raw.acquire | acquire";
	struct value lock;
	bool found;

	TRY(leaf_place(l, l->v, acquire_path, &lock, &found));
	return found ? decode_acquiring(l, lock, "upgradable read")
	             : error_new(ERR_CORRUPT, "the future waits for nothing");
}

/* Waits for the readers that have the lock; no later one gets it. */
static void describe_first_writer(struct leaf *l, const struct rwlock *lock, const char *to)
{
	const char *held = async_lock_holders(l, lock);

	wait_bool(l, "polled", true);
	wait_bool(l, "granted", !lock->readers);
	if (lock->readers)
		wait_int(l, "position", 1);
	wait_phrase(l, "async-lock rwlock %s, %s%s", to, held,
	            lock->readers ? MARKED_QUEUE("first in its queue") : leaf_next(l, "its turn"));
}

static struct error *decode_first_writer(struct leaf *l, const char *listener_path, const char *to)
{
	struct leaves_listener listener;
	struct rwlock lock;

	TRY(async_lock_read_rwlock(l, &lock));
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	describe_first_writer(l, &lock, to);
	return NULL;
}

static struct error *async_lock_decode_write(struct leaf *l)
{
	/* 3.x | 2.8 | 2.7 */
	static const char acquiring_path[] = "raw.state.Acquiring.lock | raw.state.Acquiring.0 | "
					     "state.Acquiring.0",
			  listener_path[] = "raw.no_readers | raw.state.WaitingReaders.listener | "
					    "state.WaitingReaders.listener";
	struct value lock;
	bool found;

	TRY(leaf_place(l, l->v, acquiring_path, &lock, &found));
	return found ? decode_acquiring(l, lock, "write")
	             : decode_first_writer(l, listener_path, "write");
}

static struct error *async_lock_decode_upgrade(struct leaf *l)
{
	static const char listener_path[] = "raw.listener | listener";

	return decode_first_writer(l, listener_path, "upgrade");
}

/* ---- Semaphore, Barrier ---- */

static const char semaphore_path[] = "count";

static struct error *async_lock_describe_semaphore(struct leaf *l, struct value semaphore,
                                                   const struct leaves_listener *listener)
{
	uint64_t available;

	TRY(leaf_uint(l, semaphore, semaphore_path, &available));
	l->w->object = l->w->primitive = semaphore.addr;
	wait_bool(l, "polled", listener->event != 0);
	wait_bool(l, "granted", listener->notified && available);
	if (listener->queue.found)
		leaf_queue_details(l, &listener->queue);
	wait_int(l, "permits_wanted", 1);
	wait_int(l, "permits_missing", available ? 0 : 1);
	wait_int(l, "permits_available", (int64_t)available);
	wait_phrase(l, "async-lock semaphore, %" PRIu64 " available, %s", available,
	            leaves_listener_text(l, listener));
	return NULL;
}

static struct error *decode_semaphore(struct leaf *l)
{
	static const char reference_path[] = "semaphore", listener_path[] = "listener";
	struct leaves_listener listener;
	struct value reference, semaphore;
	bool found;

	TRY(leaf_place(l, l->v, reference_path, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, SEMAPHORE "Semaphore", &semaphore, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no semaphore");
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	return async_lock_describe_semaphore(l, semaphore, &listener);
}

/* own_path leads from `from` to the round in which the future arrived. */
static struct error *async_lock_describe_barrier(struct leaf *l, struct value barrier,
                                                 struct value from, const char *own_path)
{
	static const char wanted_path[] = "n", arrived_path[] = "state.data.count",
			  round_path[] = "state.data.generation_id";
	uint64_t wanted, arrived, now, own;
	bool found = false;

	l->w->object = l->w->primitive = barrier.addr;
	TRY(leaf_uint(l, barrier, wanted_path, &wanted));
	TRY(leaf_uint(l, barrier, arrived_path, &arrived));
	TRY(leaf_uint(l, barrier, round_path, &now));
	if (leaf_has_path(l, from.type, own_path))
		TRY(leaf_optional_uint(l, from, own_path, &own, &found));
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

static struct error *decode_barrier(struct leaf *l)
{
	/* 3.x | 2.x */
	static const char barrier_path[] = "barrier", own_path[] = "state.Waiting.local_gen",
			  listener_path[] = "evl | state.Waiting.evl";
	struct leaves_listener listener;
	struct value reference, barrier;
	bool found;

	TRY(leaf_place(l, l->v, barrier_path, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, BARRIER, &barrier, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no barrier");
	TRY(leaves_listener_read(l, l->v, listener_path, &listener));
	return async_lock_describe_barrier(l, barrier, l->v, own_path);
}

/* ---- OnceCell, and async functions of the other locks ---- */

enum { CELL_SET = 2 };

/* Async functions of the crate's between a listener and the user's future. */
struct own_frames {
	struct value object;         /* `self` of the outermost one */
	struct value members;        /* its variables */
	const struct type *function; /* its coroutine */
	bool at_mutex; /* an async function further in locks a mutex of the object's */
	bool found;
};

/* Adds one more async function, further out. */
static struct error *async_lock_add_frame(const struct leaf *l, struct value coroutine,
                                          struct own_frames *ret)
{
	static const char *const locks[] = { CELL,    MUTEX "Mutex",         RWLOCK "RwLock",
		                             BARRIER, SEMAPHORE "Semaphore", NULL };
	static const char self_path[] = "self";
	const struct variant *active;
	struct value members, self, object;
	bool found = false;

	TRY(value_variant(l->d->c->in->target, coroutine, &active));
	if (!active->payload)
		return NULL;
	members = value_payload(coroutine, active);
	if (leaf_has_path(l, members.type, self_path))
		TRY(leaf_place(l, members, self_path, &self, &found));
	if (!found)
		return NULL;
	found = false;
	for (const char *const *type = locks; *type && !found; type++)
		TRY(leaf_strip_to(l, self, *type, &object, &found));
	if (!found)
		return NULL;
	ret->at_mutex = ret->found && type_is(ret->object.type, MUTEX "Mutex");
	ret->object = object;
	ret->members = members;
	ret->function = coroutine.type;
	ret->found = true;
	return NULL;
}

static struct error *find_frames(const struct leaf *l, struct own_frames *ret)
{
	*ret = (struct own_frames){ 0 };
	for (const struct ancestor *a = l->d->above; a; a = a->up) {
		if (!type_is_coroutine(a->v.type))
			continue;
		/* An async function of the user's is no part of the lock. */
		if (!str_begins(type_name(a->v.type), LOCK))
			return NULL;
		TRY(async_lock_add_frame(l, a->v, ret));
	}
	return NULL;
}

static struct error *async_lock_describe_cell(struct leaf *l, struct value cell)
{
	static const char state_path[] = "state";
	uint64_t state;

	TRY(leaf_uint(l, cell, state_path, &state));
	l->w->kind = "once_cell";
	l->w->object = l->w->primitive = cell.addr;
	wait_bool(l, "value_set", state == CELL_SET);
	wait_phrase(l, "async-lock once cell, %s",
	            state == CELL_SET ? "initialised" : "being initialised by another task");
	return NULL;
}

/* Is it the async function of that name? Type parameters do not count. */
static bool async_lock_is_function(const struct own_frames *frames, const char *name)
{
	const char *type = type_name(frames->function), *found = strstr(type, name);

	return found && (size_t)(found - type) < strcspn(type, "<");
}

static struct error *async_lock_describe_rwlock(struct leaf *l, const struct own_frames *frames,
                                                const struct leaves_listener *listener)
{
	struct rwlock lock;

	TRY(async_lock_read_state(l, frames->object, &lock));
	if (async_lock_is_function(frames, "::read::")) {
		l->w->kind = "rwlock_read";
		describe_read(l, &lock, listener);
	} else if (async_lock_is_function(frames, "::upgradable_read::")) {
		l->w->kind = "rwlock_read";
		async_lock_describe_acquiring(l, &lock, listener, "upgradable read");
	} else {
		l->w->kind = "rwlock_write";
		if (frames->at_mutex)
			async_lock_describe_acquiring(l, &lock, listener, "write");
		else
			describe_first_writer(l, &lock, "write");
	}
	return NULL;
}

static struct error *describe_frames(struct leaf *l, const struct own_frames *frames,
                                     const struct leaves_listener *listener, bool *known)
{
	static const char own_path[] = "local_gen";
	const struct type *type = frames->object.type;
	struct mutex_wait m = { .mutex = frames->object, .listener = *listener };

	*known = true;
	if (type_is(type, CELL))
		return async_lock_describe_cell(l, frames->object);
	if (type_is(type, RWLOCK "RwLock"))
		return async_lock_describe_rwlock(l, frames, listener);
	if (type_is(type, MUTEX "Mutex")) {
		l->w->kind = "mutex";
		return async_lock_describe_mutex(l, &m);
	}
	if (type_is(type, SEMAPHORE "Semaphore")) {
		l->w->kind = "semaphore";
		return async_lock_describe_semaphore(l, frames->object, listener);
	}
	*known = type_is(type, BARRIER);
	if (!*known)
		return NULL;
	l->w->kind = "barrier";
	return async_lock_describe_barrier(l, frames->object, frames->members, own_path);
}

struct error *leaves_lock_describe(struct leaf *l, const struct leaves_listener *listener,
                                   bool *known)
{
	struct own_frames frames;

	*known = false;
	TRY(find_frames(l, &frames));
	return frames.found ? describe_frames(l, &frames, listener, known) : NULL;
}

static const struct leaf_row leaves[] = {
	{ .type = MUTEX "Lock", .kind = "mutex", .decode = decode_lock },
	{ .type = MUTEX "LockArc", .kind = "mutex", .decode = decode_lock_arc },
	{ .type = FUTURES "Read", .kind = "rwlock_read", .decode = async_lock_decode_read },
	{ .type = FUTURES "ReadArc", .kind = "rwlock_read", .decode = async_lock_decode_read },
	{ .type = FUTURES "UpgradableRead",
	  .kind = "rwlock_read",
	  .decode = async_lock_decode_upgradable },
	{ .type = RWLOCK "Read", .kind = "rwlock_read", .decode = async_lock_decode_read },
	{ .type = RWLOCK "UpgradableRead",
	  .kind = "rwlock_read",
	  .decode = async_lock_decode_upgradable },
	{ .type = RWLOCK "Write", .kind = "rwlock_write", .decode = async_lock_decode_write },
	{ .type = RWLOCK "Upgrade", .kind = "rwlock_write", .decode = async_lock_decode_upgrade },
	{ .type = FUTURES "UpgradableReadArc",
	  .kind = "rwlock_read",
	  .decode = async_lock_decode_upgradable },
	{ .type = FUTURES "Write", .kind = "rwlock_write", .decode = async_lock_decode_write },
	{ .type = FUTURES "WriteArc", .kind = "rwlock_write", .decode = async_lock_decode_write },
	{ .type = FUTURES "Upgrade", .kind = "rwlock_write", .decode = async_lock_decode_upgrade },
	{ .type = FUTURES "UpgradeArc",
	  .kind = "rwlock_write",
	  .decode = async_lock_decode_upgrade },
	{ .type = SEMAPHORE "Acquire", .kind = "semaphore", .decode = decode_semaphore },
	{ .type = SEMAPHORE "AcquireArc", .kind = "semaphore", .decode = decode_semaphore },
	{ .type = LOCK "barrier::BarrierWait", .kind = "barrier", .decode = decode_barrier },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

/* ---- guards ---- */

/* The free permits of a semaphore. */
static struct error *async_lock_left(const struct leaf *l, struct value primitive, uint64_t *addr,
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
/* The guard refers to the RawRwLock, or to the RwLock, which had the state itself until 2.7. */
#define RWLOCK_GUARD(t, k, m)                                                                      \
	{                                                                                          \
		.type = RWLOCK t, .role = HOLDING_LOCK, .kind = k, .member = m,                    \
		.part = "state | raw.state", .busy = ANY_BIT, .maker = RWLOCK                      \
	}
#define SEMAPHORE_GUARD(t)                                                                         \
	{                                                                                          \
		.type = SEMAPHORE t, .role = HOLDING_LOCK, .kind = "semaphore", .member = "0",     \
		.of = SEMAPHORE "Semaphore", .part = "", .left = async_lock_left                   \
	}

static const struct ownership_row holdings[] = {
	MUTEX_GUARD("MutexGuard"),
	MUTEX_GUARD("MutexGuardArc"),
	RWLOCK_GUARD("RwLockReadGuard", "rwlock_read", "lock | 0"),
	RWLOCK_GUARD("RwLockUpgradableReadGuard", "rwlock_read", "lock | reader.0"),
	RWLOCK_GUARD("RwLockWriteGuard", "rwlock_write", "lock | writer.0"),
	RWLOCK_GUARD("RwLockUpgradableReadGuardArc", "rwlock_read", "lock"),
	RWLOCK_GUARD("RwLockWriteGuardArc", "rwlock_write", "lock"),
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
