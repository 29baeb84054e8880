/* The crate deadpool: managed and unmanaged pools, in which a semaphore counts what is free. */
#include "runtimes/leaves/leaves.h"

#define MANAGED   "deadpool::managed::"
#define UNMANAGED "deadpool::unmanaged::"

#define MANAGED_POOL(path)                                                                         \
	{                                                                                          \
		.type = path "PoolInner", .part = "semaphore",                                     \
		.primitive = "tokio::sync::batch_semaphore::Semaphore", .size = "slots.size",      \
		.idle = "slots.vec.len", .max = "slots.max_size", .frame = path, .member = "self"  \
	}

/* The first row that fits a future's name counts. */
static const struct pool_row pools[] = {
	/* 0.12 and newer | before */
	MANAGED_POOL(MANAGED "pool::"),
	MANAGED_POOL(MANAGED),
	{ .type = UNMANAGED "PoolInner",
	  .part = "semaphore",
	  .primitive = "tokio::sync::batch_semaphore::Semaphore",
	  .size = "size",
	  .idle = "queue.len",
	  .max = "config.max_size",
	  .frame = UNMANAGED,
	  .member = "self" },
	{ 0 },
};

#define OBJECT(t, path, of_pool)                                                                   \
	{                                                                                          \
		.type = t "Object", .role = HOLDING_LOCK, .kind = "pool", .member = "pool",        \
		.content = path, .pool = of_pool                                                   \
	}

static const struct ownership_row holdings[] = {
	OBJECT(MANAGED "object::", "inner.Some.0.obj", &pools[0]),
	OBJECT(MANAGED, "inner.Some.0.obj", &pools[1]),
	OBJECT(UNMANAGED, "obj.Some.0", &pools[2]),
	{ 0 },
};

static const struct named_row named[] = {
	{ "pool", MANAGED "pool::PoolInner", "deadpool::" },
	{ "pool", MANAGED "PoolInner", "deadpool::" },
	{ "pool", UNMANAGED "PoolInner", "deadpool::" },
	{ 0 },
};

const struct crate_types deadpool_types = {
	.crate = "deadpool",
	.path = "deadpool::",
	.holdings = holdings,
	.named = named,
	.pools = pools,
};
