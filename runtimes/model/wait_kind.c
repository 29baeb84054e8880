#include "runtimes/model/wait_kind.h"

#include <string.h>

#define BY_LOCK     (1U << HOLDING_LOCK)
#define BY_SENDER   (1U << HOLDING_SENDER)
#define BY_RECEIVER (1U << HOLDING_RECEIVER)
#define BY_WAKER    (1U << HOLDING_WAKER)
#define BY_SLOT     (1U << HOLDING_SLOT)

#define QUEUE   "polled granted passed_over closed position tasks_ahead behind tasks_behind"
#define PERMITS QUEUE " permits_wanted permits_missing permits_available"
#define POOL    QUEUE " size max_size idle in_use opening own_frames"
#define RWLOCK  QUEUE " writer readers permits_held"
#define SLEEP   "deadline_ns remaining_ms now registered runtime"
#define FD      "fd descriptor local peer tcp_state syns_sent"
#define IO      "resource direction registered readiness passed_over " FD " " SEND " " TLS
#define TLS     "tls_role tls_phase tls_version tls_server_name"
#define SEND    "send_queue unacknowledged peer_window retransmits"
#define MPSC    "queued capacity senders weak_senders closed"
#define ENDS    "queued capacity senders receivers weak_ends may_close closed"
#define WATCH   "version version_seen closed receivers senders"
#define SET     "tasks_in_set finished tasks states"
#define HTTP    "http_role http_version http_phase http_method " REQUEST
#define REQUEST "http_path http_path_uncertain http_queued " STREAMS
#define STREAMS "http_streams http_pending http_window http_head_timeout_ms"
#define QUIC    "quic_role quic_peer quic_closed wants"
#define FRAME   "frame function file line"

/* A lock of an async runtime. */
#define LOCK(word, part, called)                                                                   \
	.name = (word), .target = WAIT_LOCK, .access = (part), .noun = (called), .roles = BY_LOCK
/* An end of a channel that waits for the ends of the role `by`. */
#define CHANNEL(word, called, by)                                                                  \
	.name = (word), .target = WAIT_CHANNEL, .noun = called " channel", .object = "channel",    \
	.roles = (by)
#define NATIVE(word, to)                                                                           \
	.name = (word), .target = (to), .roles = BY_LOCK, .details = FRAME " thread"

const struct wait_kind wait_kinds[] = {
	{ LOCK("mutex", WAIT_WHOLE, "Mutex"), .object = "lock", .has_holder = true,
	  .details = QUEUE " waiting" },
	{ LOCK("rwlock_read", WAIT_READ, "RwLock"), .object = "lock", .has_holder = true,
	  .details = RWLOCK },
	{ LOCK("rwlock_write", WAIT_WRITE, "RwLock"), .object = "lock", .has_holder = true,
	  .details = RWLOCK },
	{ .name = "semaphore",
	  .target = WAIT_LOCK,
	  .access = WAIT_PERMITS,
	  .noun = "Semaphore",
	  .object = "lock",
	  .roles = BY_LOCK | BY_SLOT,
	  .has_holder = true,
	  .details = PERMITS },
	{ LOCK("pool", WAIT_SLOTS, "pool"), .object = "pool", .has_holder = true,
	  .details = POOL " " FRAME " thread" },
	{ LOCK("once_cell", WAIT_WHOLE, "OnceCell"), .details = QUEUE " value_set" },
	{ .name = "mpsc_send",
	  .target = WAIT_LOCK,
	  .access = WAIT_ROOM,
	  .noun = "mpsc channel",
	  .object = "channel",
	  .roles = BY_LOCK | BY_RECEIVER,
	  .has_holder = true,
	  .tells_closed = true,
	  .details = PERMITS " " MPSC },

	{ CHANNEL("mpsc_recv", "mpsc", BY_SENDER), .has_holder = true, .one_waiter = true,
	  .ends = "senders", .queue = "queued", .details = MPSC },
	{ CHANNEL("oneshot", "oneshot", BY_SENDER), .has_holder = true, .one_waiter = true,
	  .ends = "sender_alive", .queue = "value_there",
	  .details = "sender_alive value_there closed polled" },
	{ CHANNEL("watch", "watch", BY_SENDER), .has_holder = true, .ends = "senders",
	  .ends_may_lack = true, .has_versions = true, .tells_closed = true, .details = WATCH },
	{ CHANNEL("broadcast", "broadcast", BY_SENDER), .has_holder = true, .ends = "senders",
	  .queue = "lag", .details = "lag capacity senders receivers closed may_close" },
	/* A channel that may have several receivers. */
	{ .name = "channel_recv",
	  .target = WAIT_CHANNEL,
	  .noun = "channel",
	  .object = "channel",
	  .roles = BY_SENDER,
	  .has_holder = true,
	  .ends = "senders",
	  .queue = "queued",
	  .tells_closed = true,
	  .details = ENDS },
	{ .name = "channel_send",
	  .target = WAIT_CHANNEL,
	  .noun = "channel",
	  .object = "channel",
	  .roles = BY_RECEIVER,
	  .has_holder = true,
	  .ends = "receivers",
	  .tells_closed = true,
	  .details = ENDS " granted" },
	{ .name = "channel_closed",
	  .target = WAIT_CHANNEL,
	  .noun = "channel",
	  .object = "channel",
	  .roles = BY_RECEIVER,
	  .ends = "receivers",
	  .tells_closed = true,
	  .details = ENDS },
	{ CHANNEL("broadcast_send", "broadcast", BY_RECEIVER), .has_holder = true,
	  .ends = "receivers", .tells_closed = true, .details = ENDS },
	{ CHANNEL("mpsc_closed", "mpsc", BY_RECEIVER), .tells_closed = true, .details = MPSC },
	{ CHANNEL("oneshot_closed", "oneshot", BY_RECEIVER), .ends = "receiver_alive",
	  .details = "receiver_alive polled" },
	{ CHANNEL("watch_closed", "watch", BY_RECEIVER), .ends = "receivers", .details = WATCH },
	{ CHANNEL("broadcast_closed", "broadcast", BY_RECEIVER), .ends = "receivers",
	  .details = "receivers" },

	{ .name = "notify",
	  .target = WAIT_WAKERS,
	  .noun = "notify",
	  .object = "notify",
	  .roles = BY_WAKER,
	  .details = "notified passed_over position tasks_ahead" },
	{ .name = "cancellation",
	  .target = WAIT_WAKERS,
	  .noun = "cancellation",
	  .roles = BY_WAKER,
	  .details = "cancelled" },
	{ .name = "barrier",
	  .target = WAIT_WAKERS,
	  .noun = "barrier",
	  .roles = BY_WAKER,
	  .details = "arrived wanted complete passed_over" },
	{ .name = "set_once",
	  .target = WAIT_WAKERS,
	  .noun = "set_once",
	  .roles = BY_WAKER,
	  .details = "value_set" },

	{ .name = "join",
	  .target = WAIT_TASK,
	  .object = "task",
	  .details = "task_state job thread ahead" },
	{ .name = "join_set",
	  .target = WAIT_TASK_SET,
	  .noun = "join set",
	  .object = "set",
	  .details = SET },
	{ .name = "local_set", .target = WAIT_LOCAL_SET, .noun = "LocalSet", .details = "tasks" },
	{ .name = "task_tracker", .details = "tasks_in_set closed" },
	{ .name = "executor" },

	{ .name = "sleep", .object = "timer", .details = SLEEP },
	{ .name = "interval", .object = "timer", .details = SLEEP " period_ns" },
	{ .name = "io", .details = IO },
	{ .name = "process", .details = "pid" },
	{ .name = "duplex",
	  .details = "resource direction registered buffered capacity other_end_alive " TLS },
	{ .name = "blocking", .details = "resource busy passed_over " FD },
	{ .name = "pending", .target = WAIT_FOREVER },
	{ .name = "ready" },
	{ .name = "yield" },
	{ .name = "waker", .details = "wakers " IO },
	{ .name = "nothing", .target = WAIT_NOBODY },
	{ .name = "empty" },
	{ .name = "unknown" },
	{ .name = "http", .details = HTTP },
	{ .name = "http_body", .details = "value_there sender_alive" },
	{ .name = "http_stream", .details = "stream wants stream_state buffered window" },
	{ .name = "async_std_task", .details = "task_number task_name" },
	{ .name = "abortable", .details = "aborted" },
	{ .name = "want", .details = "is_wanted taker_alive" },
	{ .name = "quic", .details = QUIC },
	{ .name = "quic_stream", .details = "stream buffered window " QUIC },
	{ .name = "websocket",
	  .details = "websocket_role websocket_state buffered resource " FD " " TLS },

	{ NATIVE("std_mutex", WAIT_NATIVE_LOCK), .access = WAIT_WHOLE, .noun = "std Mutex",
	  .object = "lock", .has_holder = true },
	{ NATIVE("std_rwlock", WAIT_NATIVE_LOCK), .noun = "std RwLock", .object = "lock",
	  .has_holder = true },
	{ NATIVE("parking_lot", WAIT_NATIVE_LOCK), .noun = "parking_lot lock", .object = "lock",
	  .has_holder = true },
	{ NATIVE("std_condvar", WAIT_OUTSIDE), .object = "lock" },
	{ NATIVE("std_barrier", WAIT_OUTSIDE) },
	{ NATIVE("std_once", WAIT_OUTSIDE) },
	{ NATIVE("std_join", WAIT_THREAD), .object = "task" },
	{ NATIVE("std_channel", WAIT_OUTSIDE), .object = "channel" },
	{ NATIVE("std_thread_park", WAIT_OUTSIDE) },
	{ .name = "syscall",
	  .target = WAIT_SYSCALL,
	  .details = FRAME " syscall syscall_number fd" },
	{ .name = "kernel", .details = FRAME },
	{ .name = "compute", .target = WAIT_RUNNING, .details = FRAME },
	/* Threads: a fatal signal. Futures: a signal that the program waits for. */
	{ .name = "signal", .target = WAIT_RUNNING, .details = FRAME " signal" },
	{ .roles = BY_LOCK },
};

const struct wait_kind *wait_kind(const char *name)
{
	const struct wait_kind *k = wait_kinds;

	/* Compares first letters first: every wait of a hundred thousand tasks asks several times.
	 */
	while (k->name && (!name || k->name[0] != name[0] || strcmp(k->name, name) != 0))
		k++;
	return k;
}

const struct wait_kind *wait_kind_of(const struct wait *w)
{
	return wait_kind(w ? w->kind : NULL);
}

bool wait_kind_ended_by(const struct wait_kind *k, enum holding_role role)
{
	return k->roles >> role & 1;
}

bool wait_is_closed(const struct wait *w)
{
	const struct wait_kind *k = wait_kind_of(w);
	int64_t n;

	if (k->tells_closed)
		return wait_yes(w, "closed");
	return k->ends && wait_number(w, k->ends, &n) && n == 0 &&
	       (!k->queue || (wait_number(w, k->queue, &n) && n == 0));
}

/* ---- details ---- */

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; at && len && (at = strstr(at, word)); at += len) {
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	}
	return false;
}

bool wait_detail_is_known(const struct wait_kind *k, const char *key)
{
	if (strchr(key, ' '))
		return false;
	if (has_word(k->details, key))
		return true;
	for (k = wait_kinds; k->name; k++) {
		if (has_word(k->details, key))
			return true;
	}
	return false;
}

bool wait_number(const struct wait *w, const char *key, int64_t *ret)
{
	for (size_t i = 0; i < w->ndetails; i++) {
		const struct wait_detail *d = &w->details[i];

		if ((d->kind == DETAIL_INT || d->kind == DETAIL_BOOL) && strcmp(d->key, key) == 0) {
			*ret = d->number;
			return true;
		}
	}
	return false;
}

bool wait_yes(const struct wait *w, const char *key)
{
	int64_t number;

	return wait_number(w, key, &number) && number;
}

static const struct wait_detail *detail_of(const struct wait *w, const char *key,
                                           enum detail_kind kind)
{
	for (size_t i = 0; i < w->ndetails; i++) {
		if (w->details[i].kind == kind && strcmp(w->details[i].key, key) == 0)
			return &w->details[i];
	}
	return NULL;
}

const char *wait_text(const struct wait *w, const char *key)
{
	const struct wait_detail *d = detail_of(w, key, DETAIL_STRING);

	return d ? d->string : NULL;
}

const struct wait_detail *wait_texts(const struct wait *w, const char *key)
{
	return detail_of(w, key, DETAIL_LIST);
}
