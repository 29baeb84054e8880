/*
 * Scans the program's memory for wakers of tasks. A waker has the address of a vtable, a constant,
 * beside that of the task's WakeHandle. What is left of a waker may lead to a task that is still
 * there, and to none: the handle itself tells.
 */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/str.h"
#include "dwarf/module/symtab.h"
#include "runtimes/common/heap_scan.h"
#include "runtimes/futures_executor/thread_pool.h"

enum {
	WORD = 8,
	MAX_LEADS = 1 << 20,
	MAX_CONSTANTS = 512 << 20, /* bytes of a module */
	MAX_VTABLES = 1 << 10,
	PIECE = 1 << 16,
	MAX_COUNT = 1 << 30,
};

/* ---- vtables ---- */

/* Instances of a generic function have the same name. futures-task 0.3, src/waker.rs */
static void note_function(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	address_vec *link_time = arg;

	(void)size;
	if (strstr(name, "wake_by_ref_arc_raw"))
		*vec_push(link_time) = addr;
}

/* Does the function wake tasks of a ThreadPool? Functions of several types may have been merged. */
static bool wakes_tasks(struct inspector *in, const struct thread_pool_copy *copy, uint64_t addr)
{
	const struct function *f = lookup_function(in->di, addr);
	const struct type *t = f ? function_param(f, "T") : NULL;

	t = t || !f ? t : function_param(f, "W");
	return t && copy->handle && strcmp(type_name(t), type_name(copy->handle)) == 0;
}

/* The functions that wake tasks; none in a file without symbols. */
static void thread_pool_scan_find_functions(struct inspector *in,
                                            const struct thread_pool_copy *copy, address_vec *ret)
{
	address_vec all = { 0 };

	symtab_each_function(copy->dm, note_function, &all);
	for (size_t i = 0; i < all.n; i++) {
		uint64_t addr = all.data[i] + copy->dm->module->bias;

		if (wakes_tasks(in, copy, addr))
			*vec_push(ret) = addr;
	}
	vec_free(&all);
}

/* Is it the address of such a function? A layout file has these functions by their names. */
static bool thread_pool_scan_is_wake(struct inspector *in, const address_vec *f, uint64_t word)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->data[i] == word)
			return true;
	}
	const struct function *found = in->layout && !f->n ? lookup_function(in->di, word) : NULL;
	return found && found->low == word && str_begins(found->name, THREAD_POOL_WAKE);
}

/* Looks for addresses of the functions among the constants, at their place in a vtable. */
static void find_in_constants(struct inspector *in, struct thread_pool_copy *copy,
                              const address_vec *f, uint64_t slot, address_vec *ret)
{
	SCRATCH(scratch);
	uint64_t *words = NEW_ARRAY(&scratch, uint64_t, PIECE / WORD);
	uint64_t low, high;
	size_t got;

	debuginfo_constants(copy->dm, &low, &high);
	low = (low + copy->dm->module->bias + WORD - 1) / WORD * WORD;
	high += copy->dm->module->bias;
	copy->too_large = low < high && high - low > MAX_CONSTANTS;
	high = copy->too_large ? low + MAX_CONSTANTS : high;
	for (uint64_t at = low; at < high && ret->n < MAX_VTABLES; at += PIECE) {
		struct error *err = target_read_through(
			in->target, at, words, high - at < PIECE ? high - at : PIECE, &got);

		for (size_t i = 0; !err && i < got / WORD; i++) {
			if (thread_pool_scan_is_wake(in, f, words[i]))
				*vec_push(ret) = at + i * WORD - slot;
		}
		error_free(err);
	}
}

static void find_vtables(struct inspector *in, struct thread_pool_copy *copy)
{
	const struct member *m = copy->vtable ? type_member(copy->vtable, "wake_by_ref") : NULL;
	address_vec f = { 0 }, vtables = { 0 };

	copy->scanned = true;
	thread_pool_scan_find_functions(in, copy, &f);
	if (m && (f.n || in->layout))
		find_in_constants(in, copy, &f, m->offset, &vtables);
	vec_free(&f);
	copy->too_large |= vtables.n >= MAX_VTABLES;
	copy->nvtables = vtables.n;
	copy->vtables = vec_to_arena(&vtables, &in->arena);
}

/* ---- wakers ---- */

struct thread_pool_scan_state {
	struct inspector *in;
	VEC(struct word_range) ranges; /* of is a copy */
	struct map seen;               /* addresses of handles */
};

/* Adds what the word beside a vtable's address leads to, if it may be a handle. */
static void add_lead(struct heap_scan *words, struct thread_pool_copy *copy, uint64_t beside)
{
	struct thread_pool_scan_state *s = heap_scan_arg(words);
	uint64_t handle, strong;

	if (!heap_scan_read(words, beside, &handle) || !handle || handle % WORD ||
	    handle < copy->data || map_has(&s->seen, handle))
		return;
	if (!heap_scan_read(words, handle - copy->data + copy->strong, &strong) || !strong ||
	    strong > MAX_COUNT)
		return;
	map_put(&s->seen, handle, NULL);
	*vec_push(&thread_pool_inspector(s->in)->leads) = (struct thread_pool_lead){ copy, handle };
}

static bool thread_pool_scan_look_at(struct heap_scan *words, const struct word_range *range,
                                     uint64_t addr, uint64_t word)
{
	(void)word;
	/* The order of the two words of a waker is the compiler's. */
	add_lead(words, range->of, addr - WORD);
	add_lead(words, range->of, addr + WORD);
	return thread_pool_inspector(heap_scan_inspector(words))->leads.n < MAX_LEADS;
}

static void thread_pool_scan_finish(struct heap_scan *words)
{
	LOG("scan", "%" PRIu64 " KiB in %" PRIu64 " us: %zu tasks of ThreadPools",
	    heap_scan_bytes(words) >> 10, heap_scan_worked_ns(words) / 1000,
	    thread_pool_inspector(heap_scan_inspector(words))->leads.n);
}

struct error *thread_pool_scan(struct inspector *in)
{
	struct thread_pool_inspector *state = thread_pool_inspector(in);
	struct thread_pool_scan_state s = { .in = in };
	struct target_scratch_cache before;

	state->leads.n = 0;
	state->cut = NULL;
	for (struct thread_pool_copy *copy = state->copies; copy; copy = copy->next) {
		if (!copy->scanned)
			find_vtables(in, copy);
		for (size_t i = 0; i < copy->nvtables; i++)
			*vec_push(&s.ranges) = (struct word_range){ copy->vtables[i], 1, copy };
	}
	if (!s.ranges.n)
		return NULL;
	target_begin_scratch_cache(in->target, &before);
	struct error *err =
		heap_scan_run(in, s.ranges.data, s.ranges.n, "tasks of a ThreadPool",
	                      thread_pool_scan_look_at, thread_pool_scan_finish, &s, &state->cut);
	target_end_scratch_cache(in->target, &before);
	vec_free(&s.ranges);
	map_free(&s.seen);
	return err;
}

void thread_pool_note(struct collector *c)
{
	const struct thread_pool_inspector *state = thread_pool_inspector(c->in);

	if (state->cut)
		snapshot_note_unscanned(c->out, state->cut);
	for (const struct thread_pool_copy *copy = state->copies; copy; copy = copy->next) {
		if (!copy->nvtables)
			snapshot_incomplete(c->out,
			                    "%s: the symbols of the wakers of a ThreadPool were "
			                    "not found: waiting tasks are not shown",
			                    copy->module);
		if (copy->too_large)
			snapshot_incomplete(c->out,
			                    "%s: only some of its constants were searched for the "
			                    "wakers of a ThreadPool: waiting tasks may be missing",
			                    copy->module);
	}
}
