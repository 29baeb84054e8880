/* Functions in which a trace sees the events of tasks of compio-executor. */
#include "debugger/base/str.h"
#include "dwarf/module/code_map.h"
#include "runtimes/compio/compio.h"

static const char task_alloc[] = "compio_executor::task::TaskAlloc",
		  task[] = "compio_executor::task::";
static const char waker[] = "compio_executor::waker::";

/*
 * Tables have the addresses of these functions, so that they exist in every build, but for
 * JoinHandle::new() (compio-executor 0.1, src/task/mod.rs, src/waker.rs). Where that is inlined,
 * Task::new() shows where a task is spawned. The task is the address of its header. A poll that is
 * ready ends its task; one that was cancelled is not polled again, and its future is dropped. Later
 * drop_future() drops the output. A task is in the queue from its spawn, or the first use of a
 * waker, until it is polled.
 */
const struct probe_row compio_probes[] = {
	{ PROBE_EVENT_POLL, task, "run_future", .argument = 0, .returns_end = true },
	{ PROBE_EVENT_SPAWN, "compio_executor::join_handle::", "new", .argument = 0 },
	{ PROBE_EVENT_SPAWN, "compio_executor::task::Task::", "new", .stores_table = true,
	  .for_place = true, .once = true },
	{ PROBE_EVENT_WAKER, waker, "wake", .argument = 0, .queues = true },
	{ PROBE_EVENT_WAKER, waker, "wake_by_ref", .argument = 0, .queues = true },
	{ PROBE_EVENT_END, task, "drop_future", .argument = 0, .unfinished = true },
	{ 0 },
};

/* Tasks of runtimes on different threads may have the same id: they go by their addresses. */
bool compio_probe_id(struct inspector *in, size_t n, struct probe_id *ret)
{
	struct compio_copy *copy = compio_of(in)->copies;

	while (copy && n--)
		copy = copy->next;
	*ret = (struct probe_id){ .is_address = true, .busy_mask = COMPIO_COMPLETED };
	if (!copy || copy->unknown)
		return false;
	/* Tasks of async-task have the points of that. */
	if (!copy->header)
		return true;
	const struct type *table = lookup_type(copy->dm, "compio_executor::task::TaskVtable", 0);
	const struct path *state = inspector_optional_path(in, copy->header, "state");
	const struct path *vtable = inspector_optional_path(in, copy->header, "vtable");
	const struct member *run = table ? type_member(table, "run_future") : NULL;

	ret->poll_slot = run ? run->offset : 0;
	return run && state && vtable && path_offset(state, &ret->busy_offset) &&
	       path_offset(vtable, &ret->table_offset);
}

/*
 * Type of the tasks with that table, by the file: while a trace runs, nothing is read from the
 * process.
 */
const char *compio_type_of_table(struct inspector *in, const struct code_map *code, uint64_t table)
{
	const struct type *t = lookup_type(code->dm, "compio_executor::task::TaskVtable", 0);
	const uint64_t size = t ? type_size(t) : 0;

	for (uint64_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
		uint64_t addr = code_map_pointer(code, table + at) + code->dm->module->bias;
		const struct function *f = lookup_function(in->di, addr);

		if (!f || f->low != addr || !f->name || !str_begins(f->name, task_alloc) ||
		    async_executor_is_merged(f))
			continue;
		const struct type *future = function_param(f, "F");

		if (future)
			return type_name(future);
	}
	return NULL;
}
