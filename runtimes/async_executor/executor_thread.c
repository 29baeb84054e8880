/* Finds the task that a thread runs, and the executor that it drives. */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/frame/variables.h"
#include "runtimes/async_executor/executor.h"

enum { MAX_RUNNING = 64, MAX_FRAME = 1 << 20 };

/* Tasks that may be the one which a run function has as its argument. */
struct executor_thread_running {
	struct collector *c;
	const struct mark *mark;
	struct task *found;
	bool several;
};

static void executor_thread_note(struct executor_thread_running *r, uint64_t header)
{
	struct task *task = map_get(&r->c->tasks, header);
	const struct async_executor_plan *plan =
		task ? map_get(&async_executor_walk(r->c)->plans, (uintptr_t)task) : NULL;

	if (!plan || task->state != TASK_RUNNING || task->thread ||
	    (r->mark->function && plan->run != r->mark->function->low))
		return;
	r->several |= r->found && r->found != task;
	r->found = task;
}

static void executor_thread_note_variable(const struct variable *v, void *arg)
{
	struct executor_thread_running *r = arg;
	uint64_t word = v->value;
	struct error *err = NULL;

	if (type_kind(v->type) != TYPE_POINTER)
		return;
	if (v->in_memory)
		err = target_read_uint(r->c->in->target, v->addr, 8, &word);
	if (!err)
		executor_thread_note(r, word);
	error_free(err);
}

static uint64_t executor_thread_frame_end(const struct thread_stack *s, size_t frame)
{
	return frame + 1 < s->stack.nframes ? s->stack.frames[frame + 1].sp : 0;
}

/* The words that the frame of the function saved, and the registers that it keeps. */
static void look_in_frame(struct executor_thread_running *r, const struct thread_stack *s)
{
	const struct frame *frame = &s->stack.frames[r->mark->frame];
	uint64_t end = executor_thread_frame_end(s, r->mark->frame), word;

	for (size_t i = 0; i < r->c->in->target->arch->nregs; i++) {
		if (frame->known_regs & UINT64_C(1) << i)
			executor_thread_note(r, frame->regs[i]);
	}
	if (!frame->has_sp || end < frame->sp || end - frame->sp > MAX_FRAME)
		return;
	for (uint64_t at = frame->sp; at + 8 <= end; at += 8) {
		struct error *err = target_read_uint(r->c->in->target, at, 8, &word);

		if (!err)
			executor_thread_note(r, word);
		error_free(err);
	}
}

/* The task by the run function's argument; NULL: it is none that is listed, or has no place. */
static struct task *executor_thread_find_by_variables(struct collector *c,
                                                      const struct async_executor_poll *p)
{
	struct executor_thread_running r = { .c = c, .mark = &p->mark };

	variables_in_frame(c->in->di, &p->stack->stack.frames[p->mark.frame],
	                   executor_thread_frame_end(p->stack, p->mark.frame),
	                   executor_thread_note_variable, &r);
	return r.several ? NULL : r.found;
}

static struct task *find_by_frame(struct collector *c, const struct async_executor_poll *p)
{
	struct executor_thread_running r = { .c = c, .mark = &p->mark };

	look_in_frame(&r, p->stack);
	return r.several ? NULL : r.found;
}

/* ---- the tasks of all threads ---- */

static bool may_have(const struct async_executor_poll *p, uint64_t run)
{
	return !p->task && (!p->mark.function || p->mark.function->low == run);
}

struct task *async_executor_only_task(const struct async_executor_poll *polls, size_t npolls,
                                      const struct async_executor_poll *of,
                                      const struct async_executor_running *running, size_t nrunning)
{
	const struct async_executor_running *found = NULL;

	for (size_t i = 0; i < nrunning; i++) {
		if (running[i].task->thread || !may_have(of, running[i].run))
			continue;
		if (found)
			return NULL;
		found = &running[i];
	}
	for (size_t i = 0; found && i < npolls; i++) {
		if (&polls[i] != of && may_have(&polls[i], found->run))
			return NULL;
	}
	return found ? found->task : NULL;
}

static void executor_thread_set_task(struct async_executor_poll *p, struct task *task)
{
	p->task = task;
	if (task)
		task->thread = p->info->number;
}

bool async_executor_is_sole(const struct async_executor_poll *polls, size_t npolls,
                            const struct async_executor_poll *of)
{
	for (size_t i = 0; i < npolls; i++) {
		if (&polls[i] != of && polls[i].found == of->found)
			return false;
	}
	return of->found != NULL;
}

static void find_by_elimination(struct collector *c, struct async_executor_poll *polls,
                                size_t npolls)
{
	struct async_executor_running *running =
		NEW_ARRAY(&c->scratch, struct async_executor_running, c->listed.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < c->listed.n; i++) {
		struct task *task = c->listed.data[i];
		const struct async_executor_plan *plan =
			map_get(&async_executor_walk(c)->plans, (uintptr_t)task);

		if (plan && task->state == TASK_RUNNING)
			running[n++] = (struct async_executor_running){ task, plan->run };
	}
	for (size_t i = 0; i < npolls; i++) {
		/* With c->few, a thread that polls nothing may have run a task of another one. */
		if (!polls[i].task && (polls[i].polls || !c->few))
			executor_thread_set_task(
				&polls[i],
				async_executor_only_task(polls, npolls, &polls[i], running, n));
	}
}

static void add_polls(struct collector *c, size_t nth, struct async_executor_polls *polls)
{
	const struct thread_stack *s = &c->stacks[nth];
	struct marks marks;

	stack_find_marks(c, s, &marks);
	for (size_t i = 0; i < marks.n; i++) {
		if (marks.data[i].of == async_executor_runtime(c->in))
			*vec_push(&polls->list) = (struct async_executor_poll){
				.info = &c->out->threads[nth],
				.stack = s,
				.mark = marks.data[i],
				.polls = stack_is_polling(s, &marks, i),
			};
	}
}

typedef struct task *finder(struct collector *c, const struct async_executor_poll *p);

/* Sets the tasks that one finder finds for the threads that poll a coroutine, or for the others. */
static void find_by(struct collector *c, struct async_executor_polls *polls, bool polling,
                    finder *find)
{
	for (size_t i = 0; i < polls->list.n; i++) {
		struct async_executor_poll *p = &polls->list.data[i];

		c->decoding.thread = p->info->number;
		p->found = !p->task && p->polls == polling ? find(c, p) : NULL;
	}
	for (size_t i = 0; i < polls->list.n; i++) {
		struct async_executor_poll *p = &polls->list.data[i];

		if (async_executor_is_sole(polls->list.data, polls->list.n, p))
			executor_thread_set_task(p, p->found);
	}
}

/*
 * Finds the task that each run function runs. Certain results come first, so that no thread is
 * taken to run the task of another one.
 */
static void find_tasks(struct collector *c, struct async_executor_polls *polls)
{
	static finder *const finders[] = { executor_thread_find_by_variables, find_by_frame };
	enum { NFINDERS = sizeof(finders) / sizeof(*finders) };

	for (size_t i = 0; i < c->out->nthreads; i++)
		add_polls(c, i, polls);
	for (size_t f = 0; f < NFINDERS; f++)
		find_by(c, polls, true, finders[f]);
	for (size_t f = 0; f < NFINDERS; f++)
		find_by(c, polls, false, finders[f]);
	c->decoding.thread = 0;
	find_by_elimination(c, polls->list.data, polls->list.n);
}

/* A future that a worker drives: the beginning of its type, and what else is in that. */
struct executor_thread_loop {
	const char *begins, *has;
};

/*
 * pending() of core, or of futures-lite 1, beside the tasks, and loops of threads of
 * async-global-executor (2.4, src/threading.rs), bevy_tasks (0.19, src/task_pool.rs) and zbus
 * (5.19, src/connection/builder.rs).
 */
static const struct executor_thread_loop loops[] = {
	{ "async_executor::", "core::future::pending::Pending<" },
	{ "async_executor::", "futures_lite::future::Pending<" },
	{ "futures_lite::future::Or<async_executor::",
	  "async_global_executor::threading::thread_main_loop::" },
	{ "async_executor::", "bevy_tasks::task_pool::" },
	{ "zbus::connection::builder::start_internal_executor::", "" },
};

/* Does the block_on only run executors? */
static bool only_runs(const struct mark *block_on)
{
	const struct type *t = stack_mark_future_type(block_on);
	const char *name = t ? type_name(t) : "";

	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		if (str_begins(name, loops[i].begins) && strstr(name, loops[i].has))
			return true;
	}
	return false;
}

/* Describes what a thread does that has these polls, the outermost first. */
static void executor_thread_describe(struct collector *c, struct thread_info *info,
                                     struct thread_stack *s,
                                     const struct async_executor_poll *polls, size_t npolls)
{
	struct task *task = NULL;
	struct marks marks;

	for (size_t i = 0; i < npolls; i++)
		task = polls[i].task ? polls[i].task : task;
	stack_find_marks(c, s, &marks);
	const struct mark *block_on = stack_innermost(&marks, MARK_BLOCK_ON, NULL);
	bool worker = block_on && only_runs(block_on);
	s->only_executors = worker;
	if (task)
		info->task = task->id;
	/* A worker or job of another runtime may have called it, and keeps its role. */
	if (info->role != THREAD_OTHER || (!task && !worker))
		return;
	info->role = block_on && !worker ? THREAD_BLOCK_ON : THREAD_WORKER;
	info->runtime = task ? (int)task->runtime : -1;
	/* A thread between two tasks looks for one, or goes to sleep. */
	bool busy = block_on && stack_is_polling(s, &marks, (size_t)(block_on - marks.data));
	info->state = npolls || busy ? "running" : "parked";
	if (task)
		info->state = arena_printf(c->a, "running task %s", task->id);
}

void async_executor_describe_threads(struct collector *c)
{
	struct async_executor_polls polls = { 0 };
	size_t first = 0, end;

	find_tasks(c, &polls);
	for (size_t i = 0; i < c->out->nthreads; i++, first = end) {
		struct thread_info *info = &c->out->threads[i];

		for (end = first; end < polls.list.n && polls.list.data[end].info == info; end++)
			;
		executor_thread_describe(c, info, &c->stacks[i], polls.list.data + first,
		                         end - first);
	}
	vec_free(&polls.list);
}

/* The first future in a tree that runs an executor, known or not; NULL: none. */
static struct future *executor_thread_find_runner(struct collector *c, struct future *f, bool known)
{
	struct future *found = NULL;

	if (f->wait && strcmp(f->wait->kind, "executor") == 0)
		return !known || async_executor_of_state(c, f->wait->object) ? f : NULL;
	for (size_t i = 0; i < f->nchildren && !found; i++) {
		if (f->children[i]->branch == BRANCH_POLLED)
			found = executor_thread_find_runner(c, f->children[i], known);
	}
	return found;
}

/* The executor that a thread runs; NULL: none that is known. */
static const struct executor *executor_thread_find_executor(struct collector *c,
                                                            struct thread_info *info)
{
	struct future *runner =
		info->root ? executor_thread_find_runner(c, info->root, true) : NULL;
	const struct executor *e = runner ? async_executor_of_state(c, runner->wait->object) : NULL;

	if (!runner && info->root)
		runner = executor_thread_find_runner(c, info->root, false);
	if (!runner && info->task && info->runtime >= 0)
		return async_executor_at(c, (unsigned)info->runtime);
	/* The futures around the runner are the executor's own. */
	if (runner && info->role == THREAD_WORKER)
		info->root = runner;
	if (e && info->runtime < 0)
		info->runtime = (int)e->info->index;
	return e;
}

/*
 * Is it a worker of an executor that is not known? In an optimised build its future may have no
 * place, and a layout file has no variables of native frames.
 */
static bool is_uncounted(struct collector *c, size_t thread)
{
	const struct thread_info *info = &c->out->threads[thread];

	return c->stacks[thread].only_executors && info->role == THREAD_WORKER &&
	       info->runtime < 0 &&
	       !(info->root && executor_thread_find_runner(c, info->root, false));
}

static void note_uncounted(struct collector *c)
{
	unsigned n = 0, first = 0;

	for (size_t i = 0; i < c->out->nthreads; i++) {
		if (is_uncounted(c, i) && n++ == 0)
			first = c->out->threads[i].number;
	}
	if (n == 1)
		snapshot_note(c->out,
		              "thread %u is a worker of an unknown executor: no runtime counts it",
		              first);
	else if (n)
		snapshot_note(c->out,
		              "%u threads, thread %u first, are workers of unknown executors: no "
		              "runtime counts them",
		              n, first);
}

void async_executor_follow(struct collector *c)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_info *info = &c->out->threads[i];
		const struct executor *e = NULL;

		if (info->role == THREAD_WORKER || info->role == THREAD_BLOCK_ON)
			e = executor_thread_find_executor(c, info);
		if (!e)
			continue;
		e->info->workers++;
		e->info->found_by = NULL; /* it is for those that no thread runs */
	}
	note_uncounted(c);
}
