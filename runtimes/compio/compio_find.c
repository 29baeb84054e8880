/* Finds copies of compio, and the runtimes that threads are inside. */
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/str.h"
#include "runtimes/compio/compio.h"

const char compio_name[] = "compio";

/* compio-runtime from 0.12 | 0.10 and 0.11 | before */
#define INNER(path) "0.value." path " | " path

static const struct binding_row rows[COMPIO_NROWS] = {
	[COMPIO_SLOTS] = { "runtime.tasks", "given",
	                   "executor.value.ptr.queue.data.inner.map.slots", .optional = true },
	[COMPIO_COUNT] = { "runtime.count", "given",
	                   "executor.value.ptr.queue.data.inner.map.num_elems", .optional = true },
	[COMPIO_WAKER] = { "runtime.waker", "given", "executor.value.ptr.waker", .optional = true },
	[COMPIO_ENTRIES] = { "runtime.active", "given",
	                     INNER("scheduler.active_tasks.value.value.entries"),
	                     .optional = true },
	[COMPIO_LENGTH] = { "runtime.length", "given",
	                    INNER("scheduler.active_tasks.value.value.len"), .optional = true },
	/* 0.9.5 to 0.11 | 0.7 to 0.9.0 | 0.5 */
	[COMPIO_QUEUE] = { "runtime.queue", "given",
	                   INNER("scheduler.task_queue.local_queue") " | runnables | "
	                                                             "local_runnables",
	                   .optional = true },
	[COMPIO_TIMERS] = { "runtime.timers", "given",
	                    "timer_runtime.value.value | " INNER("timer_runtime.value"),
	                    .optional = true },
};

struct compio_inspector *compio_of(const struct inspector *in)
{
	return inspector_state(in, compio_name);
}

struct compio_walk *compio_walk(const struct collector *c)
{
	return collector_state(c, compio_name);
}

/* ---- copies ---- */

/* scoped_tls keeps the address in a Cell<*const ()>; std adds other thread-locals beside it. */
static bool is_cell(const struct type *t)
{
	return t && type_size(t) == 8 && str_begins(type_name(t), "core::cell::Cell<*const ()");
}

static bool find_current(struct inspector *in, struct dwarf_module *dm, struct thread_local *ret)
{
	static const char *const paths[] = { "compio_runtime::CURRENT_RUNTIME",
		                             "compio_runtime::runtime::CURRENT_RUNTIME" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct thread_local *found;
		const char *doubt;
		size_t n = 0;
		struct error *err =
			lookup_thread_locals(dm, paths[i], &in->arena, &found, &n, &doubt);

		if (err)
			LOG("compio", "%s: %s", dm->module->path, err->message);
		for (size_t j = 0; !err && j < n; j++) {
			if (!is_cell(found[j].type))
				continue;
			*ret = found[j];
			return true;
		}
		error_free(err);
	}
	return false;
}

static void add_copy(struct inspector *in, struct dwarf_module *dm)
{
	struct compio_copy **end = &compio_of(in)->copies;
	const struct type *runtime = lookup_type(dm, "compio_runtime::Runtime", 0);
	struct thread_local current;

	runtime = runtime ? runtime : lookup_type(dm, "compio_runtime::runtime::Runtime", 0);
	if (!runtime || !find_current(in, dm, &current))
		return;
	while (*end)
		end = &(*end)->next;
	struct compio_copy *copy = *end = NEW(&in->arena, struct compio_copy);
	copy->dm = dm;
	copy->module = str_base_name(dm->module->path);
	/* The version of the crate compio, of which little but names is in a program. */
	copy->version = lookup_crate_version(dm, "compio");
	copy->current = current;
	copy->runtime = runtime;
	copy->spawns_root = type_member(runtime, "driver") && !type_member(runtime, "executor");
	copy->header = lookup_type(dm, "compio_executor::task::Header", 0);
	bindings_resolve(&in->arena, dm, runtime, rows, COMPIO_NROWS, &copy->layout);
}

void compio_detect(struct inspector *in, struct dwarf_module *dm)
{
	if (dm->module->tls_memsz && !debuginfo_is_system(dm->module) &&
	    lookup_crate_version(dm, "compio-runtime"))
		add_copy(in, dm);
}

void compio_close(struct inspector *in)
{
	for (struct compio_copy *copy = compio_of(in)->copies; copy; copy = copy->next)
		map_free(&copy->plans);
}

bool compio_get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret)
{
	const struct compio_copy *copy = compio_of(in)->copies;

	while (copy && n--)
		copy = copy->next;
	if (!copy)
		return false;
	*ret = (struct runtime_copy){ .dm = copy->dm,
		                      .module = copy->module,
		                      .version = copy->version,
		                      .layout = &copy->layout,
		                      .types = { copy->runtime, copy->header } };
	return true;
}

/* ---- threads ---- */

/* The waker of a block_on is also the one that wakes the thread when a task is woken elsewhere. */
static void read_waker(struct collector *c, struct compio_thread *t)
{
	struct value place;
	struct waker w = { 0 };
	bool found;
	struct error *err = bindings_eval(c->in->target, &t->copy->layout, COMPIO_WAKER, t->runtime,
	                                  &place, &found);

	if (!err && found)
		err = waker_read(c, place, &w);
	t->waker = !err && w.vtable ? w.data : 0;
	error_free(err);
}

/* The runtime that a thread is inside; addr 0: none of this copy. */
static struct error *read_current(struct collector *c, struct compio_copy *copy,
                                  const struct thread *th, uint64_t *ret)
{
	uint64_t addr;
	bool found;

	*ret = 0;
	TRY(target_tls_address(c->in->target, th, copy->dm->module, copy->current.offset, &addr,
	                       &found));
	return found ? target_read_uint(c->in->target, addr, 8, ret) : NULL;
}

static void note_error(struct collector *c, const struct thread *th, struct error *err)
{
	if (err)
		snapshot_incomplete(c->out, "thread %u: the runtime of compio was not found: %s",
		                    th->number, err->message);
	error_free(err);
}

void compio_find(struct collector *c, struct compio_thread *threads)
{
	struct target *t = c->in->target;

	for (size_t i = 0; i < t->nthreads; i++) {
		const struct thread *th = &t->threads[i];

		if (!th->regs.thread_pointer)
			continue;
		for (struct compio_copy *copy = compio_of(c->in)->copies; copy && !threads[i].copy;
		     copy = copy->next) {
			uint64_t addr;
			struct error *err = read_current(c, copy, th, &addr);

			if (!err && addr) {
				threads[i].copy = copy;
				threads[i].runtime = (struct value){ copy->runtime, addr };
				read_waker(c, &threads[i]);
			}
			note_error(c, th, err);
		}
	}
}
