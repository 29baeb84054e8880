/*
 * Rows for the types of tokio that hold what others wait for (guards, permits, channel ends), and
 * how the outputs of tasks are read.
 */
#include "dwarf/values/value.h"
#include "runtimes/ownership/ownership.h"
#include "runtimes/tokio/leaf_sync.h"
#include "runtimes/tokio/tokio.h"

#define T_SYNC "tokio::sync::"
#define MUTEX  T_SYNC "mutex::"
#define RWLOCK T_SYNC "rwlock::"
#define SEM    T_SYNC "semaphore::"
#define MPSC   T_SYNC "mpsc::"
#define CHAN   MPSC "chan::Chan"
#define BATCH  T_SYNC "batch_semaphore::Semaphore"
#define LOCK   HOLDING_LOCK

/* Reads the permits left in a batch semaphore, which is in a lock or stands alone. */
static struct error *tokio_ownership_left(const struct leaf *l, struct value primitive,
                                          uint64_t *addr, uint64_t *permits)
{
	struct value semaphore;
	uint64_t number;
	bool found;

	TRY(leaf_strip_to(l, primitive, BATCH, &semaphore, &found));
	if (!found)
		return error_new(ERR_LAYOUT, "%s has no semaphore", type_name(primitive.type));
	*addr = semaphore.addr;
	TRY(leaf_uint(l, semaphore, sync_path(SEMAPHORE_PERMITS), &number));
	*permits = number >> PERMIT_SHIFT;
	return NULL;
}

#define MUTEX_OF(t, path)                                                                          \
	{                                                                                          \
		.type = t, .role = LOCK, .kind = "mutex", .member = path, .of = MUTEX "Mutex",     \
		.part = "s", .left = tokio_ownership_left, .single = true                          \
	}
#define RWLOCK_OF(t, k, n)                                                                         \
	{                                                                                          \
		.type = t, .role = LOCK, .kind = k, .member = "lock", .of = RWLOCK "RwLock",       \
		.part = "s", .total = "mr", .permits = n, .left = tokio_ownership_left             \
	}
#define RWLOCK_BARE(t, k, n)                                                                       \
	{                                                                                          \
		.type = t, .role = LOCK, .kind = k, .member = "s", .of = BATCH, .part = "",        \
		.permits = n, .whole = RWLOCK "RwLock", .total = "mr",                             \
		.left = tokio_ownership_left                                                       \
	}
#define PERMIT_OF(t)                                                                               \
	{                                                                                          \
		.type = t, .role = LOCK, .kind = "semaphore", .member = "sem",                     \
		.of = SEM "Semaphore", .part = "ll_sem", .permits = "permits",                     \
		.left = tokio_ownership_left                                                       \
	}
/* 1.22 and newer | before */
#define BOUND "semaphore.semaphore | semaphore.0"
#define SEND_PERMIT(t, path, n, e)                                                                 \
	{                                                                                          \
		.type = t, .role = LOCK, .kind = "mpsc", .member = path, .of = CHAN,               \
		.part = BOUND, .permits = n, .left = tokio_ownership_left, .end = e                \
	}
#define END_OF(t, r, k, path, o, p)                                                                \
	{                                                                                          \
		.type = t, .role = r, .kind = k, .member = path, .of = o, .part = p                \
	}
#define MAILBOX(t, p)                                                                              \
	{                                                                                          \
		.type = t, .role = HOLDING_RECEIVER, .kind = "mpsc", .member = "chan.inner",       \
		.of = CHAN, .part = p, .queue = true                                               \
	}

const struct ownership_row tokio_holdings[] = {
	MUTEX_OF(MUTEX "MutexGuard", "lock"),
	MUTEX_OF(MUTEX "OwnedMutexGuard", "lock"),
	MUTEX_OF(MUTEX "OwnedMappedMutexGuard", "lock"),
	{ .type = MUTEX "MappedMutexGuard",
	  .role = LOCK,
	  .kind = "mutex",
	  .member = "s",
	  .of = BATCH,
	  .part = "",
	  .left = tokio_ownership_left,
	  .single = true },
	/* since 1.3 in modules of their own | before */
	RWLOCK_BARE(RWLOCK "read_guard::RwLockReadGuard", "rwlock_read", NULL),
	RWLOCK_BARE(RWLOCK "RwLockReadGuard", "rwlock_read", NULL),
	RWLOCK_BARE(RWLOCK "write_guard::RwLockWriteGuard", "rwlock_write", "permits_acquired"),
	RWLOCK_BARE(RWLOCK "RwLockWriteGuard", "rwlock_write", "permits_acquired"),
	RWLOCK_BARE(RWLOCK "write_guard_mapped::RwLockMappedWriteGuard", "rwlock_write",
	            "permits_acquired"),
	RWLOCK_OF(RWLOCK "owned_read_guard::OwnedRwLockReadGuard", "rwlock_read", NULL),
	RWLOCK_OF(RWLOCK "owned_write_guard::OwnedRwLockWriteGuard", "rwlock_write",
	          "permits_acquired"),
	RWLOCK_OF(RWLOCK "owned_write_guard_mapped::OwnedRwLockMappedWriteGuard", "rwlock_write",
	          "permits_acquired"),
	PERMIT_OF(SEM "SemaphorePermit"),
	PERMIT_OF(SEM "OwnedSemaphorePermit"),
	SEND_PERMIT(MPSC "bounded::Permit", "chan.inner", NULL, LOCK),
	SEND_PERMIT(MPSC "bounded::OwnedPermit", "chan.Some.0.inner", NULL, HOLDING_SENDER),
	SEND_PERMIT(MPSC "bounded::PermitIterator", "chan.inner", "n", LOCK),
	END_OF(MPSC "bounded::Sender", HOLDING_SENDER, "mpsc", "chan.inner", CHAN, ""),
	END_OF(MPSC "unbounded::UnboundedSender", HOLDING_SENDER, "mpsc", "chan.inner", CHAN, ""),
	/* Senders wait at the channel's semaphore. */
	MAILBOX(MPSC "bounded::Receiver", BOUND),
	MAILBOX(MPSC "unbounded::UnboundedReceiver", ""),
	END_OF(T_SYNC "oneshot::Sender", HOLDING_SENDER, "oneshot", "inner.Some.0",
	       T_SYNC "oneshot::Inner", ""),
	END_OF(T_SYNC "oneshot::Receiver", HOLDING_RECEIVER, "oneshot", "inner.Some.0",
	       T_SYNC "oneshot::Inner", ""),
	END_OF(T_SYNC "watch::Sender", HOLDING_SENDER, "watch", "shared", T_SYNC "watch::Shared",
	       ""),
	END_OF(T_SYNC "watch::Receiver", HOLDING_RECEIVER, "watch", "shared",
	       T_SYNC "watch::Shared", ""),
	END_OF(T_SYNC "broadcast::Sender", HOLDING_SENDER, "broadcast", "shared",
	       T_SYNC "broadcast::Shared", ""),
	END_OF(T_SYNC "broadcast::Receiver", HOLDING_RECEIVER, "broadcast", "shared",
	       T_SYNC "broadcast::Shared", ""),
	{ .type = T_SYNC "notify::Notify",
	  .role = HOLDING_WAKER,
	  .kind = "notify",
	  .member = "",
	  .of = T_SYNC "notify::Notify",
	  .part = "",
	  .shared = true },
	END_OF("tokio_util::sync::cancellation_token::CancellationToken", HOLDING_WAKER,
	       "cancellation", "inner", "tokio_util::sync::cancellation_token::tree_node::TreeNode",
	       ""),
	/* A DropGuard has a token as a member. */
	{ .type = "tokio::runtime::task::abort::AbortHandle",
	  .role = HOLDING_WAKER,
	  .kind = "abort",
	  .member = "raw",
	  .part = "" },
	DESCRIPTOR_OF("tokio::net::tcp::stream::TcpStream"),
	DESCRIPTOR_OF("tokio::net::tcp::listener::TcpListener"),
	DESCRIPTOR_OF("tokio::net::tcp::socket::TcpSocket"),
	DESCRIPTOR_OF("tokio::net::udp::UdpSocket"),
	DESCRIPTOR_OF("tokio::net::unix::stream::UnixStream"),
	DESCRIPTOR_OF("tokio::net::unix::listener::UnixListener"),
	DESCRIPTOR_OF("tokio::net::unix::datagram::socket::UnixDatagram"),
	DESCRIPTOR_OF("tokio::net::unix::pipe::Sender"),
	DESCRIPTOR_OF("tokio::net::unix::pipe::Receiver"),
	DESCRIPTOR_OF("tokio::process::ChildStdin"),
	DESCRIPTOR_OF("tokio::process::ChildStdout"),
	DESCRIPTOR_OF("tokio::process::ChildStderr"),
	DESCRIPTOR_OF("tokio::io::async_fd::AsyncFd"),
	DESCRIPTOR_OF("tokio::io::poll_evented::PollEvented"),
	{ 0 },
};

const struct special_row tokio_specials[] = {
	{ T_SYNC "batch_semaphore::Acquire", SPECIAL_ACQUIRE },
	{ "tokio::runtime::task::join::JoinHandle", SPECIAL_JOIN },
	{ "tokio::task::join_set::JoinSet", SPECIAL_HIDDEN },
	{ 0 },
};

const struct named_row tokio_named[] = {
	{ "mutex", MUTEX "Mutex", NULL },
	{ "rwlock_read", RWLOCK "RwLock", NULL },
	{ "rwlock_write", RWLOCK "RwLock", NULL },
	{ "semaphore", SEM "Semaphore", NULL },
	{ "notify", T_SYNC "notify::Notify", NULL },
	{ 0 },
};

struct error *tokio_acquired(const struct leaf *l, struct value v, struct found *ret, bool *found)
{
	struct value reference, semaphore;
	uint64_t wanted, missing, queued, number;

	TRY(leaf_uint(l, v, sync_path(ACQUIRE_WANTED), &wanted));
	TRY(leaf_uint(l, v, sync_path(ACQUIRE_MISSING), &missing));
	TRY(leaf_uint(l, v, sync_path(ACQUIRE_QUEUED), &queued));
	*found = queued && missing < wanted;
	if (!*found)
		return NULL;
	TRY(leaf_place(l, v, sync_path(ACQUIRE_SEMAPHORE), &reference, found));
	if (*found)
		TRY(leaf_strip_to(l, reference, BATCH, &semaphore, found));
	if (!*found)
		return NULL;
	TRY(leaf_uint(l, semaphore, sync_path(SEMAPHORE_PERMITS), &number));
	ret->h.role = LOCK;
	ret->h.kind = "semaphore";
	ret->h.granted = true;
	ret->h.partial = missing != 0;
	ret->h.primitive = semaphore.addr;
	ret->h.permits = wanted - missing;
	ret->available = number >> PERMIT_SHIFT;
	ret->has_available = true;
	return NULL;
}

struct error *tokio_output(struct collector *c, struct value join, struct value *ret, bool *found)
{
	static const char raw_path[] = "raw", output_path[] = "core.stage.Finished.0";
	struct inspector *in = c->in;
	const struct task_plan *plan = NULL;
	struct tokio_header h = { 0 };
	struct value raw;
	uint64_t addr;

	TRY(inspector_eval(in, join, raw_path, &raw, found));
	if (!*found)
		return NULL;
	*found = false;
	TRY(value_uint(in->target, raw, &addr));
	for (struct tokio *k = tokio_of(in)->copies; k && !plan; k = k->next) {
		struct error *err = tokio_read_header(in->target, k, addr, &h);

		if (!err)
			plan = tokio_task_plan(in, k, h.poll);
		error_free(err);
	}
	if (!plan || tokio_task_state(h.state) != TASK_COMPLETE)
		return NULL;
	if (!plan->cell)
		return error_new(ERR_LAYOUT, "%s", plan->problem ? plan->problem : "no cell");
	return inspector_eval(in, (struct value){ plan->cell, addr }, output_path, ret, found);
}
