/* Registers the executors of async-executor as a runtime. */
#include "runtimes/async_executor/executor.h"

static const struct mark_row marks[] = {
	{ "async_task::raw::RawTask<", "run", MARK_TASK_POLL },
	{ 0 },
};

static const char *const spawners[] = { "async_executor::", "smol::spawn::", NULL };
static const char *const spawn_through[] = { "async_task::", "async_executor::", "smol::", "core::",
	                                     "std::",        "alloc::",          NULL };

static const char *const boundaries[] = { "async_executor::", "async_task::", NULL };

static const struct leaf_row *const own_leaves[] = { async_executor_own_leaves, NULL };
static const struct leaf_row *const task_leaves[] = { async_executor_task_leaves, NULL };

const struct crate_types async_executor_types = {
	.path = "async_executor::",
	.leaves = own_leaves,
	.boundaries = boundaries,
};

const struct crate_types async_executor_task_types = {
	.path = "async_task::",
	.leaves = task_leaves,
	.combinators = async_executor_task_combinators,
};

static void executor_table_free_walk(struct collector *c)
{
	map_free(&async_executor_walk(c)->plans);
	map_free(&async_executor_walk(c)->locations);
}

const struct runtime executor_table = {
	.name = async_executor_name,
	.path = "async_task::",
	.executor = "async_executor",
	.types = &async_executor_types,
	.inspector_size = sizeof(struct async_executor_inspector),
	.collector_size = sizeof(struct async_executor_walk),
	.detect = async_executor_detect,
	.close = async_executor_close,
	.copy = async_executor_get_copy,
	.scan = async_executor_scan,
	.list = async_executor_list,
	.decode = async_executor_decode,
	.describe_threads = async_executor_describe_threads,
	.follow = async_executor_follow,
	.note = async_executor_note,
	.free = executor_table_free_walk,
	.tasks.whatis = async_executor_whatis,
	.threads.marks = marks,
	.threads.loop = "async_task::",
	.tasks.types = async_executor_types_of_poll,
	.tasks.is_cancelled = async_executor_is_cancelled,
	.tracing.task_functions = "async_task::raw::RawTask<",
	.tracing.probes = async_executor_probes,
	.tracing.poll_caller_within = "async_task::runnable::",
	.tracing.poll_caller = "run",
	.tracing.spawners = spawners,
	.tracing.spawn_through = spawn_through,
	.tracing.spawn_caller_within = "async_task::runnable::",
	.tracing.spawn_caller = "schedule",
	.tracing.probe_id = async_executor_probe_id,
	.tracing.type_of_table = async_executor_type_of_table,
};
