/* The crate sqlx: a semaphore counts the connections that may be taken or opened. */
#include "runtimes/leaves/leaves.h"

static const struct pool_row pools[] = {
	{ .type = "sqlx_core::pool::inner::PoolInner",
	  .part = "semaphore",
	  .primitive = "tokio::sync::batch_semaphore::Semaphore",
	  .size = "size",
	  .idle = "num_idle",
	  .max = "options.max_connections",
	  .frame = "sqlx_core::pool::inner::",
	  .member = "self" },
	{ 0 },
};

/* DecrementSizeGuard is that of a connection that is being opened, or given back. */
static const struct ownership_row holdings[] = {
	{ .type = "sqlx_core::pool::connection::PoolConnection",
	  .role = HOLDING_LOCK,
	  .kind = "pool",
	  .member = "pool",
	  .content = "live.Some.0.raw",
	  .pool = pools },
	{ .type = "sqlx_core::pool::inner::DecrementSizeGuard",
	  .role = HOLDING_LOCK,
	  .kind = "pool",
	  .member = "pool",
	  .pool = pools },
	{ 0 },
};

static const struct named_row named[] = {
	{ "pool", "sqlx_core::pool::inner::PoolInner", "sqlx_core::" },
	{ 0 },
};

const struct crate_types sqlx_types = {
	.crate = "sqlx",
	.path = "sqlx_",
	.holdings = holdings,
	.named = named,
	.pools = pools,
};
