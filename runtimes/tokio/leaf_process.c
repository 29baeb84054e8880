/* Decodes waits for a child process or a signal: tokio::process, tokio::signal. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "debugger/target/module.h"
#include "runtimes/tokio/tokio_leaf.h"

enum {
	CHILD_PIDFD,
	CHILD_POLLED,
	CHILD_SIGNAL,
	CHILD_PLAIN,
	SIGNAL_SHARED,
	SIGNAL_STORAGE,
	SIGNAL_SENDER,
};

#define RX_FUTURE_TYPE "tokio::signal::RxFuture"
#define CHILD_TYPE     "tokio::process::ChildDropGuard"

const struct binding_row leaf_process_layout[] = {
	/* since 1.36, which waits by pidfd or by SIGCHLD */
	[CHILD_PIDFD] = { "child.pidfd", "type:" CHILD_TYPE,
	                  "inner.PidfdReaper.0.inner.Some.0.inner.handle.pid", .optional = true },
	[CHILD_POLLED] = { "child.pidfd.io", "type:" CHILD_TYPE,
	                   "inner.PidfdReaper.0.inner.Some.0.pidfd", .optional = true },
	[CHILD_SIGNAL] = { "child.signal", "type:" CHILD_TYPE,
	                   "inner.SignalReaper.0.inner.Some.0.handle.pid", .optional = true },
	/* before */
	[CHILD_PLAIN] = { "child.plain", "type:" CHILD_TYPE, "inner.inner.inner.Some.0.handle.pid",
	                  .optional = true },
	[SIGNAL_SHARED] = { "signal.shared", "type:tokio::sync::watch::Receiver<()>", "shared",
	                    .optional = true },
	/* inside std's OnceLock, or tokio's OnceCell */
	[SIGNAL_STORAGE] = { "signal.storage", "type:tokio::signal::registry::Globals",
	                     "value.registry.storage | registry.storage", .optional = true },
	[SIGNAL_SENDER] = { "signal.sender", "type:tokio::signal::unix::SignalInfo",
	                    "event_info.tx.shared", .optional = true },
	{ 0 },
};

static struct error *arm_by_pidfd(struct leaf *l)
{
	struct value pidfd;
	bool found;

	TRY(leaf_place(l, l->v, leaf_process_layout[CHILD_POLLED].path, &pidfd, &found));
	return found ? leaf_io_arm_read(l, pidfd) : NULL;
}

static struct error *leaf_process_decode_child(struct leaf *l)
{
	static const unsigned rows[] = { CHILD_PIDFD, CHILD_SIGNAL, CHILD_PLAIN };
	uint64_t pid;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool found;

		TRY(leaf_optional_uint(l, l->v, leaf_process_layout[rows[i]].path, &pid, &found));
		if (!found)
			continue;
		if (rows[i] == CHILD_PIDFD)
			TRY(arm_by_pidfd(l));
		wait_int(l, "pid", (int64_t)pid);
		wait_phrase(l, "end of process %" PRIu64, pid);
		return NULL;
	}
	return error_new(ERR_LAYOUT, "%s has no process id", type_name(l->v.type));
}

/* ---- signals ---- */

enum { MAX_HOPS = 16, POLL_SLOT = 3 /* of a vtable: drop, size, align, poll */ };

/* The future in a ReusableBoxFuture; *found false where its type is unknown to the debug info. */
static struct error *leaf_process_boxed_future(const struct leaf *l, struct value v,
                                               struct value *ret, bool *found)
{
	struct target *t = l->d->c->in->target;
	uint64_t data, vtable;
	bool exact;

	*found = false;
	for (int hop = 0; v.type && !type_is_dyn(v.type) && hop < MAX_HOPS; hop++) {
		const struct member *m = type_single_member(v.type);

		if (!m)
			return NULL;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	if (!v.type || !type_is_dyn(v.type))
		return NULL;
	TRY(target_read_uint(t, v.addr + type_member(v.type, "pointer")->offset, 8, &data));
	TRY(target_read_uint(t, v.addr + type_member(v.type, "vtable")->offset, 8, &vtable));
	*ret = (struct value){ lookup_vtable(l->d->c->in->di, vtable, POLL_SLOT, &exact), data };
	*found = ret->type != NULL;
	return NULL;
}

/* The address of the channel whose watch::Receiver the suspended future owns; 0 none. */
static struct error *watched(const struct leaf *l, struct value future, uint64_t *ret)
{
	const struct variant *active;
	size_t n;

	*ret = 0;
	/* rustc up to 1.66 wraps coroutines. */
	for (int hop = 0; type_kind(future.type) == TYPE_STRUCT && hop < MAX_HOPS; hop++) {
		const struct member *m = type_single_member(future.type);

		if (!m)
			return NULL;
		future = (struct value){ m->type, future.addr + m->offset };
	}
	if (type_kind(future.type) != TYPE_ENUM)
		return NULL;
	TRY(value_variant(l->d->c->in->target, future, &active));
	struct value v = value_payload(future, active);
	const struct member *members = type_members(v.type, &n);
	for (size_t i = 0; i < n; i++) {
		struct value member = { members[i].type, v.addr + members[i].offset };

		if (member.type && type_is(member.type, "tokio::sync::watch::Receiver"))
			return leaf_uint(l, member, leaf_process_layout[SIGNAL_SHARED].path, ret);
	}
	return NULL;
}

/* The number of the signal that owns the channel; 0 when none does. */
static struct error *signal_in(const struct leaf *l, struct value globals, uint64_t channel,
                               uint64_t *ret)
{
	struct value storage;
	struct slice slice;
	bool found;

	*ret = 0;
	TRY(leaf_place(l, globals, leaf_process_layout[SIGNAL_STORAGE].path, &storage, &found));
	if (!found)
		return NULL;
	TRY(value_slice(l->d->c->in->target, storage, &slice));
	/* Indexed by signal number: from 0, since 1.49 from 1, up to SIGRTMAX. */
	uint64_t last = (uint64_t)SIGRTMAX;
	if (slice.count != last && slice.count != last + 1)
		return NULL;
	for (uint64_t i = 0; i < slice.count; i++) {
		struct value info = { slice.element, slice.addr + i * type_size(slice.element) };
		uint64_t sender;

		TRY(leaf_uint(l, info, leaf_process_layout[SIGNAL_SENDER].path, &sender));
		if (sender == channel)
			*ret = i + 1 + last - slice.count;
	}
	return NULL;
}

bool leaf_signal_globals(const struct type *t, struct value *ret)
{
	return type_is(t, RX_FUTURE_TYPE) &&
	       lookup_static(type_module(t), "tokio::signal::registry::globals::GLOBALS",
	                     &ret->type, &ret->addr);
}

static struct error *signal_of(const struct leaf *l, uint64_t channel, uint64_t *ret)
{
	struct value globals;

	*ret = 0;
	return leaf_signal_globals(l->v.type, &globals) ? signal_in(l, globals, channel, ret)
	                                                : NULL;
}

/* Whether the leaf that the future polls is armed. */
static enum waker_registered armed_inside(const struct future *f)
{
	while (!f->wait && f->nchildren == 1)
		f = f->children[0];
	return f->wait ? f->wait->armed : WAKER_REGISTERED_UNKNOWN;
}

static struct error *decode_signal(struct leaf *l)
{
	struct value future;
	uint64_t channel = 0, number = 0;
	bool found;

	TRY(leaf_process_boxed_future(l, l->v, &future, &found));
	if (found)
		TRY(watched(l, future, &channel));
	/* The boxed future is suspended only between a poll of its owner and the signal. */
	l->in_use = channel != 0;
	if (channel && !l->d->strict)
		l->w->armed = armed_inside(future_decode(l->d, future));
	if (channel)
		TRY(signal_of(l, channel, &number));
	const char *name = number && number < (uint64_t)SIGRTMIN ? sigabbrev_np((int)number) : NULL;
	if (number)
		wait_int(l, "signal", (int64_t)number);
	if (name)
		wait_phrase(l, "signal SIG%s", name);
	else if (number)
		wait_phrase(l, "signal %" PRIu64, number);
	else
		wait_phrase(l, "an unknown signal");
	return NULL;
}

const struct leaf_row leaf_process_rows[] = {
	{ .type = CHILD_TYPE, .kind = "process", .decode = leaf_process_decode_child },
	{ .type = RX_FUTURE_TYPE, .kind = "signal", .decode = decode_signal, .resource = true },
	{ 0 },
};
