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
static bool compio_find_is_cell(const struct type *t)
{
	return t && type_size(t) == 8 && str_begins(type_name(t), "core::cell::Cell<*const ()");
}

/* The live ones of a path, each once; *ret is the first. */
static size_t find_currents(struct inspector *in, struct dwarf_module *dm, const char *path,
                            struct thread_local *ret)
{
	struct thread_local *found;
	const char *doubt;
	size_t n = 0, distinct = 0;
	struct error *err = lookup_thread_locals(dm, path, &in->arena, &found, &n, &doubt);

	if (err)
		LOG("compio", "%s: %s", dm->module->path, err->message);
	for (size_t i = 0; !err && i < n; i++) {
		bool other = compio_find_is_cell(found[i].type);

		for (size_t j = 0; j < i && other; j++)
			other = found[j].offset != found[i].offset ||
			        !compio_find_is_cell(found[j].type);
		if (other && distinct++ == 0)
			*ret = found[i];
	}
	error_free(err);
	return distinct;
}

/* Names from 0.12 on, and before. */
static const struct {
	const char *current, *runtime;
} roots[] = {
	{ "compio_runtime::CURRENT_RUNTIME", "compio_runtime::Runtime" },
	{ "compio_runtime::runtime::CURRENT_RUNTIME", "compio_runtime::runtime::Runtime" },
};

/*
 * The crate's thread-local in a module, and the type that it refers to. Two crates of one name have
 * types of one name, and nothing tells to which of the thread-locals each belongs.
 */
static bool find_root(struct inspector *in, struct dwarf_module *dm, struct compio_copy *copy)
{
	struct thread_local found[2];
	size_t n[2];

	for (size_t i = 0; i < 2; i++)
		n[i] = find_currents(in, dm, roots[i].current, &found[i]);
	const size_t used = n[0] ? 0 : 1;
	copy->several = n[0] + n[1] > 1;
	copy->unknown = n[used] > 1;
	copy->current = found[used];
	copy->runtime = lookup_type(dm, roots[used].runtime, 0);
	if (!copy->runtime && !copy->several)
		copy->runtime = lookup_type(dm, roots[!used].runtime, 0);
	return n[used] > 0 && copy->runtime;
}

static void note_several(struct inspector *in, const struct compio_copy *copy)
{
	const char *which = copy->unknown ? "none" : "of one alone";

	inspector_note(
		in, arena_printf(&in->arena,
	                         "%s has several copies of compio-runtime: runtimes that threads "
	                         "are inside are listed of %s",
	                         copy->module, which));
}

static void compio_find_add_copy(struct inspector *in, struct dwarf_module *dm)
{
	struct compio_copy **end = &compio_of(in)->copies, root = { 0 };

	if (!find_root(in, dm, &root))
		return;
	while (*end)
		end = &(*end)->next;
	struct compio_copy *copy = *end = NEW(&in->arena, struct compio_copy);
	*copy = root;
	copy->dm = dm;
	copy->module = str_base_name(dm->module->path);
	/* The version of the crate compio, of which little but names is in a program. */
	copy->version = copy->several ? NULL : lookup_crate_version(dm, "compio");
	copy->spawns_root =
		type_member(copy->runtime, "driver") && !type_member(copy->runtime, "executor");
	if (!copy->unknown)
		copy->header = lookup_type(dm, "compio_executor::task::Header", 0);
	bindings_resolve(&in->arena, dm, copy->runtime, rows, COMPIO_NROWS, &copy->layout);
	if (copy->several)
		note_several(in, copy);
}

void compio_detect(struct inspector *in, struct dwarf_module *dm)
{
	if (dm->module->tls_memsz && !debuginfo_is_system(dm->module) &&
	    lookup_crate_version(dm, "compio-runtime"))
		compio_find_add_copy(in, dm);
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
static void compio_find_read_waker(struct collector *c, struct compio_thread *t)
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
static struct error *compio_find_read_current(struct collector *c, struct compio_copy *copy,
                                              const struct thread *th, uint64_t *ret)
{
	uint64_t addr;
	bool found;

	*ret = 0;
	TRY(target_tls_address(c->in->target, th, copy->dm->module, copy->current.offset, &addr,
	                       &found));
	return found ? target_read_uint(c->in->target, addr, 8, ret) : NULL;
}

static void compio_find_note_error(struct collector *c, const struct thread *th, struct error *err)
{
	if (err)
		snapshot_incomplete(c->out, "thread %u: the runtime of compio was not found: %s",
		                    th->number, err->message);
	error_free(err);
}

/* A thread has one place: of two runtimes that it is inside, the second is not listed. */
static void note_second(struct collector *c, const struct compio_copy *copy,
                        const struct thread *th)
{
	snapshot_incomplete(
		c->out,
		"thread %u is inside runtimes of two copies of compio: that of %s is not "
		"listed",
		th->number, copy->module);
}

static void find_of_thread(struct collector *c, const struct thread *th, struct compio_thread *ret)
{
	for (struct compio_copy *copy = compio_of(c->in)->copies; copy; copy = copy->next) {
		uint64_t addr = 0;
		struct error *err =
			copy->unknown ? NULL : compio_find_read_current(c, copy, th, &addr);

		if (!err && addr && ret->copy) {
			note_second(c, copy, th);
		} else if (!err && addr) {
			ret->copy = copy;
			ret->runtime = (struct value){ copy->runtime, addr };
			compio_find_read_waker(c, ret);
		}
		compio_find_note_error(c, th, err);
	}
}

void compio_find(struct collector *c, struct compio_thread *threads)
{
	const struct target *t = c->in->target;

	for (size_t i = 0; i < t->nthreads; i++) {
		if (t->threads[i].regs.thread_pointer)
			find_of_thread(c, &t->threads[i], &threads[i]);
	}
}
