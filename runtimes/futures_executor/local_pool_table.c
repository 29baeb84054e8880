/* Registers futures_executor's LocalPool as a runtime. */
#include "runtimes/futures_executor/local_pool.h"

/* try_run_one() polls the set itself and never waits; the other methods call poll_pool(). */
static const struct mark_row marks[] = {
	{ "futures_executor::local_pool::", "run_until", MARK_BLOCK_ON },
	{ "futures_executor::local_pool::", "run", MARK_WORKER_RUN },
	{ "futures_executor::local_pool::", "run_until_stalled", MARK_WORKER_RUN },
	{ "futures_executor::local_pool::", "try_run_one", MARK_TASK_POLL },
	{ "futures_executor::local_pool::", "poll_pool", MARK_TASK_POLL },
	{ 0 },
};

static const char *const functions[] = { "futures_executor::local_pool::run_executor",
	                                 "futures_executor::local_pool::LocalPool::run",
	                                 "std::thread::functions::park", "std::thread::park",
	                                 NULL };
static const char *const boundaries[] = { "futures_executor::local_pool::LocalPool", NULL };

const struct crate_types local_pool_types = {
	.path = "futures_executor::local_pool::LocalPool",
	.boundaries = boundaries,
};

const struct runtime local_pool_table = {
	.name = local_pool_name,
	.path = "futures_executor::local_pool::LocalPool",
	.executor = "futures_executor::local_pool",
	.types = &local_pool_types,
	.inspector_size = sizeof(struct local_pool_inspector),
	.collector_size = sizeof(struct local_pool_walk),
	.detect_unused = local_pool_detect_unused,
	.copy = local_pool_get_copy,
	.list = local_pool_list,
	.decode = local_pool_decode,
	.describe_threads = local_pool_describe_threads,
	.free = local_pool_free,
	.tasks.whatis = local_pool_whatis,
	.threads.marks = marks,
	.threads.loop = "futures_executor::local_pool::",
	.tracing.functions = functions,
};
