/*
 * The crate bb8: a task that finds no idle connection waits at a Notify of the pool; in 0.8.0 and
 * 0.8.1, for a guard with a connection that is sent through a oneshot channel of futures (bb8
 * 0.8.0, internals.rs).
 */
#include "runtimes/leaves/leaves.h"

static const struct pool_row pools[] = {
	{ .type = "bb8::internals::SharedPool",
	  .part = "notify",
	  .primitive = "tokio::sync::notify::Notify",
	  .size = "internals.num_conns",
	  .idle = "internals.conns.len",
	  .max = "statics.max_size",
	  .opening = "internals.pending_conns",
	  .frame = "bb8::inner::",
	  .member = "self",
	  .sent = "bb8::internals::InternalsGuard" },
	{ 0 },
};

static const struct ownership_row holdings[] = {
	{ .type = "bb8::api::PooledConnection",
	  .role = HOLDING_LOCK,
	  .kind = "pool",
	  .member = "pool.Borrowed.0",
	  .or_member = "pool.Owned.0",
	  .content = "conn.Some.0.conn",
	  .pool = pools },
	{ 0 },
};

static const struct named_row named[] = {
	{ "pool", "bb8::internals::SharedPool", "bb8::" },
	{ 0 },
};

const struct crate_types bb8_types = {
	.crate = "bb8",
	.path = "bb8::",
	.holdings = holdings,
	.named = named,
	.pools = pools,
};
