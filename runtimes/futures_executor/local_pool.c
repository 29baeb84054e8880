/* Lists and decodes the tasks of the LocalPools that threads run. */
#include "runtimes/futures_executor/local_pool.h"

#include <inttypes.h>

#include "runtimes/future/combinator.h"
#include "runtimes/futures_executor/future_object.h"

enum { MAX_TASKS = 1 << 24 };

const char local_pool_name[] = "futures_executor";

struct local_pool_walk *local_pool_walk(const struct collector *c)
{
	return collector_state(c, local_pool_name);
}

/* ---- one task ---- */

static struct task *local_pool_add_task(struct collector *c, struct local_pool_thread *t,
                                        uint64_t addr, struct value object, enum task_state state)
{
	struct task *task = NEW(c->a, struct task);

	task->runtime = t->info->index;
	task->addr = addr;
	task->state = state;
	map_put(&local_pool_walk(c)->objects, (uintptr_t)task, (void *)(uintptr_t)object.addr);
	collector_add_task(c, task, future_object_poll(c, object));
	t->info->ntasks++;
	return task;
}

const struct local_pool_thread *local_pool_thread_of(const struct collector *c,
                                                     const struct task *task)
{
	const struct local_pool_thread *t = local_pool_walk(c)->threads;

	while (!t->info || t->info->index != task->runtime)
		t++;
	return t;
}

void local_pool_decode(struct collector *c, struct task *task)
{
	const struct map *objects = &local_pool_walk(c)->objects;
	struct value object = { local_pool_thread_of(c, task)->copy->object,
		                (uintptr_t)map_get(objects, (uintptr_t)task) };
	size_t doubts = collector_begin_decoding(c, task);

	collector_end_decoding(c, task, doubts, future_object_decode(c, task, object));
}

/* ---- one pool ---- */

/* A node without a future is of a task that has ended. */
static struct error *local_pool_add_node(struct collector *c, struct local_pool_thread *t,
                                         struct value node)
{
	struct value object;
	uint64_t queued;
	const struct path *p;
	bool found;

	if (map_has(&c->tasks, node.addr))
		return error_new(ERR_CORRUPT, "task 0x%" PRIx64 " is in two lists", node.addr);
	TRY(inspector_path(c->in, node.type, "queued", &p));
	TRY(path_uint(c->in->target, p, node, &queued, &found));
	TRY(inspector_eval(c->in, node, "future.Some.0", &object, &found));
	if (!found)
		return NULL;
	local_pool_add_task(c, t, node.addr, object, queued ? TASK_SCHEDULED : TASK_IDLE);
	return NULL;
}

/* Adds the tasks of nodes. One bad node hides no other. */
static struct error *add_nodes(struct collector *c, struct local_pool_thread *t,
                               const value_vec *nodes)
{
	struct error *bad = NULL;

	for (size_t i = 0; i < nodes->n; i++) {
		struct error *err = local_pool_add_node(c, t, nodes->data[i]);

		error_free(bad ? err : NULL);
		bad = bad ? bad : err;
	}
	return bad;
}

/* The tasks of the set, which counts them. */
static struct error *local_pool_list_set(struct collector *c, struct local_pool_thread *t)
{
	const struct bindings *l = &t->copy->layout;
	struct target *target = c->in->target;
	value_vec nodes = { 0 };
	uint64_t length = 0;
	struct value set;
	bool found;

	TRY(bindings_eval(target, l, LOCAL_POOL_SET, t->pool, &set, &found));
	if (!found)
		return error_new(ERR_LAYOUT, "its set was not found: %s",
		                 l->slots[LOCAL_POOL_SET].tried);
	TRY(bindings_uint(target, l, LOCAL_POOL_LENGTH, t->pool, &length, &found));
	t->info->expected_tasks = found ? length : 0;
	t->info->has_expected = bindings_has(l, LOCAL_POOL_LENGTH);
	struct error *walk = futures_unordered_nodes(c, set, MAX_TASKS, &nodes);
	struct error *err = add_nodes(c, t, &nodes);
	if (!walk && !err && t->info->has_expected && nodes.n != t->info->expected_tasks)
		err = error_new(ERR_CORRUPT, "its list has %zu of %" PRIu64 " tasks", nodes.n,
		                t->info->expected_tasks);
	vec_free(&nodes);
	if (walk && err) {
		error_free(err);
		return walk;
	}
	return walk ? walk : err;
}

/* The tasks that were spawned since the pool was polled last. */
static struct error *list_incoming(struct collector *c, struct local_pool_thread *t)
{
	struct runtime_info *info = t->info;
	uint64_t data, vtable;
	struct slice incoming;
	bool found;

	TRY(bindings_slice(c->in->target, &t->copy->layout, LOCAL_POOL_INCOMING, t->pool, &incoming,
	                   &found));
	if (!found)
		return error_new(ERR_LAYOUT, "its new tasks were not found: %s",
		                 t->copy->layout.slots[LOCAL_POOL_INCOMING].tried);
	if (incoming.count > MAX_TASKS)
		return error_new(ERR_CORRUPT, "it has %" PRIu64 " new tasks", incoming.count);
	info->has_inject = true;
	info->inject_len = incoming.count;
	info->expected_tasks += incoming.count;
	for (uint64_t i = 0; i < incoming.count; i++) {
		struct value object = { incoming.element,
			                incoming.addr + i * type_size(incoming.element) };

		TRY(future_object_read(c, object, &data, &vtable));
		if (!data || map_has(&c->tasks, object.addr))
			return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a new task",
			                 object.addr);
		local_pool_add_task(c, t, object.addr, object, TASK_SCHEDULED);
	}
	return NULL;
}

/* The task that the thread polls. */
static struct error *local_pool_list_running(struct collector *c, struct local_pool_thread *t,
                                             size_t thread)
{
	struct value node, object;
	bool polls, found;

	TRY(local_pool_find_running(c, &c->stacks[thread], t, &node, &polls, &found));
	if (found)
		TRY(inspector_eval(c->in, node, "future.Some.0", &object, &found));
	if (found) {
		t->running = local_pool_add_task(c, t, node.addr, object, TASK_RUNNING);
		t->running->thread = c->out->threads[thread].number;
		t->info->expected_tasks++;
	} else if (polls) {
		return error_new(ERR_LAYOUT,
		                 "the debug info does not say which task thread %u polls",
		                 c->out->threads[thread].number);
	}
	return NULL;
}

/* Notes what is missing of a pool. */
static void local_pool_note(struct collector *c, const struct local_pool_thread *t,
                            struct error *err)
{
	if (err) {
		t->info->completeness = COMPLETENESS_PART;
		snapshot_incomplete(c->out, "runtime %u: some tasks are missing: %s",
		                    t->info->index, err->message);
	}
	error_free(err);
}

void local_pool_list_tasks(struct collector *c, struct local_pool_thread *t)
{
	local_pool_note(c, t, local_pool_list_set(c, t));
	local_pool_note(c, t, list_incoming(c, t));
}

static void list_pool(struct collector *c, struct local_pool_thread *t, size_t thread)
{
	struct runtime_info *info = t->info = collector_add_runtime(c, &local_pool_table);

	c->stacks[thread].unlisted = NULL;
	info->flavor = "local_pool";
	info->completeness = COMPLETENESS_ALL;
	info->addr = t->pool.addr;
	info->workers = 1;
	info->version = t->copy->version;
	local_pool_list_tasks(c, t);
	local_pool_note(c, t, local_pool_list_running(c, t, thread));
}

void local_pool_list(struct collector *c)
{
	struct local_pool_walk *w = local_pool_walk(c);

	w->threads = NEW_ARRAY(&c->scratch, struct local_pool_thread, c->out->nthreads);
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct local_pool_thread *t = &w->threads[i];

		if (!local_pool_find(c, i, t))
			continue;
		if (t->waker)
			map_put(&c->wakers, t->waker, &c->out->threads[i]);
		if (t->pool.addr)
			list_pool(c, t, i);
		else
			snapshot_incomplete(c->out,
			                    "thread %u runs a LocalPool, and the debug info does "
			                    "not say where it is: its tasks are not shown",
			                    c->out->threads[i].number);
	}
}

void local_pool_free(struct collector *c)
{
	map_free(&local_pool_walk(c)->objects);
}
