/* Lists the runtimes that threads are inside, and their tasks. */
#include <inttypes.h>

#include "debugger/base/progress.h"
#include "debugger/base/str.h"
#include "runtimes/compio/compio.h"

enum { MAX_TASKS = 1 << 24, WORD = 8 };

/* Adds one element of a list; *occupied: it is a task, and not a free place. */
typedef struct error *add_fn(struct collector *c, struct compio_thread *t, struct value element,
                             bool *occupied);

/* ---- tasks of compio-executor (slotmap, src/basic.rs) ---- */

static void compio_list_add_task(struct collector *c, struct compio_thread *t,
                                 const struct compio_header *h, enum task_state state)
{
	struct task *task = NEW(c->a, struct task);

	task->runtime = t->info->index;
	task->addr = h->addr;
	task->state = state;
	map_put(&compio_walk(c)->plans, (uintptr_t)task, (void *)(uintptr_t)h->plan);
	collector_add_task(c, task, h->plan->run);
	t->info->ntasks++;
	if (state == TASK_RUNNING) {
		t->running = task;
		task->thread = c->out->threads[t - compio_walk(c)->threads].number;
	}
}

/* The task is taken out of its slot while it is polled. */
static struct error *compio_list_add_running(struct collector *c, struct compio_thread *t,
                                             uint64_t id)
{
	size_t thread = (size_t)(t - compio_walk(c)->threads);
	struct compio_header h;
	bool found;

	TRY(compio_find_running(c, &c->stacks[thread], t->copy, id, &h, &found));
	if (!found)
		return error_new(ERR_LAYOUT,
		                 "the stack of thread %u does not show which one it polls",
		                 c->out->threads[thread].number);
	if (map_has(&c->tasks, h.addr))
		return error_new(ERR_CORRUPT, "task 0x%" PRIx64 " is listed twice", h.addr);
	bool ended = h.state & COMPIO_COMPLETED;
	compio_list_add_task(c, t, &h, ended ? TASK_COMPLETE : TASK_RUNNING);
	return NULL;
}

static struct error *add_item(struct collector *c, struct compio_thread *t, struct value item,
                              uint64_t id)
{
	static const char task_path[] = "task.Some.0", hot_path[] = "is_hot";
	struct value task, place;
	struct compio_header h;
	uint64_t addr, hot;
	bool found;

	TRY(inspector_eval(c->in, item, task_path, &task, &found));
	if (!found)
		return compio_list_add_running(c, t, id);
	TRY(target_read_uint(c->in->target, task.addr, WORD, &addr));
	if (map_has(&c->tasks, addr))
		return error_new(ERR_CORRUPT, "task 0x%" PRIx64 " is listed twice", addr);
	TRY(compio_read_header(c->in, t->copy, addr, id, &h));
	TRY(inspector_eval(c->in, item, hot_path, &place, &found));
	TRY(value_uint(c->in->target, place, &hot));
	compio_list_add_task(c, t, &h, compio_state(h.state, hot));
	return NULL;
}

/* A slot with an odd version has a value. */
static struct error *compio_list_add_slot(struct collector *c, struct compio_thread *t,
                                          struct value slot, bool *occupied)
{
	static const char version_path[] = "version", value_path[] = "u.value";
	struct value place, item;
	uint64_t version;
	bool found;

	TRY(inspector_eval(c->in, slot, version_path, &place, &found));
	TRY(value_uint(c->in->target, place, &version));
	*occupied = version % 2;
	if (!*occupied)
		return NULL;
	TRY(inspector_eval(c->in, slot, value_path, &item, &found));
	uint64_t index = (slot.addr - t->slots) / type_size(slot.type);
	return add_item(c, t, item, compio_id(index, version));
}

/* ---- tasks of async-task ---- */

static struct error *add_waker(struct collector *c, struct compio_thread *t, struct value entry,
                               bool *occupied)
{
	static const char waker_path[] = "Occupied.0";
	struct async_executor_copy *copy = async_executor_copy_of(c->in, t->copy->dm);
	struct async_executor_header h;
	struct value place;
	struct waker w;

	TRY(inspector_eval(c->in, entry, waker_path, &place, occupied));
	if (!*occupied)
		return NULL;
	if (!copy)
		return error_new(ERR_LAYOUT, "async-task was not found");
	TRY(waker_read(c, place, &w));
	if (map_has(&c->tasks, w.data))
		return error_new(ERR_CORRUPT, "task 0x%" PRIx64 " is listed twice", w.data);
	TRY(async_executor_read_header(c->in, copy, w.data, &h));
	async_executor_add_task(c, t->info, &h);
	return NULL;
}

/* ---- runtimes ---- */

/* Adds all elements: a bad one hides no other. The first error is returned. */
static struct error *compio_list_add_all(struct collector *c, struct compio_thread *t,
                                         const struct slice *elements, add_fn *add,
                                         uint64_t *occupied)
{
	struct error *bad = NULL;

	for (uint64_t i = 0; i < elements->count; i++) {
		struct value element = { elements->element,
			                 elements->addr + i * type_size(elements->element) };
		bool is_task = false;

		if (i % PROGRESS_STRIDE == 0) {
			struct error *interrupted = interrupt_check();

			progress("listing tasks", c->listed.n, c->listed.n + elements->count - i);
			if (interrupted) {
				error_free(bad);
				return interrupted;
			}
		}
		struct error *err = add(c, t, element, &is_task);
		*occupied += is_task;
		error_free(bad ? err : NULL);
		bad = bad ? bad : err;
	}
	return bad;
}

/* The tasks of a list; count is the row with its own count of them. */
static struct error *compio_list_tasks(struct collector *c, struct compio_thread *t,
                                       enum compio_row row, enum compio_row count, add_fn *add)
{
	const struct bindings *l = &t->copy->layout;
	struct runtime_info *info = t->info;
	struct target *target = c->in->target;
	uint64_t occupied = 0;
	struct slice elements;
	bool found;

	TRY(bindings_slice(target, l, row, t->runtime, &elements, &found));
	if (!found || elements.count > MAX_TASKS)
		return error_new(ERR_CORRUPT, "its list of tasks was not found");
	t->slots = elements.addr;
	TRY(bindings_uint(target, l, count, t->runtime, &info->expected_tasks,
	                  &info->has_expected));
	TRY(compio_list_add_all(c, t, &elements, add, &occupied));
	if (info->has_expected && occupied != info->expected_tasks)
		return error_new(ERR_CORRUPT, "it counts %" PRIu64 " tasks and has %" PRIu64,
		                 info->expected_tasks, occupied);
	return NULL;
}

static void list_runtime(struct collector *c, struct compio_thread *t)
{
	struct runtime_info *info = t->info = collector_add_runtime(c, &compio_table);
	const struct bindings *l = &t->copy->layout;
	struct error *err = NULL;

	info->flavor = "compio";
	info->addr = t->runtime.addr;
	info->version = t->copy->version;
	info->workers = 1;
	info->workers_poll = t->copy->spawns_root;
	info->completeness = COMPLETENESS_ALL;
	if (bindings_has(l, COMPIO_SLOTS))
		err = compio_list_tasks(c, t, COMPIO_SLOTS, COMPIO_COUNT, compio_list_add_slot);
	else if (bindings_has(l, COMPIO_ENTRIES))
		err = compio_list_tasks(c, t, COMPIO_ENTRIES, COMPIO_LENGTH, add_waker);
	else
		compio_list_scanned(c, t);
	if (err) {
		info->completeness = COMPLETENESS_PART;
		snapshot_incomplete(c->out, "runtime %u: some tasks are missing: %s", info->index,
		                    err->message);
	}
	error_free(err);
}

void compio_list(struct collector *c)
{
	struct compio_walk *w = compio_walk(c);

	if (!compio_of(c->in)->copies)
		return;
	if (c->in->target->clock.known && !c->clock.known) {
		c->clock.now_ns = c->in->target->clock.monotonic_ns;
		c->clock.known = true;
	}
	w->threads = NEW_ARRAY(&c->scratch, struct compio_thread, c->out->nthreads + 1);
	compio_find(c, w->threads);
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct compio_thread *t = &w->threads[i];

		if (!t->copy)
			continue;
		if (t->waker)
			map_put(&c->wakers, t->waker, &c->out->threads[i]);
		list_runtime(c, t);
	}
	compio_list_left(c);
}
