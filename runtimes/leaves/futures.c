/* The crates futures-util and futures-channel. */
#include <inttypes.h>
#include <string.h>

#include "runtimes/future/pool.h"
#include "runtimes/leaves/leaves.h"
#include "runtimes/leaves/leaves_wait.h"
#include "runtimes/ownership/ownership.h"

#define CHANNEL "futures_channel::"
#define MPSC    CHANNEL "mpsc::"
#define ONESHOT CHANNEL "oneshot::"
#define LOCK    "futures_util::lock::mutex::"
#define BILOCK  "futures_util::lock::bilock::"
/* Items of the channel of a body of hyper, from 0.14 to 1.11. */
#define BODY "core::result::Result<bytes::bytes::Bytes, hyper::error::Error>"

/* ---- mpsc (futures-channel 0.3, src/mpsc/mod.rs) ---- */

/* Bits of the state: the highest one tells that the channel is open, the others count messages. */
#define MPSC_OPEN (UINT64_C(1) << 63)

static const char mpsc_waker_path[] = "recv_task";

struct mpsc {
	struct value inner;
	uint64_t queued, senders, buffer;
	bool bounded, closed;
	struct waker receiver;
	const char *queue_text;
};

/* *found false: the end at that path was used up or disconnected. */
static struct error *read_mpsc(struct leaf *l, const char *expr, struct mpsc *ret, bool *found)
{
	static const char state_path[] = "state", senders_path[] = "num_senders",
			  buffer_path[] = "buffer";
	struct value reference, waker;
	uint64_t state;

	*ret = (struct mpsc){ 0 };
	TRY(leaf_place(l, l->v, expr, &reference, found));
	if (!*found)
		return NULL;
	TRY(leaf_strip_to(l, reference, MPSC "BoundedInner", &ret->inner, found));
	if (!*found)
		TRY(leaf_strip_to(l, reference, MPSC "UnboundedInner", &ret->inner, found));
	if (!*found)
		return error_new(ERR_CORRUPT, "this end refers to no channel");
	l->w->object = l->w->primitive = ret->inner.addr;
	TRY(leaf_uint(l, ret->inner, state_path, &state));
	TRY(leaf_uint(l, ret->inner, senders_path, &ret->senders));
	TRY(leaf_optional_uint(l, ret->inner, buffer_path, &ret->buffer, &ret->bounded));
	TRY(leaf_place(l, ret->inner, mpsc_waker_path, &waker, found));
	TRY(waker_read(l->d->c, waker, &ret->receiver));
	*found = true;
	ret->closed = !(state & MPSC_OPEN);
	ret->queued = state & ~MPSC_OPEN;
	ret->queue_text = leaf_text(l, "%" PRIu64 " queued", ret->queued);
	/* Each sender may send one message more than the buffer has room for. */
	if (ret->bounded)
		ret->queue_text =
			leaf_text(l, "%s of %" PRIu64, ret->queue_text, ret->buffer + ret->senders);
	return NULL;
}

static void mpsc_details(struct leaf *l, const struct mpsc *ch)
{
	wait_int(l, "queued", (int64_t)ch->queued);
	wait_int(l, "senders", (int64_t)ch->senders);
	if (ch->bounded)
		wait_int(l, "capacity", (int64_t)(ch->buffer + ch->senders));
	wait_bool(l, "closed", ch->closed);
}

static struct error *futures_decode_receiver(struct leaf *l)
{
	static const char inner_path[] = "inner";
	struct mpsc ch;
	bool found;

	TRY(read_mpsc(l, inner_path, &ch, &found));
	if (!found) {
		wait_phrase(l, "futures mpsc receive, the channel has ended");
		return NULL;
	}
	TRY(leaf_arm_at(l, ch.inner, mpsc_waker_path));
	const struct type *item = type_param(l->v.type, "T");
	if (item && strcmp(type_name(item), BODY) == 0) {
		l->w->kind = "http_body";
		leaves_describe_body(l, ch.queued != 0, ch.senders && !ch.closed);
		return NULL;
	}
	mpsc_details(l, &ch);
	wait_phrase(l, "futures mpsc receive, %s, %s%s%s", ch.queue_text,
	            ch.senders ? leaf_count(l, ch.senders, "sender") : "no sender",
	            ch.senders ? " alive" : " left",
	            ch.closed && ch.senders ? ", closed by the receiver" : "");
	return NULL;
}

/* A sender that sent a message beyond the buffer is parked until the receiver took one. */
static struct error *decode_sender(struct leaf *l)
{
	static const char inner_path[] = "inner", parked_path[] = "sender_task.is_parked",
			  waker_path[] = "sender_task.task", own_path[] = "maybe_parked";
	uint64_t parked, maybe;
	struct mpsc ch;
	bool found;

	TRY(read_mpsc(l, inner_path, &ch, &found));
	if (!found) {
		wait_phrase(l, "futures mpsc send, disconnected");
		return NULL;
	}
	TRY(leaf_uint(l, l->v, own_path, &maybe));
	TRY(leaf_uint(l, l->v, parked_path, &parked));
	leaf_arm_none(l);
	if (maybe)
		TRY(leaf_arm_at(l, l->v, waker_path));
	mpsc_details(l, &ch);
	wait_bool(l, "polled", !l->vacant);
	wait_bool(l, "granted", maybe && !parked);
	l->w->task = waker_task(l->d->c, ch.receiver);
	const char *receiver = waker_text(l->d->c, ch.receiver);
	wait_phrase(l, "futures mpsc send, %s%s%s, %s", ch.queue_text,
	            receiver ? ", received by " : "", receiver ? receiver : "",
	            maybe && parked ? "parked until the receiver takes a message" : "not parked");
	return NULL;
}

/* ---- oneshot (futures-channel 0.3, src/oneshot.rs) ---- */

static const char rx_path[] = "rx_task.data", tx_path[] = "tx_task.data";

struct futures_oneshot {
	struct value inner;
	uint64_t complete; /* one of the ends is gone */
	bool value;
	struct waker rx, tx;
};

static struct error *futures_read_oneshot(struct leaf *l, const char *expr,
                                          struct futures_oneshot *ret)
{
	static const char complete_path[] = "complete", value_path[] = "data.data.Some";
	struct value reference, inner, place;
	bool found;

	*ret = (struct futures_oneshot){ 0 };
	TRY(leaf_place(l, l->v, expr, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, ONESHOT "Inner", &inner, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "this end refers to no channel");
	l->w->object = l->w->primitive = inner.addr;
	ret->inner = inner;
	TRY(leaf_uint(l, inner, complete_path, &ret->complete));
	if (leaf_has_path(l, inner.type, value_path))
		TRY(leaf_place(l, inner, value_path, &place, &ret->value));
	TRY(leaf_place(l, inner, rx_path, &place, &found));
	if (found)
		TRY(waker_read(l->d->c, place, &ret->rx));
	TRY(leaf_place(l, inner, tx_path, &place, &found));
	return found ? waker_read(l->d->c, place, &ret->tx) : NULL;
}

/* A wait for a connection of a pool, which somebody sends. */
static struct error *futures_describe_pool(struct leaf *l, struct pool *pool, bool granted,
                                           bool polled)
{
	l->w->primitive = pool->object.addr;
	wait_bool(l, "polled", polled);
	wait_bool(l, "granted", granted);
	return pool_describe(l, pool, granted ? leaf_next(l, "it has got one") : "");
}

static struct error *futures_decode_oneshot(struct leaf *l)
{
	static const char inner_path[] = "inner";
	const struct type *sent = type_param(l->v.type, "T");
	struct pool pool;
	struct futures_oneshot o;

	TRY(futures_read_oneshot(l, inner_path, &o));
	TRY(leaf_arm_at(l, o.inner, rx_path));
	if ((!o.complete || o.value) && sent && pool_find_sent(l, sent, &pool))
		return futures_describe_pool(l, &pool, o.complete, o.rx.vtable != 0);
	l->w->task = waker_task(l->d->c, o.tx);
	wait_bool(l, "sender_alive", !o.complete);
	wait_bool(l, "value_there", o.complete && o.value);
	wait_bool(l, "polled", o.rx.vtable != 0);
	const char *sender = waker_text(l->d->c, o.tx);
	wait_phrase(l, "futures oneshot receive, %s%s%s",
	            !o.complete ? "sender alive"
	            : o.value   ? "the value is there"
	                        : "sender gone without a value, or closed",
	            !o.complete && sender ? " in " : "", !o.complete && sender ? sender : "");
	return NULL;
}

static struct error *decode_oneshot_sender(struct leaf *l)
{
	static const char inner_path[] = "inner";
	struct futures_oneshot o;

	TRY(futures_read_oneshot(l, inner_path, &o));
	TRY(leaf_arm_at(l, o.inner, tx_path));
	l->w->task = waker_task(l->d->c, o.rx);
	wait_bool(l, "receiver_alive", !o.complete);
	wait_bool(l, "polled", o.tx.vtable != 0);
	const char *receiver = waker_text(l->d->c, o.rx);
	wait_phrase(l, "futures oneshot close, %s%s%s",
	            o.complete ? "it is closed" : "receiver alive",
	            !o.complete && receiver ? " in " : "", !o.complete && receiver ? receiver : "");
	return NULL;
}

/* ---- Mutex (futures-util 0.3, src/lock/mutex.rs) ---- */

enum { MUTEX_LOCKED = 1 };

/* The waiter with that key; the slab's slots are Entry<Waiter>. *found false: there is none. */
static struct error *find_waiter(struct leaf *l, struct value mutex, uint64_t key,
                                 struct value *ret, uint64_t *waiting, bool *found)
{
	static const char slots_path[] = "waiters.data.entries", length_path[] = "waiters.data.len",
			  waiter_path[] = "Occupied.0";
	struct value place;
	struct slice slots;

	TRY(leaf_uint(l, mutex, length_path, waiting));
	TRY(leaf_place(l, mutex, slots_path, &place, found));
	if (!*found)
		return NULL;
	TRY(value_slice(l->d->c->in->target, place, &slots));
	*found = key < slots.count;
	if (!*found)
		return NULL;
	place = (struct value){ slots.element, slots.addr + key * type_size(slots.element) };
	return leaf_place(l, place, waiter_path, ret, found);
}

static const char *mutex_text(const struct leaf *l, bool polled, bool woken, uint64_t waiting)
{
	if (!polled)
		return "never polled";
	if (woken)
		return leaf_next(l, "woken");
	/* Waiters of a mutex have no order. */
	return waiting == 1 ? "nobody else waits"
	                    : leaf_text(l, "1 of %" PRIu64 " that wait", waiting);
}

static struct error *futures_decode_mutex(struct leaf *l)
{
	static const char mutex_path[] = "mutex", key_path[] = "wait_key", state_path[] = "state",
			  waker_path[] = "Waiting.0";
	struct value reference, mutex, state, waiter;
	uint64_t number, key, waiting;
	bool found, polled;

	TRY(leaf_place(l, l->v, mutex_path, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, LOCK "Mutex", &mutex, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no mutex");
	TRY(leaf_place(l, mutex, state_path, &state, &found));
	TRY(leaf_uint(l, mutex, state_path, &number));
	TRY(leaf_uint(l, l->v, key_path, &key));
	l->w->object = mutex.addr;
	l->w->primitive = state.addr;
	TRY(find_waiter(l, mutex, key, &waiter, &waiting, &polled));
	leaf_arm_none(l);
	if (polled)
		TRY(leaf_arm_at(l, waiter, waker_path));
	bool woken = polled && l->vacant;
	wait_bool(l, "polled", polled);
	wait_bool(l, "granted", woken && !(number & MUTEX_LOCKED));
	wait_int(l, "waiting", (int64_t)waiting);
	wait_phrase(l, "futures mutex lock, %s%s", number & MUTEX_LOCKED ? "held, " : "free, ",
	            mutex_text(l, polled, woken, waiting));
	return NULL;
}

/* ---- BiLock (futures-util 0.3, src/lock/bilock.rs), also behind the halves of a split() ---- */

/*
 * State of a BiLock; any other one is the address of the waker of the waiter, in a Box: it is
 * locked too.
 */
enum { BILOCK_FREE, BILOCK_LOCKED };

static const struct type *waker_type(const struct type *of)
{
	return lookup_type(type_module(of), "core::task::wake::Waker", type_die(of));
}

static const struct type *leaf_type(const struct type *t, size_t n)
{
	bool has_waker = type_is(t, BILOCK "BiLockAcquire") || type_is(t, BILOCK "BiLock");

	return n == 0 && has_waker ? waker_type(t) : NULL;
}

/*
 * Arms the leaf if the waker that the lock's state refers to is its own. The state has room for one
 * waker, which is enough: if one of the two halves waits, the other holds the lock.
 */
static struct error *arm_bilock(struct leaf *l, uint64_t state)
{
	const struct type *waker = waker_type(l->v.type);

	if (state == BILOCK_FREE || state == BILOCK_LOCKED) {
		leaf_arm_none(l);
		return NULL;
	}
	if (state % 8)
		return error_new(ERR_CORRUPT, "the lock has the state 0x%" PRIx64, state);
	return waker ? leaf_arm(l, (struct value){ waker, state }) : NULL;
}

/* expr: the path to the Arc that the halves share. */
static struct error *describe_bilock(struct leaf *l, const char *expr)
{
	static const char state_path[] = "state";
	struct value reference, lock, place;
	uint64_t state;
	bool found;

	TRY(leaf_place(l, l->v, expr, &reference, &found));
	if (found)
		TRY(leaf_strip_to(l, reference, BILOCK "Inner", &lock, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "the future refers to no lock");
	TRY(leaf_place(l, lock, state_path, &place, &found));
	TRY(leaf_uint(l, lock, state_path, &state));
	l->w->object = lock.addr;
	l->w->primitive = place.addr;
	TRY(arm_bilock(l, state));
	bool waits = state != BILOCK_FREE && state != BILOCK_LOCKED;
	/* A wake-up takes the waker out, and the lock is free then. */
	wait_bool(l, "polled", waits && l->w->armed != WAKER_REGISTERED_NO);
	wait_bool(l, "granted", false);
	wait_int(l, "waiting", waits);
	wait_phrase(l, "futures BiLock lock, %s",
	            state == BILOCK_FREE                 ? "free"
	            : !waits                             ? "held, no waker is stored"
	            : l->w->armed == WAKER_REGISTERED_NO ? "held, the stored waker is another one"
	                                                 : "held");
	return NULL;
}

static struct error *decode_bilock(struct leaf *l)
{
	static const char arc_path[] = "bilock.arc";

	return describe_bilock(l, arc_path);
}

/* Halves of a split() lock what they share while they are polled, and poll that. */
static struct error *decode_half(struct leaf *l)
{
	static const char arc_path[] = "arc";

	return describe_bilock(l, arc_path);
}

/* ---- Abortable (futures-util 0.3, src/abortable.rs, up to 0.3.5 src/future/abortable.rs) ---- */

/* AbortHandles of the future refer to the same state, by which graphs find the task. */
static struct error *decode_abortable(struct leaf *l)
{
	/* 0.3.6 | before */
	static const char inner_path[] = "inner", aborted_path[] = "aborted | cancel";
	struct value reference, inner;
	uint64_t aborted;
	bool found;

	TRY(leaf_place(l, l->v, inner_path, &reference, &found));
	if (found)
		TRY(value_shared(l->d->c->in->target, reference, &inner));
	if (!found)
		return error_new(ERR_CORRUPT, "the future has no state");
	TRY(leaf_uint(l, inner, aborted_path, &aborted));
	if (aborted > 1)
		return error_new(ERR_CORRUPT, "it is aborted %" PRIu64 " times", aborted);
	l->w->object = inner.addr;
	wait_bool(l, "aborted", aborted);
	wait_phrase(l, aborted ? "aborted, ends when it is polled" : "not aborted");
	return NULL;
}

/* ---- the tables ---- */

static const struct leaf_row leaves[] = {
	{ .type = "futures_util::future::pending::Pending",
	  .kind = "pending",
	  .decode = leaf_decode_pending },
	{ .type = "futures_util::future::ready::Ready",
	  .kind = "ready",
	  .decode = leaf_decode_ready },
	{ .type = LOCK "MutexLockFuture", .kind = "mutex", .decode = futures_decode_mutex },
	{ .type = LOCK "OwnedMutexLockFuture", .kind = "mutex", .decode = futures_decode_mutex },
	{ .type = BILOCK "BiLockAcquire", .kind = "mutex", .decode = decode_bilock },
	{ .type = BILOCK "BiLock",
	  .kind = "mutex",
	  .decode = decode_half,
	  .resource = true,
	  .passage = true },
	{ .type = ONESHOT "Receiver", .kind = "oneshot", .decode = futures_decode_oneshot },
	{ .type = ONESHOT "Sender",
	  .kind = "oneshot_closed",
	  .decode = decode_oneshot_sender,
	  .resource = true },
	{ .type = MPSC "Receiver",
	  .kind = "mpsc_recv",
	  .decode = futures_decode_receiver,
	  .resource = true },
	{ .type = MPSC "UnboundedReceiver",
	  .kind = "mpsc_recv",
	  .decode = futures_decode_receiver,
	  .resource = true },
	{ .type = MPSC "Sender", .kind = "mpsc_send", .decode = decode_sender, .resource = true },
	{ 0 },
};

static const struct leaf_row *const families[] = { leaves, NULL };

#define ABORTABLE(module)                                                                          \
	{                                                                                          \
		.type = "futures_util::" module "abortable::Abortable", .kind = "abortable",       \
		.decode = decode_abortable                                                         \
	}

static const struct leaf_row properties[] = {
	ABORTABLE(""),
	ABORTABLE("future::"), /* up to 0.3.5 */
	{ 0 },
};

#define MUTEX_GUARD(t)                                                                             \
	{                                                                                          \
		.type = LOCK t, .role = HOLDING_LOCK, .kind = "mutex", .member = "mutex",          \
		.of = LOCK "Mutex", .part = "state", .busy = MUTEX_LOCKED, .single = true          \
	}
#define END_OF(t, r, k, o)                                                                         \
	{                                                                                          \
		.type = t, .role = r, .kind = k, .member = "inner", .of = o, .part = ""            \
	}

#define ABORT_HANDLE(module)                                                                       \
	{                                                                                          \
		.type = "futures_util::" module "abortable::AbortHandle", .role = HOLDING_WAKER,   \
		.kind = "abort", .member = "inner", .part = ""                                     \
	}

static const struct ownership_row holdings[] = {
	MUTEX_GUARD("MutexGuard"),
	MUTEX_GUARD("MappedMutexGuard"),
	MUTEX_GUARD("OwnedMutexGuard"),
	{ .type = BILOCK "BiLockGuard",
	  .role = HOLDING_LOCK,
	  .kind = "mutex",
	  .member = "bilock.arc",
	  .of = BILOCK "Inner",
	  .part = "state",
	  .busy = UINT64_MAX,
	  .single = true },
	ABORT_HANDLE(""),
	ABORT_HANDLE("future::"), /* up to 0.3.5 */
	END_OF(MPSC "Sender", HOLDING_SENDER, "mpsc", MPSC "BoundedInner"),
	END_OF(MPSC "UnboundedSender", HOLDING_SENDER, "mpsc", MPSC "UnboundedInner"),
	END_OF(MPSC "Receiver", HOLDING_RECEIVER, "mpsc", MPSC "BoundedInner"),
	END_OF(MPSC "UnboundedReceiver", HOLDING_RECEIVER, "mpsc", MPSC "UnboundedInner"),
	END_OF(ONESHOT "Sender", HOLDING_SENDER, "oneshot", ONESHOT "Inner"),
	END_OF(ONESHOT "Receiver", HOLDING_RECEIVER, "oneshot", ONESHOT "Inner"),
	{ 0 },
};

static const struct named_row named[] = {
	{ "mutex", LOCK "Mutex", NULL },
	{ 0 },
};

const struct crate_types futures_types = {
	.path = "futures_",
	.leaves = families,
	.sequences = futures_sequences,
	.properties = properties,
	.leaf_type = leaf_type,
	.holdings = holdings,
	.named = named,
	.shown = futures_shown,
};
