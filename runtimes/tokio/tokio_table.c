/* Registers tokio as a runtime: its struct runtime and the tables in it. */
#include "runtimes/tokio/local_set.h"
#include "runtimes/tokio/tokio.h"
#include "runtimes/tokio/tokio_leaf.h"
#include "runtimes/tokio/tokio_root.h"

/*
 * Functions that mark a stack, seen in debug, release and fat LTO builds. Any of a group may be
 * inlined or a bare jump.
 */
static const struct mark_row marks[] = {
	{ "tokio::runtime::park::", "block_on", MARK_BLOCK_ON },
	{ "tokio::runtime::scheduler::current_thread::", "block_on", MARK_BLOCK_ON },
	{ "tokio::runtime::task::raw::", "poll", MARK_TASK_POLL },
	{ "tokio::runtime::task::harness::", "poll", MARK_TASK_POLL },
	{ "tokio::runtime::task::harness::", "poll_inner", MARK_TASK_POLL },
	{ "tokio::runtime::task::harness::", "poll_future", MARK_TASK_POLL },
	{ "tokio::runtime::task::core::", "poll", MARK_TASK_POLL },
	{ "tokio::runtime::blocking::pool::", "run", MARK_BLOCKING_RUN },
	{ "tokio::runtime::scheduler::multi_thread::worker::", "run", MARK_WORKER_RUN },
	{ 0 },
};

/*
 * Functions to probe. A job of the blocking pool is never woken: its schedule() is unreachable
 * (runtime/blocking/schedule.rs). Those in vtables exist in every build, since their addresses are
 * taken; each of the others is inlined in some. The task is the address of its header.
 */
static const struct probe_row probes[] = {
	{ PROBE_EVENT_POLL, "tokio::runtime::task::raw::", "poll", .direct = true },
	{ PROBE_EVENT_WAKE, "tokio::runtime::task::raw::", "schedule", .direct = true,
	  .rare = "BlockingSchedule" },
	{ PROBE_EVENT_WAKER, "tokio::runtime::task::waker::", "wake_by_ref", .direct = true },
	{ PROBE_EVENT_WAKER, "tokio::runtime::task::waker::", "wake_by_val", .direct = true },
	{ PROBE_EVENT_SPAWN, "tokio::runtime::task::list::", "bind_inner", .argument = 1 },
	{ PROBE_EVENT_SPAWN, "tokio::runtime::scheduler::multi_thread::", "schedule_task",
	  .argument = 1, .unless = "bind_inner" },
	{ PROBE_EVENT_SPAWN, "tokio::runtime::blocking::pool::", "spawn_task", .argument = 1,
	  .of_jobs = true },
	{ PROBE_EVENT_SPAWN, "tokio::task::local::Shared::", "schedule", .direct = true,
	  .argument = 1, .never_through = "tokio::runtime::task::", .for_place = true },
	{ PROBE_EVENT_END, "tokio::runtime::task::harness::", "complete", .argument = 0 },
	/* Parks that worker_park_count counts. Optimised builds have Inner::park inlined below. */
	{ PROBE_EVENT_PARK, "tokio::runtime::scheduler::multi_thread::park::Inner::", "park",
	  .argument = 0 },
	{ PROBE_EVENT_PARK, "tokio::runtime::scheduler::multi_thread::worker::", "park_internal",
	  .unless = "park", .none = "duration" },
	{ PROBE_EVENT_PARK, "tokio::runtime::scheduler::multi_thread::worker::", "park_timeout",
	  .unless = "park", .none = "duration" },
	{ PROBE_EVENT_PARK, "tokio::runtime::scheduler::current_thread::", "park", .argument = 0 },
	{ 0 },
};

/*
 * Prefixes of functions that tell what a thread does. Each has one instance; functions of tasks
 * have one per kind of task.
 */
static const char *const functions[] = {
	"tokio::runtime::park::",
	"tokio::runtime::scheduler::",
	"tokio::runtime::blocking::",
	"tokio::runtime::runtime::",
	NULL,
};

/*
 * struct Vtable of runtime/task/raw.rs, alike from 1.24 to 1.54: poll, schedule, five more
 * functions, then the distances of the trailer, the scheduler and the id; and struct Header of
 * core.rs, whose layout is fixed (repr(C)): state, queue_next, vtable, owner_id.
 */
static const struct probe_pattern pattern = {
	.text = "/tokio-1.",
	.nfunctions = 7,
	.nnumbers = 3,
	.id = { .table_offset = 0x10,
	        .id_slot = 0x48,
	        .poll_slot = 0,
	        .busy_offset = 0,
	        .busy_mask = TOKIO_RUNNING | TOKIO_COMPLETE,
	        .running_mask = TOKIO_RUNNING },
	.wake_slot = 0x08,
	.head = 0x20,
	.scheduler_slot = 0x40,
	.trailer_slot = 0x38,
};

/* Functions that spawn, all of them with #[track_caller]. */
static const char *const spawners[] = { "tokio::task::", "tokio::runtime::", NULL };
static const char *const spawn_through[] = { "tokio::", "core::", "std::", "alloc::", NULL };
static const char *const parks[] = { "park", "turn", NULL };
static const char *const handles[] = { "tokio::runtime::handle::Handle",
	                               "tokio::runtime::runtime::Runtime", NULL };
static const struct crate_row former[] = { { "tokio_threadpool", "tokio 0.1" },
	                                   { "tokio_current_thread", "tokio 0.1" },
	                                   { 0 } };

static const struct leaf_row *const leaves[] = { leaf_time_rows,
	                                         leaf_task_rows,
	                                         leaf_sync_rows,
	                                         leaf_io_rows,
	                                         leaf_process_rows,
	                                         leaf_stream_rows,
	                                         NULL };
static const struct binding_row *const leaf_bindings[] = { leaf_time_layout,
	                                                   leaf_task_layout,
	                                                   leaf_sync_layout,
	                                                   leaf_io_layout,
	                                                   leaf_process_layout,
	                                                   leaf_stream_layout,
	                                                   NULL };

static bool tokio_table_copy(const struct inspector *in, size_t n, struct runtime_copy *ret)
{
	const struct tokio *k = tokio_of(in)->copies;

	while (k && n--)
		k = k->next;
	if (!k)
		return false;
	*ret = (struct runtime_copy){
		.dm = k->dm,
		.module = k->module,
		.version = k->version,
		.layout = &k->layout,
		.types = { k->context.type, k->worker_tls.type, k->parker.type, k->local_set.type },
	};
	return true;
}

/*
 * Core.spawned_at, with --cfg tokio_unstable from 1.46 on: Core is repr(C), and its task_id of 8
 * bytes lies before it (runtime/task/core.rs).
 */
static void find_location(struct inspector *in, struct tokio *k, const struct type *vtable,
                          struct probe_location *ret)
{
	const struct path *slot = inspector_optional_path(in, vtable, "spawn_location_offset");
	const struct type *type =
		slot ? lookup_type(k->dm, "core::panic::location::Location", 0) : NULL;
	/* core::panic::Location: std 1.91 | 1.89 | before */
	const struct path *file = type ? inspector_optional_path(in, type,
	                                                         "filename.pointer.data_ptr"
	                                                         " | file_bytes_with_nul.data_ptr"
	                                                         " | file.data_ptr")
	                               : NULL;
	const struct path *line = type ? inspector_optional_path(in, type, "line") : NULL;

	if (file && line && path_offset(slot, &ret->slot) && path_offset(file, &ret->file) &&
	    path_offset(line, &ret->line))
		ret->behind_id = sizeof(uint64_t);
}

static bool probe_id(struct inspector *in, size_t n, struct probe_id *ret)
{
	struct tokio *k = tokio_of(in)->copies;
	const struct path *table, *slot, *poll;

	while (k && n--)
		k = k->next;
	if (!k || !k->layout.slots[TOKIO_STATE].root || !k->layout.slots[TOKIO_STATE].path)
		return false;
	table = inspector_optional_path(in, k->layout.slots[TOKIO_STATE].root, "vtable");
	const struct type *vtable = table ? type_target(path_type(table)) : NULL;
	slot = vtable ? inspector_optional_path(in, vtable, "id_offset") : NULL;
	poll = vtable ? inspector_optional_path(in, vtable, "poll") : NULL;
	if (vtable)
		find_location(in, k, vtable, &ret->location);
	ret->busy_mask = TOKIO_RUNNING | TOKIO_COMPLETE;
	ret->running_mask = TOKIO_RUNNING;
	if (!path_offset(k->layout.slots[TOKIO_STATE].path, &ret->busy_offset))
		ret->busy_mask = ret->running_mask = 0;
	return slot && poll && path_offset(table, &ret->table_offset) &&
	       path_offset(slot, &ret->id_slot) && path_offset(poll, &ret->poll_slot);
}

static void tokio_table_task_types(struct inspector *in, uint64_t poll, struct task_types *ret)
{
	const struct task_plan *plan = tokio_task_plan(in, tokio_of(in)->copies, poll);

	*ret = (struct task_types){ .future = plan->future,
		                    .cell = plan->cell,
		                    .others = plan->others };
	ret->has_offset = plan->running && path_offset_in_variants(plan->running, &ret->offset);
}

static void tokio_table_free_walk(struct collector *c)
{
	struct tokio_walk *w = tokio_walk(c);

	vec_free(&w->leads);
	vec_free(&w->found_sets);
	vec_free(&w->queue);
	map_free(&w->queued_jobs);
	map_free(&w->locations);
}

const struct crate_types tokio_types = {
	.path = "tokio::",
	.leaves = leaves,
	.leaf_bindings = leaf_bindings,
	.combinators = tokio_combinators,
	.sequences = tokio_sequences,
	.directions = tokio_directions,
	.pollers = tokio_pollers,
	.non_future_ends = tokio_non_future_ends,
	.non_future_modules = tokio_non_future_modules,
	.boundaries = tokio_boundaries,
	.lists = tokio_lists,
	.poll_fn = "tokio::future::poll_fn::PollFn",
	.leaf_static = leaf_signal_globals,
	.holdings = tokio_holdings,
	.specials = tokio_specials,
	.named = tokio_named,
	.shown = tokio_shown,
	.acquired = tokio_acquired,
	.queue = "tokio's mpsc",
};

/* The blocking pool has an UnownedTask instead of a task; workers are its jobs, too. */
static const char *const job_callers[] = { "tokio::runtime::blocking::",
	                                   "tokio::runtime::task::UnownedTask", NULL };

const struct runtime tokio_table = {
	.name = tokio_name,
	.path = "tokio::",
	.executor = "tokio::runtime",
	.types = &tokio_types,
	.expected = true,
	.reads = "versions from 1.24 on are",
	.former = former,
	.inspector_size = sizeof(struct tokio_inspector),
	.collector_size = sizeof(struct tokio_walk),
	.detect = tokio_detect,
	.close = tokio_close,
	.copy = tokio_table_copy,
	.scan = tokio_scan,
	.threads_lead_to_tasks = true,
	.list = tokio_list,
	.decode = tokio_decode,
	.describe_threads = tokio_describe_threads,
	.follow = tokio_follow,
	.registrations = tokio_registrations,
	.describe_threads_by_stack = tokio_describe_threads_by_stack,
	.note = tokio_note_roots,
	.free = tokio_table_free_walk,
	.tasks.types = tokio_table_task_types,
	.tasks.output = tokio_output,
	.tasks.is_cancelled = tokio_is_cancelled,
	.tasks.current_task = tokio_current_task,
	.tasks.waker_met = tokio_waker_met,
	.tasks.handles = handles,
	.tasks.handle_met = tokio_handle_lead,
	.tasks.set = &local_set_ops,
	.tasks.whatis = tokio_whatis,
	.threads.marks = marks,
	.threads.loop = "tokio::runtime::",
	.threads.parks = parks,
	.threads.job = tokio_job_closure,
	.threads.yield = "tokio::task::yield_now::yield_now",
	.threads.worker_job = "multi_thread::worker::",
	.threads.worker_index = "func.Some.0.worker.index",
	.threads.worker_runtime = "func.Some.0.worker.handle.shared",
	.threads.worker_serial = "func.Some.0.worker.handle.shared.owned.id",
	.tracing.task_poll = "tokio::runtime::task::raw::poll<",
	.tracing.task_functions = "tokio::runtime::task::",
	.tracing.functions = functions,
	.tracing.probes = probes,
	.tracing.poll_caller_within = "tokio::runtime::task::raw::",
	.tracing.spawners = spawners,
	.tracing.spawn_through = spawn_through,
	.tracing.poll_caller = "poll",
	.tracing.job_callers = job_callers,
	.tracing.probe_id = probe_id,
	.tracing.probe_pattern = &pattern,
};
