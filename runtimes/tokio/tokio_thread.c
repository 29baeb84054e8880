/*
 * Fills the roles and states of tokio's threads: workers, block_on callers, threads of the blocking
 * pool.
 */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "runtimes/thread/root.h"
#include "runtimes/thread/stack.h"
#include "runtimes/tokio/tokio.h"

/* runtime/scheduler/multi_thread/park.rs: unchanged since 1.0. */
enum { PARKED_CONDVAR = 1, PARKED_DRIVER = 2 };

static struct tokio_runtime *tokio_thread_runtime_of(const struct tokio_walk *w, uint64_t shared)
{
	for (size_t i = 0; i < w->nruntimes; i++) {
		if (w->runtimes[i].shared == shared)
			return &w->runtimes[i];
	}
	return NULL;
}

/*
 * Reads a queue's length. Head packs two indexes of half its size; tasks are taken at the low one.
 */
static struct error *tokio_thread_read_queue(struct collector *c, struct tokio *k,
                                             struct value remote, uint64_t *ret, bool *found)
{
	struct target *t = c->in->target;
	struct value place;
	uint64_t head, tail;

	TRY(bindings_eval(t, &k->layout, TOKIO_QUEUE_HEAD, remote, &place, found));
	if (!*found)
		return NULL;
	TRY(value_uint(t, place, &head));
	unsigned half = type_size(place.type) >= 8 ? 32 : 16;
	TRY(bindings_uint(t, &k->layout, TOKIO_QUEUE_TAIL, remote, &tail, found));
	if (*found)
		*ret = (tail - head) & ((UINT64_C(1) << half) - 1);
	return NULL;
}

/* The part of a worker that others see: its queue, and how it is parked. */
static struct error *find_remote(struct collector *c, const struct tokio_thread *tt,
                                 struct value *ret, bool *found)
{
	struct slice remotes;

	TRY(bindings_slice(c->in->target, &tt->tokio->layout, TOKIO_MT_REMOTES, tt->handle,
	                   &remotes, found));
	if (!*found)
		return NULL;
	if (tt->worker_index >= remotes.count)
		return error_new(ERR_CORRUPT, "worker index %" PRIu64 " of %" PRIu64,
		                 tt->worker_index, remotes.count);
	*ret = (struct value){ remotes.element,
		               remotes.addr + tt->worker_index * type_size(remotes.element) };
	return NULL;
}

static bool is_parked_in_driver(struct collector *c, const struct tokio_thread *tt)
{
	struct value remote;
	uint64_t park = 0;
	bool found = false;
	struct error *err = tt->worker.type ? find_remote(c, tt, &remote, &found) : NULL;

	if (!err && found)
		err = bindings_uint(c->in->target, &tt->tokio->layout, TOKIO_PARK_STATE, remote,
		                    &park, &found);
	error_free(err);
	return park == PARKED_DRIVER;
}

bool tokio_waits_for_timers(struct collector *c, const struct tokio_runtime *r)
{
	const struct target *t = c->in->target;

	for (size_t i = 0; i < t->nthreads; i++) {
		const struct tokio_thread *tt = &tokio_walk(c)->threads[i];
		const struct thread *th = &t->threads[i];

		if (!tt->tokio || tt->shared != r->shared || !th->has_regs || !th->regs.in_syscall)
			continue;
		const struct syscall *call = arch_syscall(t->arch, th->regs.syscall);
		/* A current_thread runtime without I/O waits at a futex, as for any lock. */
		if ((call && str_begins(call->name, "epoll_")) || is_parked_in_driver(c, tt))
			return true;
	}
	return false;
}

static struct error *tokio_thread_read_worker(struct collector *c, struct tokio_thread *tt,
                                              struct thread_info *info, uint64_t *park)
{
	struct target *t = c->in->target;
	struct tokio *k = tt->tokio;
	struct value remote;
	uint64_t lifo;
	bool found;

	TRY(find_remote(c, tt, &remote, &found));
	if (!found)
		return NULL;
	TRY(tokio_thread_read_queue(c, k, remote, &info->queue_len, &info->has_queue));
	TRY(bindings_uint(t, &k->layout, TOKIO_PARK_STATE, remote, park, &found));
	TRY(bindings_word(t, &k->layout, TOKIO_WORKER_LIFO, tt->worker, &lifo, &found));
	if (found && lifo)
		info->queue_len++;
	return NULL;
}

static void tokio_thread_problem(struct collector *c, struct thread_info *info, const char *text)
{
	info->problem = inspector_clean_name(c->a, text);
	c->out->complete = false;
}

/* The task with that id, if it is being polled: an idle worker still shows its launch job's id. */
static struct task *running_task(struct collector *c, uint64_t id, int runtime)
{
	struct task *task;

	if (id == 0 || runtime < 0)
		return NULL;
	size_t i = snapshot_task_index(c->out, (unsigned)runtime, id);
	task = i < c->out->ntasks ? c->out->tasks[i] : NULL;
	if (!task || task->number != id || (int)task->runtime != runtime)
		return NULL;
	return task->state == TASK_RUNNING ? task : NULL;
}

/* The closure of a spawn_blocking job that this stack runs; NULL when it runs none. */
static const char *blocking_job(struct collector *c, const struct marks *marks)
{
	for (size_t i = 0; i < marks->n; i++) {
		const char *name;

		if (marks->data[i].kind != MARK_TASK_POLL || marks->data[i].of != &tokio_table)
			continue;
		name = stack_mark_future_name(&c->scratch, &marks->data[i]);
		name = tokio_job_closure(c->a, name);
		if (name && !strstr(name, "multi_thread::worker::"))
			return name;
	}
	return NULL;
}

/*
 * Counters of a scheduler's Core for what it polls, from the thread's context. The Core lies there
 * while a task is polled, and elsewhere during block_in_place.
 */
static const struct {
	const char *tick, *polled; /* polled NULL: tick alone differs in each poll */
} core_counts[] = {
	/*
	 * runtime/scheduler/multi_thread: tick counts rounds, in each of which the LIFO slot may
	 * poll several tasks. tasks_polled_in_batch, from 1.29 on, tells these apart.
	 */
	[TOKIO_MULTI_THREAD] = { "scheduler.inner.MultiThread.0.core.tick",
	                         "scheduler.inner.MultiThread.0.core.stats.tasks_polled_in_batch" },
	/* runtime/scheduler/current_thread: each round polls one task. */
	[TOKIO_CURRENT_THREAD] = { "scheduler.inner.CurrentThread.0.core.tick", NULL },
};

/* Reads a count that does not come round again between two looks: u8 up to 1.18 would. */
static bool tokio_thread_read_count(struct collector *c, const struct tokio_thread *tt,
                                    const char *path, uint64_t *ret)
{
	struct value v;
	bool found = false;
	struct error *err = inspector_eval(c->in, tt->context, path, &v, &found);

	if (!err && found && type_size(v.type) >= sizeof(uint32_t))
		err = value_uint(c->in->target, v, ret);
	else
		found = false;
	found = found && !err;
	error_free(err);
	return found;
}

/* Fills in what tells one poll on the thread from the next. A LocalSet polls its tasks uncounted.
 */
static void number_poll(struct collector *c, const struct tokio_thread *tt, const struct task *task,
                        struct thread_info *info)
{
	uint64_t tick, polled = 0;

	if (!task || task->local_set || !tt->flavor)
		return;
	const char *path = core_counts[tt->flavor->scheduler].polled;
	if (!tokio_thread_read_count(c, tt, core_counts[tt->flavor->scheduler].tick, &tick) ||
	    (path && !tokio_thread_read_count(c, tt, path, &polled)))
		return;
	info->poll = tick << 32 | (polled & UINT32_MAX);
	info->has_poll = true;
}

static void describe_worker(struct collector *c, struct tokio_thread *tt, struct thread_info *info,
                            struct task *task)
{
	uint64_t park = 0;
	struct error *err = tokio_thread_read_worker(c, tt, info, &park);

	if (err)
		tokio_thread_problem(c, info, err->message);
	error_free(err);
	info->role = THREAD_WORKER;
	info->worker = (int)tt->worker_index;
	if (task)
		info->state = arena_printf(c->a, "running task %s", task->id);
	else if (park == PARKED_CONDVAR || park == PARKED_DRIVER)
		info->state = "parked";
	else
		info->state = "running";
}

/* Does the thread poll a task in this block_on()? */
static bool polls_task_within(const struct marks *marks, const struct mark *block_on)
{
	for (const struct mark *m = block_on + 1; m < marks->data + marks->n; m++) {
		if (m->kind == MARK_TASK_POLL)
			return true;
	}
	return false;
}

/* Is the thread parked until the root is woken? */
static bool is_parked_for_root(const struct thread_stack *s, const struct marks *marks,
                               const struct mark *block_on)
{
	return !polls_task_within(marks, block_on) && stack_is_parked(s, block_on) &&
	       !stack_is_polling(s, marks, (size_t)(block_on - marks->data));
}

/*
 * Does the thread of its runtime's blocking pool wait for a job? Then its futex is in the pool's
 * condition variable (runtime/blocking/pool.rs), and no stack is needed. False also where that is
 * not std's Condvar.
 */
static bool waits_for_job(struct collector *c, const struct thread *th,
                          const struct tokio_runtime *r)
{
	/* 1.54 | before */
	static const char condvar[] = "blocking_spawner.inner.inner_impl.Locked.0.condvar | "
				      "blocking_spawner.inner.condvar";
	const struct syscall *call = th->has_regs && th->regs.in_syscall
	                                     ? arch_syscall(c->in->target->arch, th->regs.syscall)
	                                     : NULL;
	struct value v;
	bool found = false;

	if (!r || !call || !call->takes_futex)
		return false;
	struct error *err = inspector_eval(c->in, r->handle, condvar, &v, &found);
	error_free(err);
	return !err && found && th->regs.syscall_args[0] - v.addr < type_size(v.type);
}

static bool is_current_thread(const struct mark *block_on)
{
	return strstr(block_on->name, "::current_thread::") != NULL;
}

/*
 * Whether the thread is in Handle::block_on() of a current_thread runtime, which parks the thread
 * (runtime/park.rs) and turns no driver. Runtime::block_on() runs the scheduler.
 */
static bool is_handle_only(const struct marks *marks, const struct tokio_runtime *r)
{
	bool parks = false;

	if (!r || r->info->workers_poll)
		return false;
	for (size_t i = 0; i < marks->n; i++) {
		if (marks->data[i].kind != MARK_BLOCK_ON || marks->data[i].of != &tokio_table)
			continue;
		if (is_current_thread(&marks->data[i]))
			return false;
		parks = true;
	}
	return parks;
}

static void tokio_thread_describe(struct collector *c, struct tokio_thread *tt,
                                  struct thread_info *info, const struct thread_stack *s,
                                  struct tokio_runtime *r)
{
	struct marks marks;
	const struct mark *block_on;

	stack_find_marks(c, s, &marks);
	block_on = stack_innermost(&marks, MARK_BLOCK_ON, &tokio_table);
	info->runtime = r ? (int)r->info->index : -1;
	struct task *task = running_task(c, tt->task_id, info->runtime);
	if (task) {
		task->thread = info->number;
		info->task = task->id;
		number_poll(c, tt, task, info);
	}
	if (tt->worker.type) {
		describe_worker(c, tt, info, task);
	} else if (waits_for_job(c, s->thread, r)) {
		info->role = THREAD_BLOCKING;
		info->state = "idle";
		info->pooled = true;
	} else if (stack_innermost(&marks, MARK_BLOCKING_RUN, &tokio_table)) {
		const char *job = blocking_job(c, &marks);

		info->role = THREAD_BLOCKING;
		info->job = job ? inspector_clean_name(c->a, name_function(c->a, job)) : NULL;
		if (job && tt->task_id)
			info->task = arena_printf(c->a, "%" PRIu64, tt->task_id);
		info->state = info->task        ? arena_printf(c->a, "running task %s", info->task)
		              : job || block_on ? "running"
		                                : "idle";
	} else if (block_on) {
		info->role = THREAD_BLOCK_ON;
		info->handle_only = is_handle_only(&marks, r);
		info->state = task ? arena_printf(c->a, "running task %s", task->id)
		              : stack_is_parked(s, block_on) ? "parked"
		                                             : "running";
	}
	/*
	 * While the root is polled, its stored state is that of its last await: see finish_root()
	 * in threads.c.
	 */
	if (block_on)
		stack_note_outer_roots(c, info, s, &marks, block_on);
	info->waits_for_root = block_on && is_parked_for_root(s, &marks, block_on);
	/* The root is suspended in both cases. */
	if (info->waits_for_root || (block_on && polls_task_within(&marks, block_on)))
		info->root = root_find(c, s, &marks, block_on,
		                       tokio_block_on_waker(c, tt, s->thread, block_on),
		                       r ? r->info->index : NO_RUNTIME);
}

/*
 * Fills role and root from the stack alone, for a program without tokio's types: the generics of
 * functions name the future that the thread blocks on.
 */
static void describe_by_stack(struct collector *c, struct thread_info *info,
                              const struct thread_stack *s)
{
	const struct mark *block_on;
	struct marks marks;
	const char *name;

	stack_find_marks(c, s, &marks);
	block_on = stack_innermost(&marks, MARK_BLOCK_ON, &tokio_table);
	if (stack_innermost(&marks, MARK_WORKER_RUN, &tokio_table))
		info->role = THREAD_WORKER;
	else if (stack_innermost(&marks, MARK_BLOCKING_RUN, &tokio_table))
		info->role = THREAD_BLOCKING;
	else if (block_on)
		info->role = THREAD_BLOCK_ON;
	else
		return;
	info->state = "state unknown";
	const char *job = blocking_job(c, &marks);
	if (job && info->role == THREAD_BLOCKING) {
		info->job = inspector_clean_name(c->a, name_function(c->a, job));
		info->state = "running";
	}
	name = block_on ? stack_mark_future_name(&c->scratch, block_on) : NULL;
	if (name) {
		info->root = future_by_name(c, name);
		info->root->problem = "only its name is known: the program has no type information";
	}
}

void tokio_describe_threads_by_stack(struct collector *c)
{
	for (size_t i = 0; i < c->out->nthreads; i++)
		describe_by_stack(c, &c->out->threads[i], &c->stacks[i]);
	if (c->want & WANT_TASKS)
		tokio_list_jobs(c);
}

void tokio_describe_threads(struct collector *c)
{
	const struct tokio_walk *w = tokio_walk(c);

	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct tokio_thread *tt = &w->threads[i];

		c->decoding.thread = c->out->threads[i].number;
		if (tt->tokio)
			tokio_thread_describe(c, tt, &c->out->threads[i], &c->stacks[i],
			                      tokio_thread_runtime_of(w, tt->shared));
	}
	c->decoding.thread = 0;
}

void tokio_link_running(struct collector *c)
{
	const struct tokio_thread *threads = tokio_walk(c)->threads;

	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_info *info = &c->out->threads[i];
		struct task *task = threads[i].tokio && !info->task
		                            ? running_task(c, threads[i].task_id, info->runtime)
		                            : NULL;

		if (!task || task->thread)
			continue;
		task->thread = info->number;
		info->task = task->id;
		number_poll(c, &threads[i], task, info);
		info->state = arena_printf(c->a, "running task %s", task->id);
	}
}

/* ---- the data of the wakers of threads in block_on ---- */

/* runtime/park.rs: the waker of a parked thread is the Arc in its thread-local ParkThread. */
static uint64_t parker_data(struct collector *c, const struct tokio *k, const struct thread *th)
{
	struct value parker = { k->parker.type, 0 }, inner, data = { 0 };
	bool found = false;
	struct error *err = NULL;

	if (!parker.type)
		return 0;
	err = target_tls_address(c->in->target, th, k->dm->module, k->parker.offset, &parker.addr,
	                         &found);
	if (!err && found)
		err = inspector_eval(c->in, parker, "inner", &inner, &found);
	if (!err && found)
		err = value_shared(c->in->target, inner, &data);
	error_free(err);
	return err ? 0 : data.addr;
}

/* scheduler/current_thread: the waker of its block_on is the Arc<Handle>. */
static uint64_t handle_data(const struct tokio_thread *tt)
{
	return tt->handle.addr;
}

uint64_t tokio_block_on_waker(struct collector *c, const struct tokio_thread *tt,
                              const struct thread *th, const struct mark *block_on)
{
	return is_current_thread(block_on) ? handle_data(tt) : parker_data(c, tt->tokio, th);
}

void tokio_note_wakers(struct collector *c, const struct tokio_thread *threads)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct marks marks;

		if (!threads[i].tokio)
			continue;
		stack_find_marks(c, &c->stacks[i], &marks);
		for (size_t j = 0; j < marks.n; j++) {
			if (marks.data[j].kind != MARK_BLOCK_ON || marks.data[j].of != &tokio_table)
				continue;
			uint64_t data = tokio_block_on_waker(c, &threads[i], c->stacks[i].thread,
			                                     &marks.data[j]);
			if (data)
				map_put(&c->wakers, data, &c->out->threads[i]);
		}
	}
}
