/* Lists and decodes the tasks of ThreadPools. */

#include "runtimes/futures_executor/future_object.h"
#include "runtimes/futures_executor/thread_pool.h"
#include "runtimes/ownership/ownership.h"

enum { MAX_POOLS = 4096 };

/* ---- tasks ---- */

struct task *thread_pool_add_task(struct collector *c, const struct thread_pool *pool,
                                  uint64_t handle, struct value object, enum task_state state)
{
	struct thread_pool_task *known = NEW(&c->scratch, struct thread_pool_task);
	struct task *task = NEW(c->a, struct task);

	*known = (struct thread_pool_task){ .copy = pool->copy, .object = object };
	task->runtime = pool->info->index;
	task->addr = handle;
	task->state = state;
	map_put(&thread_pool_walk(c)->tasks, (uintptr_t)task, known);
	collector_add_task(c, task, object.addr ? future_object_poll(c, object) : 0);
	pool->info->ntasks++;
	return task;
}

struct thread_pool_task *thread_pool_task_of(const struct collector *c, const struct task *task)
{
	return map_get(&thread_pool_walk(c)->tasks, (uintptr_t)task);
}

void thread_pool_decode(struct collector *c, struct task *task)
{
	const struct thread_pool_task *known = thread_pool_task_of(c, task);
	size_t doubts = collector_begin_decoding(c, task);
	struct error *err = NULL;

	if (known->vtable)
		err = future_object_describe(c, task, known->vtable);
	else if (known->object.addr)
		err = future_object_decode(c, task, known->object);
	else if (task->state != TASK_RUNNING)
		err = error_new(ERR_LAYOUT, "its future was not found");
	collector_end_decoding(c, task, doubts, err);
}

/* ---- pools ---- */

static struct thread_pool *thread_pool_list_find_pool(struct collector *c, uint64_t state)
{
	struct thread_pool_walk *w = thread_pool_walk(c);

	for (size_t i = 0; i < w->pools.n; i++) {
		if (w->pools.data[i].state == state)
			return &w->pools.data[i];
	}
	return NULL;
}

static void thread_pool_list_describe(struct collector *c, struct thread_pool *pool)
{
	struct value state = { pool->copy->state, pool->state };
	struct runtime_info *info = pool->info = collector_add_runtime(c, &thread_pool_table);
	uint64_t threads = 0;
	bool found;
	struct error *err = bindings_uint(c->in->target, &pool->copy->layout, THREAD_POOL_SIZE,
	                                  state, &threads, &found);

	error_free(err);
	info->flavor = "thread_pool";
	info->addr = pool->state;
	info->workers = (unsigned)threads;
	info->workers_poll = true;
	info->version = pool->copy->version;
}

/* A pool is shared, for pointers to it: it must not move while others are added. */
static void thread_pool_list_add_pool(struct collector *c, const struct thread_pool_copy *copy,
                                      uint64_t state)
{
	struct thread_pool_walk *w = thread_pool_walk(c);

	if (thread_pool_list_find_pool(c, state))
		return;
	if (w->pools.n >= MAX_POOLS) {
		snapshot_incomplete(c->out, "more than %d ThreadPools: tasks of others are missing",
		                    MAX_POOLS);
		return;
	}
	*vec_push(&w->pools) = (struct thread_pool){ .copy = copy, .state = state };
	thread_pool_list_describe(c, &w->pools.data[w->pools.n - 1]);
}

/* ---- the phases of a list ---- */

/*
 * Finds what threads work for. Where a copy of the crate was not known, the scan before this walk
 * looked for none of its tasks. A walk over the copy of a stopped program lets the program run on
 * meanwhile.
 */
static struct error *find_threads(struct collector *c, uint64_t *states)
{
	struct thread_pool_walk *w = thread_pool_walk(c);
	bool late = false, fresh;

	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_pool_thread *t = &w->threads[i];

		fresh = false;
		if (thread_pool_find(c, i, t, &states[i], &fresh) && states[i])
			thread_pool_list_add_pool(c, t->copy, states[i]);
		late |= fresh;
	}
	return late ? thread_pool_scan(c->in) : NULL;
}

static void thread_pool_list_note_lost(struct collector *c, size_t thread)
{
	c->stacks[thread].unlisted = &thread_pool_table;
	snapshot_incomplete(c->out,
	                    "thread %u works for a ThreadPool, and the debug info does not say "
	                    "which: its tasks are not shown",
	                    c->out->threads[thread].number);
}

static void assign_threads(struct collector *c, const uint64_t *states)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_pool_thread *t = &thread_pool_walk(c)->threads[i];

		t->pool = states[i] ? thread_pool_list_find_pool(c, states[i]) : NULL;
		if (t->copy && !t->pool)
			thread_pool_list_note_lost(c, i);
	}
}

/* Pools of which no thread tells: by the handles of their tasks. */
static void find_pools_of_leads(struct collector *c)
{
	const struct thread_pool_inspector *in = thread_pool_inspector(c->in);
	struct thread_pool_handle h;

	for (size_t i = 0; i < in->leads.n; i++) {
		const struct thread_pool_lead *lead = &in->leads.data[i];
		struct error *err = thread_pool_read_handle(c, lead->copy, lead->handle, &h);

		if (!err && h.task.addr)
			thread_pool_list_add_pool(c, lead->copy, h.pool);
		error_free(err);
	}
}

/* The tasks that wait in their handles. */
static void list_waiting(struct collector *c)
{
	static const char object[] = "future.0";
	const struct thread_pool_inspector *in = thread_pool_inspector(c->in);
	struct value future;
	bool found = false;

	for (size_t i = 0; i < in->leads.n; i++) {
		const struct thread_pool_lead *lead = &in->leads.data[i];
		struct thread_pool_handle h;
		struct error *err = thread_pool_read_handle(c, lead->copy, lead->handle, &h);
		const struct thread_pool *pool = err ? NULL : thread_pool_list_find_pool(c, h.pool);

		if (pool && h.task.addr && !map_has(&c->tasks, h.addr))
			err = inspector_eval(c->in, h.task, object, &future, &found);
		else
			pool = NULL;
		if (!err && pool && found) {
			struct task *task =
				thread_pool_add_task(c, pool, h.addr, future, TASK_IDLE);

			/* The task itself has one reference. */
			task->has_wakers = true;
			task->wakers = h.references - 1;
		}
		error_free(err);
	}
}

static void thread_pool_list_note_pool(struct collector *c, const struct thread_pool *pool,
                                       struct error *err)
{
	unsigned index = pool->info->index;

	pool->info->completeness = err ? COMPLETENESS_PART : COMPLETENESS_REACHED;
	if (err)
		snapshot_incomplete(c->out, "runtime %u: some tasks are missing: %s", index,
		                    err->message);
	error_free(err);
	snapshot_incomplete(c->out,
	                    "runtime %u (thread_pool) keeps no list of its tasks: the ones shown "
	                    "are all that its queues and wakers lead to",
	                    index);
	if (c->want & WANT_HOLDINGS)
		ownership_unsearched(c,
		                     "tasks of runtime %u (thread_pool) to which no queue and no "
		                     "waker leads",
		                     index);
}

void thread_pool_list(struct collector *c)
{
	struct thread_pool_walk *w = thread_pool_walk(c);
	uint64_t *states = NEW_ARRAY(&c->scratch, uint64_t, c->out->nthreads + 1);

	w->threads = NEW_ARRAY(&c->scratch, struct thread_pool_thread, c->out->nthreads + 1);
	struct error *err = find_threads(c, states);
	if (err)
		snapshot_incomplete(c->out, "wakers of a ThreadPool were not found: %s",
		                    err->message);
	error_free(err);
	find_pools_of_leads(c);
	assign_threads(c, states);
	for (size_t i = 0; i < w->pools.n; i++)
		thread_pool_list_note_pool(c, &w->pools.data[i],
		                           thread_pool_list_queue(c, &w->pools.data[i]));
	thread_pool_list_running(c);
	list_waiting(c);
}

void thread_pool_free(struct collector *c)
{
	struct thread_pool_walk *w = thread_pool_walk(c);

	map_free(&w->tasks);
	vec_free(&w->pools);
}
