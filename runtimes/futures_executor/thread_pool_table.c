/* Registers futures_executor's ThreadPool as a runtime. */
#include "runtimes/futures_executor/thread_pool.h"

static const struct mark_row marks[] = {
	{ "futures_executor::thread_pool::PoolState", "work", MARK_WORKER_RUN },
	{ "futures_executor::thread_pool::Task", "run", MARK_TASK_POLL },
	{ 0 },
};

static const char *const functions[] = { THREAD_POOL_WAKE, NULL };
static const char *const boundaries[] = { "futures_executor::thread_pool::", NULL };

const struct crate_types thread_pool_types = {
	.path = "futures_executor::thread_pool::",
	.boundaries = boundaries,
};

const struct runtime thread_pool_table = {
	.name = thread_pool_name,
	.path = "futures_executor::thread_pool::",
	.executor = "futures_executor::thread_pool",
	.types = &thread_pool_types,
	.inspector_size = sizeof(struct thread_pool_inspector),
	.collector_size = sizeof(struct thread_pool_walk),
	.close = thread_pool_close,
	.detect_unused = thread_pool_detect_unused,
	.copy = thread_pool_get_copy,
	.scan = thread_pool_scan,
	.list = thread_pool_list,
	.decode = thread_pool_decode,
	.describe_threads = thread_pool_describe_threads,
	.note = thread_pool_note,
	.free = thread_pool_free,
	.tasks.whatis = thread_pool_whatis,
	.threads.marks = marks,
	.threads.loop = "futures_executor::thread_pool::",
	.tracing.functions = functions,
};
