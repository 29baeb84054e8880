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

static const struct leaf_row *const own_leaves[] = { executor_own_leaves, NULL };
static const struct leaf_row *const task_leaves[] = { executor_task_leaves, NULL };

const struct crate_types executor_types = {
	.path = "async_executor::",
	.leaves = own_leaves,
	.boundaries = boundaries,
};

const struct crate_types executor_task_types = {
	.path = "async_task::",
	.leaves = task_leaves,
	.combinators = executor_task_combinators,
};

static void free_walk(struct collector *c)
{
	map_free(&executor_walk(c)->plans);
	map_free(&executor_walk(c)->locations);
}

const struct runtime executor_table = {
	.name = executor_name,
	.path = "async_task::",
	.executor = "async_executor",
	.types = &executor_types,
	.inspector_size = sizeof(struct executor_inspector),
	.collector_size = sizeof(struct executor_walk),
	.detect = executor_detect,
	.close = executor_close,
	.copy = executor_get_copy,
	.scan = executor_scan,
	.list = executor_list,
	.decode = executor_decode,
	.describe_threads = executor_describe_threads,
	.follow = executor_follow,
	.note = executor_note,
	.free = free_walk,
	.whatis = executor_whatis,
	.marks = marks,
	.loop = "async_task::",
	.task_types = executor_types_of_poll,
	.is_cancelled = executor_is_cancelled,
	.task_functions = "async_task::raw::RawTask<",
	.probes = executor_probes,
	.poll_caller_within = "async_task::runnable::",
	.poll_caller = "run",
	.spawners = spawners,
	.spawn_through = spawn_through,
	.spawn_caller_within = "async_task::runnable::",
	.spawn_caller = "schedule",
	.probe_id = executor_probe_id,
	.type_of_table = executor_type_of_table,
};
