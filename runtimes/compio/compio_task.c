/* Reads tasks of compio-executor: headers, types, futures. */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "dwarf/store/enumerate.h"
#include "runtimes/compio/compio.h"
#include "runtimes/future/future.h"

enum { WORD = 8, MAX_ALIGN = 1 << 16, MAX_REFERENCES = 1 << 30 };

static const char alloc_type[] = "compio_executor::task::TaskAlloc";

/* ---- types ---- */

/* TaskAlloc<F> is repr(C): the future comes behind the header. */
static uint64_t future_offset(struct inspector *in, const struct compio_copy *copy,
                              const struct function *f, const struct type *future)
{
	const char *name = arena_printf(&in->arena, "%s<%s>", alloc_type, type_name(future));
	const struct type *t = lookup_type(f->dm, name, f->die);
	const struct member *m = t ? type_member(t, "future") : NULL;
	uint64_t size = type_size(copy->header), align = type_align(future);

	if (m)
		return m->offset;
	align = align < WORD || align > MAX_ALIGN ? WORD : align;
	return (size + align - 1) / align * align;
}

static bool is_run_future(const char *name)
{
	const char *last = qualified_last(name);

	return str_begins(name, alloc_type) && qualified_base_len(last) == strlen("run_future") &&
	       str_begins(last, "run_future");
}

/* Plan by a run_future; NULL: there is none at that address. */
static const struct compio_plan *plan_of(struct inspector *in, struct compio_copy *copy,
                                         uint64_t run)
{
	const struct function *f;
	struct compio_plan *plan;

	if (!run)
		return NULL;
	if (map_has(&copy->plans, run))
		return map_get(&copy->plans, run);
	f = lookup_function(in->di, run);
	plan = f && f->low == run && is_run_future(f->name) ? NEW(&in->arena, struct compio_plan)
	                                                    : NULL;
	map_put(&copy->plans, run, plan);
	if (!plan)
		return NULL;
	plan->run = run;
	plan->merged = async_executor_is_merged(f);
	plan->future = function_param(f, "F");
	if (plan->future)
		plan->offset = future_offset(in, copy, f, plan->future);
	plan->type = inspector_clean_name(
		&in->arena, plan->future ? type_name(plan->future)
					 : qualified_first_generic(&in->arena, f->name));
	return plan;
}

void compio_task_types_of(struct inspector *in, uint64_t run, struct task_types *ret)
{
	static const char waker[] = "core::task::wake::Waker";
	const struct function *f = lookup_function(in->di, run);
	struct compio_copy *copy = f ? compio_of(in)->copies : NULL;

	*ret = (struct task_types){ 0 };
	while (copy && copy->dm != f->dm)
		copy = copy->next;
	const struct compio_plan *plan = copy ? plan_of(in, copy, run) : NULL;
	if (!plan)
		return;
	if (plan->merged)
		enumerated_note_shared(f->dm, module_link_addr(f->dm->module, run).v);
	ret->future = plan->future;
	ret->header = copy->header;
	ret->stored = lookup_type(copy->dm, waker, 0); /* a JoinHandle reads it by its name */
	ret->offset = plan->offset;
	ret->has_offset = plan->future != NULL;
}

/* ---- headers ---- */

struct error *compio_header_place(struct inspector *in, const struct compio_copy *copy,
                                  uint64_t addr, const char *expr, struct value *ret)
{
	struct value header = { copy->header, addr };
	bool found;

	TRY(inspector_eval(in, header, expr, ret, &found));
	return found ? NULL : error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task", addr);
}

static struct error *compio_task_read_word(struct inspector *in, const struct compio_copy *copy,
                                           uint64_t addr, const char *expr, uint64_t *ret)
{
	struct value place;

	TRY(compio_header_place(in, copy, addr, expr, &place));
	return target_read_uint(in->target, place.addr, WORD, ret);
}

uint64_t compio_id(uint64_t index, uint64_t version)
{
	return version << 32 | index;
}

static struct error *read_id(struct inspector *in, const struct compio_copy *copy, uint64_t addr,
                             uint64_t *ret)
{
	static const char index_path[] = "id.idx", version_path[] = "id.version";
	struct value place;
	uint64_t index, version;

	TRY(compio_header_place(in, copy, addr, index_path, &place));
	TRY(value_uint(in->target, place, &index));
	TRY(compio_header_place(in, copy, addr, version_path, &place));
	TRY(value_uint(in->target, place, &version));
	*ret = compio_id(index, version);
	return NULL;
}

/* Each task has a reference at least; its count is not near its limit. */
static bool compio_task_is_legal(uint64_t state)
{
	uint64_t references = state >> COMPIO_REF_SHIFT;

	return references > 0 && references < MAX_REFERENCES;
}

struct error *compio_read_header(struct inspector *in, struct compio_copy *copy, uint64_t addr,
                                 uint64_t id, struct compio_header *ret)
{
	static const char state_path[] = "state", vtable_path[] = "vtable",
			  run_path[] = "vtable.run_future";
	uint64_t vtable, run;

	*ret = (struct compio_header){ .addr = addr };
	if (!copy->header)
		return error_new(ERR_LAYOUT, "the type of task headers was not found");
	if (!addr || addr % WORD)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task: not aligned", addr);
	TRY(compio_task_read_word(in, copy, addr, state_path, &ret->state));
	TRY(read_id(in, copy, addr, &ret->id));
	TRY(compio_task_read_word(in, copy, addr, vtable_path, &vtable));
	if (!compio_task_is_legal(ret->state) || !vtable || vtable % WORD)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task: bad state 0x%" PRIx64,
		                 addr, ret->state);
	if (id && ret->id != id)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task: it has another id",
		                 addr);
	TRY(compio_task_read_word(in, copy, addr, run_path, &run));
	ret->plan = plan_of(in, copy, run);
	return ret->plan ? NULL
	                 : error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a task: it has no vtable",
	                             addr);
}

struct error *compio_is_cancelled(struct inspector *in, uint64_t task, bool *ret)
{
	struct error *err = error_new(ERR_CORRUPT, "compio was not found");
	struct compio_header h = { 0 };

	*ret = false;
	for (struct compio_copy *copy = compio_of(in)->copies; err && copy; copy = copy->next) {
		error_free(err);
		if (!copy->header)
			return async_executor_is_cancelled(in, task, ret);
		err = compio_read_header(in, copy, task, 0, &h);
	}
	*ret = !err && !(h.state & COMPIO_NOT_CANCELLED);
	return err;
}

enum task_state compio_state(uint64_t state, bool hot)
{
	if (state & COMPIO_COMPLETED)
		return TASK_COMPLETE;
	if (!(state & COMPIO_NOT_CANCELLED))
		return TASK_CANCELLED;
	return hot || state & COMPIO_SCHEDULED ? TASK_SCHEDULED : TASK_IDLE;
}

/* ---- futures ---- */

struct compio_copy *compio_copy_at(const struct collector *c, unsigned index)
{
	const struct compio_walk *w = compio_walk(c);

	for (size_t i = 0; w->threads && i < c->out->nthreads; i++) {
		if (w->threads[i].info && w->threads[i].info->index == index)
			return w->threads[i].copy;
	}
	for (size_t i = 0; i < w->nleft; i++) {
		if (w->left[i].info && w->left[i].info->index == index)
			return w->left[i].copy;
	}
	return NULL;
}

/*
 * Besides the one in the map, each waker of a task has a reference, and its JoinHandle: only where
 * there is no other is it known that nothing wakes it.
 */
static void compio_task_count_wakers(const struct compio_header *h, struct task *task)
{
	task->has_wakers = task->state == TASK_IDLE && compio_state(h->state, false) == TASK_IDLE &&
	                   h->state >> COMPIO_REF_SHIFT == 1;
}

static struct error *compio_task_decode(struct collector *c, struct task *task)
{
	struct compio_copy *copy = compio_copy_at(c, task->runtime);
	const struct compio_plan *plan = map_get(&compio_walk(c)->plans, (uintptr_t)task);
	struct decoder d = { .c = c, .waker = task->addr, .runtime = task->runtime };
	struct compio_header h;

	task->type = plan->type;
	if (!plan->future)
		return error_new(ERR_LAYOUT, "the debug info does not say the type of its future");
	task->size = type_size(plan->future);
	if (type_is_coroutine(plan->future) && !plan->merged)
		task->defined_at = coroutine_defined_at(c->in, plan->future);
	TRY(compio_read_header(c->in, copy, task->addr, 0, &h));
	if (task->state == TASK_RUNNING || h.state & COMPIO_COMPLETED)
		return NULL;
	compio_task_count_wakers(&h, task);
	d.idle = task->state == TASK_IDLE;
	d.woken = future_is_woken(task->state);
	d.forgotten = task->has_wakers && task->wakers == 0;
	task->root = future_decode(&d, (struct value){ plan->future, task->addr + plan->offset });
	task->root->uncertain |= plan->merged;
	if (!task->defined_at && !plan->merged)
		task->defined_at = coroutine_defined_by_tree(c->in, task->root);
	return NULL;
}

/* A task of async-task: its runtime may be of another module than its types, or of an unknown one.
 */
static void decode_async_task(struct collector *c, struct task *task)
{
	const struct compio_copy *copy = compio_copy_at(c, task->runtime);
	const struct async_executor_plan *plan =
		map_get(&async_executor_walk(c)->plans, (uintptr_t)task);
	struct async_executor_copy *tasks =
		plan->schedule ? async_executor_copy_of(c->in, type_module(plan->schedule)) : NULL;

	if (!tasks && copy)
		tasks = async_executor_copy_of(c->in, copy->dm);
	if (!tasks)
		tasks = async_executor_of(c->in)->copies;
	async_executor_decode_of(c, tasks, copy && bindings_has(&copy->layout, COMPIO_ENTRIES),
	                         task);
}

void compio_decode(struct collector *c, struct task *task)
{
	struct compio_walk *w = compio_walk(c);

	if (!map_has(&w->plans, (uintptr_t)task)) {
		decode_async_task(c, task);
		return;
	}
	size_t doubts = collector_begin_decoding(c, task);
	struct error *err = compio_task_decode(c, task);

	if (!task->root && task->type && task->state != TASK_RUNNING)
		task->root = future_by_name(c, task->type);
	collector_end_decoding(c, task, doubts, err);
}
