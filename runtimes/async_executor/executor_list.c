/* Lists executors and the tasks in their slabs. */
#include <inttypes.h>
#include <stdlib.h>

#include "debugger/base/progress.h"
#include "dwarf/values/queue_length.h"
#include "runtimes/async_executor/executor.h"

enum { MAX_TASKS = 1 << 24, MAX_NOTES = 8 };

/* ---- tasks ---- */

struct task *async_executor_add_task(struct collector *c, struct runtime_info *info,
                                     const struct async_executor_header *h)
{
	struct task *task = NEW(c->a, struct task);

	task->runtime = info->index;
	task->addr = h->addr;
	task->state = async_executor_state(h->state);
	task->notified = task->state == TASK_RUNNING && (h->state & ASYNC_EXECUTOR_SCHEDULED);
	map_put(&async_executor_walk(c)->plans, (uintptr_t)task, (void *)(uintptr_t)h->plan);
	collector_add_task(c, task, h->plan->run);
	info->ntasks++;
	return task;
}

/*
 * Adds the task of an entry of the slab: a waker of a task, or a link in its list of free entries.
 */
static struct error *executor_list_add_entry(struct collector *c, struct executor *e,
                                             struct value entry, bool *occupied)
{
	struct async_executor_header h;
	uint64_t addr;

	TRY(bindings_uint(c->in->target, &e->copy->layout, ASYNC_EXECUTOR_WAKER, entry, &addr,
	                  occupied));
	if (!*occupied)
		return NULL;
	if (map_has(&c->tasks, addr))
		return error_new(ERR_CORRUPT, "task 0x%" PRIx64 " is listed twice", addr);
	TRY(async_executor_read_header(c->in, e->copy, addr, &h));
	async_executor_add_task(c, e->info, &h);
	return NULL;
}

/* Adds all entries: a bad one hides no other. The first error is returned. */
static struct error *executor_list_add_entries(struct collector *c, struct executor *e,
                                               const struct slice *entries, uint64_t *occupied)
{
	CLEANUP(error_freep) struct error *bad = NULL;
	const struct target *t = c->in->target;

	for (uint64_t i = 0; i < entries->count; i++) {
		struct value entry = { entries->element,
			               entries->addr + i * type_size(entries->element) };
		size_t doubts = t->stop.doubts;
		bool is_task = false;

		if (i % PROGRESS_STRIDE == 0) {
			TRY(interrupt_check());
			progress("listing tasks", c->listed.n, c->listed.n + entries->count - i);
		}
		struct error *err = executor_list_add_entry(c, e, entry, &is_task);

		*occupied += is_task;
		if (!err && is_task)
			c->listed.data[c->listed.n - 1]->changed = t->stop.doubts != doubts;
		if (bad)
			error_free(err);
		else
			bad = err;
	}
	struct error *ret = bad;
	bad = NULL;
	return ret;
}

static struct error *executor_list_tasks(struct collector *c, struct executor *e)
{
	const struct bindings *l = &e->copy->layout;
	struct value state = { e->copy->state, e->state };
	struct runtime_info *info = e->info;
	struct target *t = c->in->target;
	uint64_t occupied = 0;
	struct slice entries;
	bool found;

	TRY(bindings_slice(t, l, ASYNC_EXECUTOR_ACTIVE, state, &entries, &found));
	if (!found)
		return error_new(ERR_LAYOUT, "its slab of tasks was not found: %s",
		                 l->slots[ASYNC_EXECUTOR_ACTIVE].tried);
	if (entries.count > MAX_TASKS)
		return error_new(ERR_CORRUPT, "its slab has %" PRIu64 " entries", entries.count);
	TRY(bindings_uint(t, l, ASYNC_EXECUTOR_LENGTH, state, &info->expected_tasks,
	                  &info->has_expected));
	TRY(executor_list_add_entries(c, e, &entries, &occupied));
	/*
	 * A task is spawned and removed with the slab locked: while a thread is stopped there, the
	 * counts differ.
	 */
	if (info->has_expected && occupied != info->expected_tasks)
		return error_new(ERR_CORRUPT, "its slab counts %" PRIu64 " tasks and has %" PRIu64,
		                 info->expected_tasks, occupied);
	return NULL;
}

/* ---- executors ---- */

/* Is the State still the object that the scan found? */
static bool lives(struct collector *c, const struct async_executor_root *root)
{
	struct value state = { root->copy->state, root->state };
	uint64_t strong = 0, length = 0;
	bool found = false;
	struct error *err = target_read_uint(c->in->target, root->strong, 8, &strong);

	if (!err)
		err = bindings_uint(c->in->target, &root->copy->layout, ASYNC_EXECUTOR_LENGTH,
		                    state, &length, &found);
	error_free(err);
	return !err && strong > 0 && strong < UINT32_MAX && (!found || length <= MAX_TASKS);
}

static int by_address(const void *a, const void *b)
{
	const struct executor *x = a, *y = b;

	return x->state < y->state ? -1 : x->state > y->state;
}

void async_executor_read_queue(struct collector *c, struct executor *e)
{
	const struct bindings *l = &e->copy->layout;
	struct value state = { e->copy->state, e->state };
	struct target *t = c->in->target;
	uint64_t head = 0, tail = 0;
	bool has_head, has_tail = false;
	struct error *err = bindings_uint(t, l, ASYNC_EXECUTOR_HEAD, state, &head, &has_head);

	if (!err)
		err = bindings_uint(t, l, ASYNC_EXECUTOR_TAIL, state, &tail, &has_tail);
	e->info->has_inject = !err && has_head && has_tail &&
	                      queue_length_unbounded(head, tail, &e->info->inject_len);
	error_free(err);
}

static void list_executor(struct collector *c, struct executor *e)
{
	struct runtime_info *info = e->info =
		collector_add_runtime(c, async_executor_runtime(c->in));

	info->flavor = "executor";
	info->addr = e->state;
	info->version = e->copy->version;
	info->workers_poll = true;
	async_executor_read_queue(c, e);
	struct error *err = executor_list_tasks(c, e);
	info->completeness = err ? COMPLETENESS_PART : COMPLETENESS_ALL;
	if (err)
		snapshot_incomplete(c->out, "runtime %u: some tasks are missing: %s", info->index,
		                    err->message);
	error_free(err);
}

void async_executor_list(struct collector *c)
{
	struct async_executor_inspector *in = async_executor_of(c->in);
	struct async_executor_walk *w = async_executor_walk(c);

	if (!in->copies)
		return;
	if (c->in->target->clock.known && !c->clock.known) {
		c->clock.now_ns = c->in->target->clock.monotonic_ns;
		c->clock.known = true;
	}
	w->executors = NEW_ARRAY(&c->scratch, struct executor, in->roots.n + in->loose.n + 1);
	for (size_t i = 0; i < in->roots.n; i++) {
		const struct async_executor_root *root = &in->roots.data[i];

		if (lives(c, root))
			w->executors[w->nexecutors++] = (struct executor){ .copy = root->copy,
				                                           .state = root->state,
				                                           .listed = true };
	}
	if (w->nexecutors)
		qsort(w->executors, w->nexecutors, sizeof(*w->executors), by_address);
	for (size_t i = 0; i < w->nexecutors; i++)
		list_executor(c, &w->executors[i]);
	async_executor_list_unlisted(c);
}

const struct executor *async_executor_at(const struct collector *c, unsigned index)
{
	const struct async_executor_walk *w = async_executor_walk(c);
	unsigned first = w->nexecutors ? w->executors[0].info->index : 0;

	return index - first < w->nexecutors ? &w->executors[index - first] : NULL;
}

const struct executor *async_executor_of_state(const struct collector *c, uint64_t state)
{
	const struct async_executor_walk *w = async_executor_walk(c);

	for (size_t i = 0; i < w->nexecutors; i++) {
		if (state && w->executors[i].state == state)
			return &w->executors[i];
	}
	return NULL;
}
