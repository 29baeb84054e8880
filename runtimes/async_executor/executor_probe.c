/*
 * Functions in which a trace sees the events of tasks, and what they tell about the tasks' types.
 */
#include <string.h>

#include "dwarf/module/code_map.h"
#include "dwarf/store/enumerate.h"
#include "runtimes/async_executor/executor.h"

/*
 * The exchanges of a task's state (async-task 4.0 to 4.7, src/raw.rs): one that was in a queue or
 * ran is neither any more, but completed or closed; one that slept is put into a queue.
 */
static const struct probe_bits ended = {
	.old_any = ASYNC_EXECUTOR_SCHEDULED | ASYNC_EXECUTOR_RUNNING,
	.new_any = ASYNC_EXECUTOR_COMPLETED | ASYNC_EXECUTOR_CLOSED,
	.new_none = ASYNC_EXECUTOR_SCHEDULED | ASYNC_EXECUTOR_RUNNING,
};
static const struct probe_bits woken = {
	.old_none = ASYNC_EXECUTOR_SCHEDULED | ASYNC_EXECUTOR_RUNNING | ASYNC_EXECUTOR_COMPLETED |
	            ASYNC_EXECUTOR_CLOSED,
	.new_any = ASYNC_EXECUTOR_SCHEDULED,
};

/*
 * The functions of RawTask exist in every build, since tables have their addresses, but for the
 * destructor of run's Guard. The task is the address of its header. What they do may be inlined in
 * them, or be a call as in a debug build. A future is dropped once, when its task has ended; the
 * first call of schedule() is that of the spawn.
 */
const struct probe_row async_executor_probes[] = {
	{ PROBE_EVENT_POLL, "async_task::raw::", "run", .argument = 0 },
	{ PROBE_EVENT_SPAWN, "async_task::raw::", "schedule", .argument = 0,
	  .never_through = "async_task::raw::" },
	{ PROBE_EVENT_WAKE, "async_task::raw::", "wake_by_ref", .exchange = &woken,
	  .calls = "new_unchecked", .or_calls = "schedule", .or_argument = 1 },
	{ PROBE_EVENT_WAKE, "async_task::raw::", "wake", .exchange = &woken, .calls = "schedule",
	  .optional = true },
	{ PROBE_EVENT_WAKER, "async_task::raw::", "wake_by_ref", .argument = 0 },
	{ PROBE_EVENT_WAKER, "async_task::raw::", "wake", .not_calling = "wake_by_ref" },
	{ PROBE_EVENT_END, "async_task::raw::", "run", .exchange = &ended, .calls = "drop_future" },
	{ PROBE_EVENT_END, "async_task::raw::", "drop", .exchange = &ended, .calls = "drop_future",
	  .optional = true },
	/* optimised, the drop() of run's Guard, which a panic ends, is inlined there */
	{ PROBE_EVENT_END, "core::ptr::", "drop_in_place",
	  .drops = "async_task::raw::", .exchange = &ended, .optional = true },
	{ PROBE_EVENT_END, "async_task::raw::", "drop_future", .once = true },
	{ 0 },
};

/* Tasks are distinguished by their addresses. Their headers are alike, whatever they run. */
bool async_executor_probe_id(struct inspector *in, size_t n, struct probe_id *ret)
{
	static const char generic[] = "async_task::header::Header<()>";
	struct async_executor_copy *copy = async_executor_of(in)->copies;
	const struct path *state;

	while (copy && n--)
		copy = copy->next;
	/* Headers with metadata differ in where they have what. */
	if (!copy || copy->ntables != 1 || !copy->layout.slots[ASYNC_EXECUTOR_RUN].path)
		return false;
	const struct type *header = lookup_type(copy->dm, generic, 0);
	header = header ? header : lookup_type(copy->dm, "async_task::header::Header", 0);
	state = header ? inspector_optional_path(in, header, "state") : NULL;
	*ret = (struct probe_id){
		.is_address = true,
		.table_offset = copy->tables[0],
		.busy_mask =
			ASYNC_EXECUTOR_RUNNING | ASYNC_EXECUTOR_COMPLETED | ASYNC_EXECUTOR_CLOSED,
		.running_mask = ASYNC_EXECUTOR_RUNNING,
	};
	return state && path_offset(state, &ret->busy_offset) &&
	       path_offset(copy->layout.slots[ASYNC_EXECUTOR_RUN].path, &ret->poll_slot);
}

/* The types that any function of a RawTask tells, without a table. */
static void types_of(struct inspector *in, const struct function *f, struct task_types *ret)
{
	struct async_executor_plan plan = { 0 };
	uint64_t inside = 0, at;

	error_free(async_executor_fill_types(in, f, &plan));
	*ret = (struct task_types){
		.future = plan.spawned,
		.cell = plan.schedule,
		.header = plan.header,
		.stored = plan.future,
		.whole = plan.wrapped ? plan.future : NULL,
	};
	if (!plan.future || !plan.schedule || !plan.header)
		return;
	async_executor_compute_offsets(f, &plan);
	ret->has_offset = true;
	for (size_t i = 0; i < plan.ninside; i++) {
		ret->has_offset &= path_offset(plan.inside[i], &at);
		inside += ret->has_offset ? at : 0;
	}
	ret->offset = plan.offset_f + inside;
	if (plan.wrapped)
		ret->offset = plan.offset_f;
}

void async_executor_types_of_poll(struct inspector *in, uint64_t poll, struct task_types *ret)
{
	const struct function *f = lookup_function(in->di, poll);

	*ret = (struct task_types){ 0 };
	if (!f || f->low != poll || !async_executor_copy_of(in, f->dm))
		return;
	types_of(in, f, ret);
	if (!async_executor_is_merged(f))
		return;
	/* The future is one of several types: a layout file has it, and says so. */
	enumerated_note_shared(f->dm, module_link_addr(f->dm->module, f->low).v);
	ret->future = NULL;
	ret->has_offset = false;
}

/*
 * Type of the tasks with that table, by the file: while a trace runs, nothing is read from the
 * process.
 */
const char *async_executor_type_of_table(struct inspector *in, const struct code_map *code,
                                         uint64_t table)
{
	const struct async_executor_copy *copy = async_executor_copy_of(in, code->dm);
	const uint64_t size = copy ? type_size(copy->vtable) : 0;

	for (uint64_t at = 0; at + 8 <= size; at += 8) {
		uint64_t addr = code_map_pointer(code, table + at) + code->dm->module->bias;
		const struct function *f = lookup_function(in->di, addr);
		struct task_types types;

		if (!f || f->low != addr || !async_executor_tells_types(f))
			continue;
		types_of(in, f, &types);
		return types.future ? type_name(types.future) : NULL;
	}
	return NULL;
}
