/* Registers compio as a runtime. */
#include "runtimes/compio/compio.h"

/* compio-runtime from 0.12: block_on() calls block_on_at(). */
static const struct mark_row marks[] = {
	{ "compio_runtime::", "block_on", MARK_BLOCK_ON },
	{ "compio_runtime::", "block_on_at", MARK_BLOCK_ON },
	{ "compio_executor::task::TaskAlloc<", "run_future", MARK_TASK_POLL },
	{ 0 },
};

/* Generic ones that show what a thread does. */
static const char *const functions[] = { "compio_runtime::Runtime::block_on",
	                                 "compio_runtime::runtime::Runtime::block_on", NULL };
static const char *const parks[] = { "poll_with", NULL };
static const char *const boundaries[] = { "compio_runtime::", NULL };
static const char *const executor_boundaries[] = { "compio_executor::", NULL };

/* Functions that spawn, with #[track_caller] from compio-runtime 0.12 on. */
static const char *const spawners[] = { "compio_runtime::", "compio_executor::", NULL };
static const char *const spawn_through[] = { "compio_runtime::",
	                                     "compio_executor::",
	                                     "compio_send_wrapper::",
	                                     "slotmap::",
	                                     "scoped_tls::",
	                                     "core::",
	                                     "std::",
	                                     "alloc::",
	                                     NULL };

static const struct leaf_row *const own_leaves[] = { compio_leaves, NULL };
static const struct leaf_row *const join_leaves[] = { compio_join_leaves, NULL };

/* compio-runtime from 0.9.5, and before */
static const struct wrapped_row wrapped[] = {
	{ "compio_runtime::", "compio_runtime::runtime::scheduler::drop_hook::DropHook", "future" },
	{ "compio_runtime::", "futures_util::future::future::catch_unwind::CatchUnwind",
	  "future.0" },
	{ 0 },
};

const struct crate_types compio_types = {
	.path = "compio_runtime::",
	.leaves = own_leaves,
	.leaf_type = compio_leaf_type,
	.boundaries = boundaries,
	.wrapped = wrapped,
};

const struct crate_types compio_executor_types = {
	.path = "compio_executor::",
	.leaves = join_leaves,
	.boundaries = executor_boundaries,
};

static void compio_table_free_walk(struct collector *c)
{
	map_free(&compio_walk(c)->plans);
}

const struct runtime compio_table = {
	.name = compio_name,
	.path = "compio_",
	.executor = "compio_executor",
	.types = &compio_types,
	.inspector_size = sizeof(struct compio_inspector),
	.collector_size = sizeof(struct compio_walk),
	.detect = compio_detect,
	.close = compio_close,
	.copy = compio_get_copy,
	.list = compio_list,
	.decode = compio_decode,
	.describe_threads = compio_describe_threads,
	.follow = compio_follow,
	.free = compio_table_free_walk,
	.tasks.types = compio_task_types_of,
	.tasks.is_cancelled = compio_is_cancelled,
	.tasks.whatis = compio_whatis,
	.threads.marks = marks,
	.threads.loop = "compio_runtime::",
	.threads.loops_inside = true,
	.threads.parks = parks,
	.tracing.task_functions = "compio_executor::task::",
	.tracing.functions = functions,
	.tracing.probes = compio_probes,
	.tracing.poll_caller_within = "compio_executor::task::",
	.tracing.poll_caller = "run",
	.tracing.spawners = spawners,
	.tracing.spawn_through = spawn_through,
	.tracing.spawns_for = "async_executor", /* before compio 0.19 */
	.tracing.probe_id = compio_probe_id,
	.tracing.type_of_table = compio_type_of_table,
};
