/*
 * Prints values of tokio's types by what they mean: permits, queues, ends of channels, handles. The
 * decoders of the waits for them (leaf_*.c) have the paths.
 */
#include <inttypes.h>
#include <string.h>

#include "dwarf/values/show_rows.h"
#include "runtimes/common/instant.h"
#include "runtimes/tokio/leaf_sync.h"
#include "runtimes/tokio/tokio.h"

enum { MAX_WAITING = 1000 /* entries of a queue that are counted */ };

/* The path of a row of a leaf's table; a constant of the program. */
static const char *tokio_show_path_of(const struct binding_row *rows, const char *key)
{
	while (rows->key && strcmp(rows->key, key) != 0)
		rows++;
	return rows->path ? rows->path : "";
}

/* ---- queues of waiters ---- */

/* Option<NonNull<_>>: 0 is None. */
static struct error *tokio_show_read_link(struct show *s, struct value from, const char *expr,
                                          uint64_t *ret)
{
	struct value link;

	TRY(show_row_place(s, from, expr, &link));
	return target_read_uint(show_target(s), link.addr, 8, ret);
}

/* Counts the entries of a linked list, up to MAX_WAITING + 1. */
static struct error *count_entries(struct show *s, struct value list, uint64_t *ret)
{
	static const char entry[] = "tail.Some.pointer";
	struct value at, pointer;
	uint64_t link;

	*ret = 0;
	TRY(tokio_show_read_link(s, list, leaf_sync_queue.first, &link));
	if (!link)
		return NULL;
	TRY(show_row_place(s, list, entry, &pointer));
	at.type = type_target(pointer.type);
	if (!at.type)
		return error_new(ERR_LAYOUT, "%s points at no known type", type_name(pointer.type));
	while (link && ++*ret <= MAX_WAITING) {
		at.addr = link;
		TRY(tokio_show_read_link(s, at, leaf_sync_queue.next, &link));
	}
	return NULL;
}

/* Waiters are counted once for each list: a third of a million tasks may share one mutex. */
static struct error *tokio_show_count(struct show *s, struct value list, uint64_t *ret)
{
	if (show_count_get(s, list.addr, ret))
		return NULL;
	TRY(count_entries(s, list, ret));
	show_count_put(s, list.addr, *ret);
	return NULL;
}

/* Prints how many wait in the queue that expr leads to, if it can be read. */
static void tokio_show_put_waiting(struct show *s, struct value from, const char *expr, bool always,
                                   const char *separator)
{
	struct value list;
	uint64_t n;
	struct error *err = show_row_place(s, from, expr, &list);

	if (!err)
		err = tokio_show_count(s, list, &n);
	if (!err && n > MAX_WAITING)
		show_printf(s, "%swaiting: more than %d", separator, MAX_WAITING);
	else if (!err && (n || always))
		show_printf(s, "%swaiting: %" PRIu64, separator, n);
	error_free(err);
}

/* ---- locks ---- */

/* expr: the batch semaphore */
static struct error *show_semaphore(struct show *s, struct value v, const struct show_row *row)
{
	struct value batch = v;
	uint64_t permits;

	if (row->expr[0])
		TRY(show_row_place(s, v, row->expr[0], &batch));
	TRY(show_row_number(s, batch, sync_path(SEMAPHORE_PERMITS), &permits));
	show_printf(s, "Semaphore { permits: %" PRIu64, permits >> PERMIT_SHIFT);
	tokio_show_put_waiting(s, batch, sync_path(SEMAPHORE_QUEUE), true, ", ");
	show_put(s, permits & 1 ? ", closed }" : " }");
	return NULL;
}

/* expr: what it holds, its batch semaphore */
static struct error *tokio_show_mutex(struct show *s, struct value v, const struct show_row *row)
{
	struct value inner, batch;
	uint64_t permits;

	TRY(show_row_place(s, v, row->expr[0], &inner));
	TRY(show_row_place(s, v, row->expr[1], &batch));
	TRY(show_row_number(s, batch, sync_path(SEMAPHORE_PERMITS), &permits));
	show_put(s, "Mutex { data: ");
	show_inner(s, inner);
	show_put(s, permits >> PERMIT_SHIFT ? "" : ", locked");
	tokio_show_put_waiting(s, batch, sync_path(SEMAPHORE_QUEUE), false, ", ");
	show_put(s, " }");
	return NULL;
}

/* expr: as of tokio_show_mutex() */
static struct error *show_rwlock(struct show *s, struct value v, const struct show_row *row)
{
	struct value inner, batch;
	uint64_t permits, max;

	TRY(show_row_place(s, v, row->expr[0], &inner));
	TRY(show_row_place(s, v, row->expr[1], &batch));
	TRY(show_row_number(s, batch, sync_path(SEMAPHORE_PERMITS), &permits));
	TRY(show_row_number(s, v, sync_path(RWLOCK_READERS), &max));
	permits >>= PERMIT_SHIFT;
	show_put(s, "RwLock { data: ");
	show_inner(s, inner);
	/* The first in the queue may have been given some of the permits that are taken. */
	if (permits == 0)
		show_put(s, ", locked");
	else if (permits < max && leaf_rwlock_held(max, max - permits) == RWLOCK_READ)
		show_printf(s, ", readers: %" PRIu64, max - permits);
	tokio_show_put_waiting(s, batch, sync_path(SEMAPHORE_QUEUE), false, ", ");
	show_put(s, " }");
	return NULL;
}

static struct error *show_notify(struct show *s, struct value v, const struct show_row *row)
{
	enum { STATE_MASK = 3, NOTIFIED = 2 }; /* notify.rs; above them is the number of calls */
	uint64_t state;

	TRY(show_row_number(s, v, row->expr[0], &state));
	show_put(s, "Notify {");
	tokio_show_put_waiting(s, v, sync_path(NOTIFY_QUEUE), true, " ");
	show_put(s, (state & STATE_MASK) == NOTIFIED ? ", notified }" : " }");
	return NULL;
}

static struct error *show_barrier(struct show *s, struct value v, const struct show_row *row)
{
	uint64_t arrived, wanted;

	(void)row;
	TRY(show_row_number(s, v, sync_path(BARRIER_ARRIVED), &arrived));
	TRY(show_row_number(s, v, sync_path(BARRIER_WANTED), &wanted));
	show_printf(s, "Barrier { arrived: %" PRIu64 " of %" PRIu64 " }", arrived, wanted);
	return NULL;
}

/* OnceCell, SetOnce, as `{:?}` does; expr: the value, whether it is set */
static struct error *show_set_once(struct show *s, struct value v, const struct show_row *row)
{
	struct value place;
	uint64_t set;

	TRY(show_row_number(s, v, row->expr[1], &set));
	TRY(show_row_place(s, v, row->expr[0], &place));
	place.type = type_param(v.type, "T");
	if (!place.type)
		return error_new(ERR_LAYOUT, "T");
	show_type_last(s, v.type);
	show_put(s, " { value: ");
	if (set) {
		show_put(s, "Some(");
		show_inner(s, place);
	}
	show_put(s, set ? ") }" : "None }");
	return NULL;
}

static struct error *show_token(struct show *s, struct value v, const struct show_row *row)
{
	struct value node;
	uint64_t set;

	TRY(show_row_place(s, v, row->expr[0], &node));
	TRY(show_row_number(s, node, sync_path(CANCELLATION_SET), &set));
	show_printf(s, "CancellationToken { is_cancelled: %s }", set ? "true" : "false");
	return NULL;
}

/* ---- channels ---- */

/* ", receiver waits" where the waker of a receiver is there. */
static void put_receiver(struct show *s, struct value chan)
{
	struct collector *c = show_context(s);
	struct value place;
	struct waker w = { 0 };
	struct error *err = show_row_place(s, chan, sync_path(CHAN_WAKER), &place);

	if (!err && c)
		err = waker_read(c, place, &w);
	show_put(s, !err && w.vtable ? ", receiver waits" : "");
	error_free(err);
}

/* Both ends of an mpsc channel; expr: the channel; the batch semaphore in it, of bounded ones */
static struct error *tokio_show_mpsc(struct show *s, struct value v, const struct show_row *row)
{
	struct value chan;
	uint64_t tail, index, senders, queued, closed;

	TRY(show_row_place(s, v, row->expr[0], &chan));
	TRY(show_row_number(s, chan, sync_path(CHAN_TAIL), &tail));
	TRY(show_row_number(s, chan, sync_path(CHAN_INDEX), &index));
	TRY(show_row_number(s, chan, sync_path(CHAN_SENDERS), &senders));
	TRY(show_row_number(s, chan, sync_path(CHAN_CLOSED), &closed));
	if (!leaf_channel_queued(tail, index, senders, &queued))
		return error_new(ERR_CORRUPT, "the channel's receiver is ahead of its senders");
	show_type_last(s, v.type);
	show_printf(s, " { queued: %" PRIu64, queued);
	if (show_row_leads(s, chan, sync_path(CHAN_BOUND)))
		show_printf(s, " of %" PRIu64,
		            show_row_number_or_0(s, chan, sync_path(CHAN_BOUND)));
	show_printf(s, ", senders: %" PRIu64, senders);
	if (row->expr[1]) {
		struct value batch;
		struct error *err = show_row_place(s, chan, row->expr[1], &batch);

		if (!err)
			tokio_show_put_waiting(s, batch, sync_path(SEMAPHORE_QUEUE), false, ", ");
		error_free(err);
	}
	put_receiver(s, chan);
	show_put(s, closed ? ", closed }" : " }");
	return NULL;
}

/* expr: what the two ends of the channel share; it is None once the end was used */
static struct error *oneshot_state(struct show *s, struct value v, const struct show_row *row,
                                   struct value *inner, uint64_t *state, bool *used)
{
	struct error *err = show_row_place(s, v, row->expr[0], inner);

	*used = err && err->kind == ERR_CORRUPT;
	if (*used) {
		error_free(err);
		return NULL;
	}
	TRY(err);
	return show_row_number(s, *inner, sync_path(ONESHOT_STATE), state);
}

static struct error *tokio_show_oneshot_sender(struct show *s, struct value v,
                                               const struct show_row *row)
{
	struct value inner;
	uint64_t state;
	bool used;

	TRY(oneshot_state(s, v, row, &inner, &state, &used));
	show_printf(s, "Sender { %s }",
	            used                  ? "sent"
	            : state & CLOSED      ? "closed"
	            : state & RX_TASK_SET ? "receiver waits"
	                                  : "receiver alive");
	return NULL;
}

static struct error *tokio_show_oneshot_receiver(struct show *s, struct value v,
                                                 const struct show_row *row)
{
	struct value inner, value;
	uint64_t state;
	bool used;

	TRY(oneshot_state(s, v, row, &inner, &state, &used));
	if (!used && (state & VALUE_SENT) && show_row_leads(s, inner, sync_path(ONESHOT_VALUE))) {
		TRY(show_row_place(s, inner, sync_path(ONESHOT_VALUE), &value));
		const struct member *m = type_member(value.type, "__0");
		show_put(s, "Receiver { value: ");
		show_inner(s, m ? (struct value){ m->type, value.addr + m->offset } : value);
		show_put(s, " }");
		return NULL;
	}
	show_printf(s, "Receiver { %s%s }",
	            used                 ? "received"
	            : state & VALUE_SENT ? "sender gone"
	                                 : "sender alive",
	            !used && state & CLOSED ? ", closed" : "");
	return NULL;
}

/* expr: what the ends share, the version that this end has seen; NULL: a sender */
static struct error *show_watch(struct show *s, struct value v, const struct show_row *row)
{
	static const char value_path[] = "value";
	struct value shared, value;
	uint64_t state, seen, receivers;

	TRY(show_row_place(s, v, row->expr[0], &shared));
	TRY(show_row_number(s, shared, sync_path(WATCH_STATE), &state));
	TRY(show_row_number(s, shared, sync_path(WATCH_RECEIVERS), &receivers));
	TRY(show_row_place(s, shared, value_path, &value));
	/* An RwLock, in tokio's wrapper of it in some builds. */
	TRY(show_row_place(s, value, "data", &value));
	if (row->expr[1])
		TRY(show_row_number(s, v, row->expr[1], &seen));
	show_type_last(s, v.type);
	show_put(s, " { value: ");
	show_inner(s, value);
	if (!row->expr[1])
		show_printf(s, ", receivers: %" PRIu64 " }", receivers);
	else
		show_printf(s, ", changed: %s%s }",
		            seen >> WATCH_VERSION_SHIFT != state >> WATCH_VERSION_SHIFT ? "true"
		                                                                        : "false",
		            state & 1 ? ", sender gone" : "");
	return NULL;
}

/* expr: what the ends share, the position of this end; NULL: a sender */
static struct error *show_broadcast(struct show *s, struct value v, const struct show_row *row)
{
	struct value shared, buffer;
	uint64_t senders, receivers, tail, next;
	struct slice slots;

	TRY(show_row_place(s, v, row->expr[0], &shared));
	TRY(show_row_number(s, shared, sync_path(BROADCAST_SENDERS), &senders));
	TRY(show_row_number(s, shared, sync_path(BROADCAST_RECEIVERS), &receivers));
	TRY(show_row_number(s, shared, sync_path(BROADCAST_TAIL), &tail));
	TRY(show_row_place(s, shared, sync_path(BROADCAST_BUFFER), &buffer));
	TRY(value_slice(show_target(s), buffer, &slots));
	show_type_last(s, v.type);
	if (!row->expr[1]) {
		show_printf(s,
		            " { capacity: %" PRIu64 ", senders: %" PRIu64 ", receivers: %" PRIu64
		            " }",
		            slots.count, senders, receivers);
		return NULL;
	}
	TRY(show_row_number(s, v, row->expr[1], &next));
	uint64_t lag = tail - next;
	show_printf(s, " { queued: %" PRIu64 " of %" PRIu64, lag < slots.count ? lag : slots.count,
	            slots.count);
	if (lag > slots.count)
		show_printf(s, ", lost: %" PRIu64, lag - slots.count);
	show_printf(s, ", senders: %" PRIu64 " }", senders);
	return NULL;
}

/* ---- tasks and runtimes ---- */

/* expr: the address of the task's header */
static struct error *show_task(struct show *s, struct value v, const struct show_row *row)
{
	struct collector *c = show_context(s);
	struct tokio_header h;
	struct tokio *k = NULL;
	uint64_t addr;

	if (!c || !tokio_of(c->in)->copies)
		return error_new(ERR_LAYOUT, "no tokio");
	TRY(show_row_number(s, v, row->expr[0], &addr));
	TRY(leaf_task_read(c, addr, &h, &k));
	show_type_last(s, v.type);
	show_printf(s, " { task: %" PRIu64 ", finished: %s }", h.id,
	            tokio_task_state(h.state) == TASK_COMPLETE ? "true" : "false");
	return NULL;
}

static struct error *show_join_set(struct show *s, struct value v, const struct show_row *row)
{
	uint64_t n;

	(void)row;
	TRY(show_row_number(s, v, tokio_show_path_of(leaf_task_layout, "join_set.length"), &n));
	show_printf(s, "JoinSet { len: %" PRIu64 " }", n);
	return NULL;
}

/* expr: the enum of its flavor */
static struct error *show_handle(struct show *s, struct value v, const struct show_row *row)
{
	struct collector *c = show_context(s);
	const struct variant *active;
	struct value inner, shared;

	TRY(show_row_place(s, v, row->expr[0], &inner));
	if (!c || type_kind(inner.type) != TYPE_ENUM)
		return error_new(ERR_LAYOUT, "no enum");
	TRY(value_variant(show_target(s), inner, &active));
	const struct member *m = type_member(active->payload, "__0");
	if (!m)
		return error_new(ERR_LAYOUT, "payload");
	TRY(value_shared(show_target(s),
	                 (struct value){ m->type, inner.addr + active->offset + m->offset },
	                 &shared));
	show_type_last(s, v.type);
	show_printf(s, " { flavor: %s",
	            strcmp(active->name, "CurrentThread") == 0 ? "current_thread" : "multi_thread");
	const struct tokio_walk *w = tokio_walk(c);
	for (size_t i = 0; i < w->nruntimes; i++) {
		const struct runtime_info *info = w->runtimes[i].info;

		if (w->runtimes[i].handle.addr != shared.addr || !info)
			continue;
		show_printf(s, ", runtime: %u", info->index);
		if (info->name)
			show_printf(s, ", name: \"%s\"", info->name);
		break;
	}
	show_put(s, " }");
	return NULL;
}

/* ---- times ---- */

/* Prints where the deadline lies from now. */
static struct error *put_deadline(struct show *s, struct value v, const char *expr)
{
	struct collector *c = show_context(s);
	struct value deadline;
	const char *when;
	uint64_t ns;

	if (!c)
		return error_new(ERR_LAYOUT, "no snapshot");
	TRY(show_row_place(s, v, expr, &deadline));
	TRY(instant_read(c->in, deadline, &ns));
	when = instant_text(c, ns);
	show_type_last(s, v.type);
	show_put(s, " { ");
	if (when)
		show_put(s, when);
	else
		show_inner(s, deadline);
	return NULL;
}

static struct error *show_sleep(struct show *s, struct value v, const struct show_row *row)
{
	(void)row;
	TRY(put_deadline(s, v, tokio_show_path_of(leaf_time_layout, "sleep.deadline")));
	show_put(s, " }");
	return NULL;
}

static struct error *show_interval(struct show *s, struct value v, const struct show_row *row)
{
	struct value period;

	TRY(show_row_place(s, v, row->expr[0], &period));
	TRY(put_deadline(s, v, tokio_show_path_of(leaf_time_layout, "interval.deadline")));
	show_put(s, ", period: ");
	show_inner(s, period);
	show_put(s, " }");
	return NULL;
}

#define MEMBER(t, w, path)                                                                         \
	{                                                                                          \
		t, w, SHOW_MEMBER, { path }, NULL                                                  \
	}
#define POINTEE(t, w, path)                                                                        \
	{                                                                                          \
		t, w, SHOW_POINTEE, { path }, NULL                                                 \
	}
#define SOCKET(t)                                                                                  \
	{                                                                                          \
		t, "tokio::net", SHOW_SOCKET, { "io.io.inner.inner.fd" }, NULL                     \
	}
#define OWN(t, w, function, ...)                                                                   \
	{                                                                                          \
		t, w, SHOW_OWN, { __VA_ARGS__ }, function                                          \
	}
/* 1.22 and newer | before */
#define BATCH "semaphore.semaphore | semaphore.0"
#define MPSC  "tokio::sync::mpsc"

const struct show_row tokio_shown[] = {
	MEMBER("MutexGuard", "tokio::sync", "lock.c"),
	MEMBER("OwnedMutexGuard", "tokio::sync", "lock.c"),
	POINTEE("RwLockReadGuard", "tokio::sync", "data"),
	POINTEE("RwLockWriteGuard", "tokio::sync", "data"),
	MEMBER("Instant", "tokio::time", "std"),
	SOCKET("TcpStream"),
	SOCKET("TcpListener"),
	SOCKET("UdpSocket"),
	SOCKET("UnixStream"),
	SOCKET("UnixListener"),
	OWN("Semaphore", "tokio::sync::semaphore", show_semaphore, "ll_sem"),
	OWN("Semaphore", "tokio::sync::batch_semaphore", show_semaphore, NULL),
	OWN("Mutex", "tokio::sync", tokio_show_mutex, "c", "s"),
	OWN("RwLock", "tokio::sync", show_rwlock, "c", "s"),
	OWN("Notify", "tokio::sync", show_notify, "state"),
	OWN("Barrier", "tokio::sync", show_barrier, NULL),
	OWN("OnceCell", "tokio::sync", show_set_once, "value", "value_set"),
	OWN("SetOnce", "tokio::sync", show_set_once, "value", "value_set"),
	OWN("CancellationToken", "tokio_util::sync", show_token, "inner"),
	OWN("Sender", MPSC, tokio_show_mpsc, "chan.inner", BATCH),
	OWN("WeakSender", MPSC, tokio_show_mpsc, "chan", BATCH),
	OWN("Receiver", MPSC, tokio_show_mpsc, "chan.inner", BATCH),
	OWN("UnboundedSender", MPSC, tokio_show_mpsc, "chan.inner", NULL),
	OWN("WeakUnboundedSender", MPSC, tokio_show_mpsc, "chan", NULL),
	OWN("UnboundedReceiver", MPSC, tokio_show_mpsc, "chan.inner", NULL),
	OWN("Sender", "tokio::sync::oneshot", tokio_show_oneshot_sender, "inner.Some.0"),
	OWN("Receiver", "tokio::sync::oneshot", tokio_show_oneshot_receiver, "inner.Some.0"),
	OWN("Sender", "tokio::sync::watch", show_watch, "shared", NULL),
	OWN("Receiver", "tokio::sync::watch", show_watch, "shared", "version"),
	OWN("Sender", "tokio::sync::broadcast", show_broadcast, "shared", NULL),
	OWN("WeakSender", "tokio::sync::broadcast", show_broadcast, "shared", NULL),
	OWN("Receiver", "tokio::sync::broadcast", show_broadcast, "shared", "next"),
	OWN("JoinHandle", "tokio::runtime::task", show_task, "raw"),
	OWN("AbortHandle", "tokio::runtime::task", show_task, "raw"),
	OWN("JoinSet", "tokio::task", show_join_set, NULL),
	/* The insides of a runtime would fill a line. */
	OWN("Handle", "tokio::runtime::handle", show_handle, "inner"),
	OWN("Runtime", "tokio::runtime::runtime", show_handle, "handle.inner"),
	OWN("Sleep", "tokio::time", show_sleep, NULL),
	OWN("Interval", "tokio::time", show_interval, "period"),
	{ 0 },
};
