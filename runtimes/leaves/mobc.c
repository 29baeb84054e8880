/*
 * The crate mobc: a semaphore counts its connections; a task that has one has a permit of it too.
 */
#include "runtimes/leaves/leaves.h"

static const struct pool_row pools[] = {
	{ .type = "mobc::SharedPool",
	  .part = "semaphore",
	  .primitive = "tokio::sync::batch_semaphore::Semaphore",
	  .size = "state.num_open.v",
	  .idle = "internals.value.free_conns.len",
	  .max = "internals.value.config.max_open",
	  .frame = "mobc::",
	  .member = "self" },
	{ 0 },
};

static const struct ownership_row holdings[] = {
	{ .type = "mobc::Connection",
	  .role = HOLDING_LOCK,
	  .kind = "pool",
	  .member = "pool",
	  .content = "conn.Some.0.inner | conn.Some.0.raw", /* later | 0.8.0 to 0.8.2 */
	  .pool = pools },
	{ 0 },
};

static const struct named_row named[] = {
	{ "pool", "mobc::SharedPool", "mobc::" },
	{ 0 },
};

const struct crate_types mobc_types = {
	.crate = "mobc",
	.path = "mobc::",
	.holdings = holdings,
	.named = named,
	.pools = pools,
};
