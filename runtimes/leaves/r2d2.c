/* The crate r2d2: threads wait for its connections at a condition variable. */
#include "runtimes/leaves/leaves.h"

static const struct pool_row pools[] = {
	{ .type = "r2d2::SharedPool",
	  .part = "cond",
	  .primitive = "parking_lot::condvar::Condvar",
	  .size = "internals.num_conns",
	  .idle = "internals.conns.len",
	  .max = "config.max_size",
	  .opening = "internals.pending_conns",
	  .handle = "r2d2::Pool" },
	{ 0 },
};

static const struct ownership_row holdings[] = {
	{ .type = "r2d2::PooledConnection",
	  .role = HOLDING_LOCK,
	  .kind = "pool",
	  .member = "pool",
	  .content = "conn.Some.0.conn",
	  .pool = pools },
	{ 0 },
};

static const struct named_row named[] = {
	{ "pool", "r2d2::SharedPool", "r2d2::" },
	{ 0 },
};

const struct crate_types r2d2_types = {
	.crate = "r2d2",
	.path = "r2d2::",
	.holdings = holdings,
	.named = named,
	.pools = pools,
};
