/* Finds the task that a thread runs, and the executor that it drives. */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/frame/variables.h"
#include "runtimes/async_executor/executor.h"

enum { MAX_RUNNING = 64, MAX_FRAME = 1 << 20 };

/* Tasks that may be the one which a run function has as its argument. */
struct running {
	struct collector *c;
	const struct mark *mark;
	struct task *found;
	bool several;
};

static void note(struct running *r, uint64_t header)
{
	struct task *task = map_get(&r->c->tasks, header);
	const struct executor_plan *plan =
		task ? map_get(&executor_walk(r->c)->plans, (uintptr_t)task) : NULL;

	if (!plan || task->state != TASK_RUNNING || task->thread ||
	    (r->mark->function && plan->run != r->mark->function->low))
		return;
	r->several |= r->found && r->found != task;
	r->found = task;
}

static void note_variable(const struct variable *v, void *arg)
{
	struct running *r = arg;
	uint64_t word = v->value;
	struct error *err = NULL;

	if (type_kind(v->type) != TYPE_POINTER)
		return;
	if (v->in_memory)
		err = target_read_uint(r->c->in->target, v->addr, 8, &word);
	if (!err)
		note(r, word);
	error_free(err);
}

static uint64_t frame_end(const struct thread_stack *s, size_t frame)
{
	return frame + 1 < s->stack.nframes ? s->stack.frames[frame + 1].sp : 0;
}

/* The words that the frame of the function saved, and the registers that it keeps. */
static void look_in_frame(struct running *r, const struct thread_stack *s)
{
	const struct frame *frame = &s->stack.frames[r->mark->frame];
	uint64_t end = frame_end(s, r->mark->frame), word;

	for (size_t i = 0; i < r->c->in->target->arch->nregs; i++) {
		if (frame->known_regs & UINT64_C(1) << i)
			note(r, frame->regs[i]);
	}
	if (!frame->has_sp || end < frame->sp || end - frame->sp > MAX_FRAME)
		return;
	for (uint64_t at = frame->sp; at + 8 <= end; at += 8) {
		struct error *err = target_read_uint(r->c->in->target, at, 8, &word);

		if (!err)
			note(r, word);
		error_free(err);
	}
}

/* The task by the run function's argument; NULL: it is none that is listed, or has no place. */
static struct task *find_by_variables(struct collector *c, const struct executor_poll *p)
{
	struct running r = { .c = c, .mark = &p->mark };

	variables_in_frame(c->in->di, &p->stack->stack.frames[p->mark.frame],
	                   frame_end(p->stack, p->mark.frame), note_variable, &r);
	return r.several ? NULL : r.found;
}

static struct task *find_by_frame(struct collector *c, const struct executor_poll *p)
{
	struct running r = { .c = c, .mark = &p->mark };

	look_in_frame(&r, p->stack);
	return r.several ? NULL : r.found;
}

/* ---- the tasks of all threads ---- */

static bool may_have(const struct executor_poll *p, uint64_t run)
{
	return !p->task && (!p->mark.function || p->mark.function->low == run);
}

struct task *executor_only_task(const struct executor_poll *polls, size_t npolls,
                                const struct executor_poll *of,
                                const struct executor_running *running, size_t nrunning)
{
	const struct executor_running *found = NULL;

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

static void set_task(struct executor_poll *p, struct task *task)
{
	p->task = task;
	if (task)
		task->thread = p->info->number;
}

bool executor_is_sole(const struct executor_poll *polls, size_t npolls,
                      const struct executor_poll *of)
{
	for (size_t i = 0; i < npolls; i++) {
		if (&polls[i] != of && polls[i].found == of->found)
			return false;
	}
	return of->found != NULL;
}

static void find_by_elimination(struct collector *c, struct executor_poll *polls, size_t npolls)
{
	struct executor_running *running =
		NEW_ARRAY(&c->scratch, struct executor_running, c->listed.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < c->listed.n; i++) {
		struct task *task = c->listed.data[i];
		const struct executor_plan *plan =
			map_get(&executor_walk(c)->plans, (uintptr_t)task);

		if (plan && task->state == TASK_RUNNING)
			running[n++] = (struct executor_running){ task, plan->run };
	}
	for (size_t i = 0; i < npolls; i++) {
		/* Of a few threads, one that polls nothing may have run a task of another one. */
		if (!polls[i].task && (polls[i].polls || !c->few))
			set_task(&polls[i],
			         executor_only_task(polls, npolls, &polls[i], running, n));
	}
}

static void add_polls(struct collector *c, size_t nth, struct executor_polls *polls)
{
	const struct thread_stack *s = &c->stacks[nth];
	struct marks marks;

	stack_find_marks(c, s, &marks);
	for (size_t i = 0; i < marks.n; i++) {
		if (marks.data[i].of == executor_runtime(c->in))
			*vec_push(&polls->list) = (struct executor_poll){
				.info = &c->out->threads[nth],
				.stack = s,
				.mark = marks.data[i],
				.polls = stack_is_polling(s, &marks, i),
			};
	}
}

typedef struct task *finder(struct collector *c, const struct executor_poll *p);

/* What one way finds for the threads that poll a coroutine, or for the others. */
static void find_by(struct collector *c, struct executor_polls *polls, bool polling, finder *find)
{
	for (size_t i = 0; i < polls->list.n; i++) {
		struct executor_poll *p = &polls->list.data[i];

		c->decoding_thread = p->info->number;
		p->found = !p->task && p->polls == polling ? find(c, p) : NULL;
	}
	for (size_t i = 0; i < polls->list.n; i++) {
		struct executor_poll *p = &polls->list.data[i];

		if (executor_is_sole(polls->list.data, polls->list.n, p))
			set_task(p, p->found);
	}
}

/*
 * Which task each run function runs. What is certain comes first, so that no thread is taken to run
 * the task of another one.
 */
static void find_tasks(struct collector *c, struct executor_polls *polls)
{
	static finder *const finders[] = { find_by_variables, find_by_frame };
	enum { NFINDERS = sizeof(finders) / sizeof(*finders) };

	for (size_t i = 0; i < c->out->nthreads; i++)
		add_polls(c, i, polls);
	for (size_t f = 0; f < NFINDERS; f++)
		find_by(c, polls, true, finders[f]);
	for (size_t f = 0; f < NFINDERS; f++)
		find_by(c, polls, false, finders[f]);
	c->decoding_thread = 0;
	find_by_elimination(c, polls->list.data, polls->list.n);
}

/* A future that a worker drives: the beginning of its type, and what else is in that. */
struct loop {
	const char *begins, *has;
};

/*
 * pending() of core, or of futures-lite 1, beside the tasks, and loops of threads of
 * async-global-executor (2.4, src/threading.rs), bevy_tasks (0.19, src/task_pool.rs) and zbus
 * (5.19, src/connection/builder.rs).
 */
static const struct loop loops[] = {
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

/* What a thread does that has these polls, the outermost first. */
static void describe(struct collector *c, struct thread_info *info, struct thread_stack *s,
                     const struct executor_poll *polls, size_t npolls)
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
	/* A worker or job of another runtime may have called it: it stays that. */
	if (info->role != THREAD_OTHER || (!task && !worker))
		return;
	info->role = block_on && !worker ? THREAD_BLOCK_ON : THREAD_WORKER;
	info->runtime = task ? (int)task->runtime : -1;
	/* Between two tasks it looks for one, or goes to sleep. */
	bool busy = block_on && stack_is_polling(s, &marks, (size_t)(block_on - marks.data));
	info->state = npolls || busy ? "running" : "parked";
	if (task)
		info->state = arena_printf(c->a, "running task %s", task->id);
}

void executor_describe_threads(struct collector *c)
{
	struct executor_polls polls = { 0 };
	size_t first = 0, end;

	find_tasks(c, &polls);
	for (size_t i = 0; i < c->out->nthreads; i++, first = end) {
		struct thread_info *info = &c->out->threads[i];

		for (end = first; end < polls.list.n && polls.list.data[end].info == info; end++)
			;
		describe(c, info, &c->stacks[i], polls.list.data + first, end - first);
	}
	vec_free(&polls.list);
}

/* The first future in a tree that runs an executor, known or not; NULL: none. */
static struct future *find_runner(struct collector *c, struct future *f, bool known)
{
	struct future *found = NULL;

	if (f->wait && strcmp(f->wait->kind, "executor") == 0)
		return !known || executor_of_state(c, f->wait->object) ? f : NULL;
	for (size_t i = 0; i < f->nchildren && !found; i++) {
		if (f->children[i]->branch == BRANCH_POLLED)
			found = find_runner(c, f->children[i], known);
	}
	return found;
}

/* The executor that a thread runs; NULL: none that is known. */
static const struct executor *find_executor(struct collector *c, struct thread_info *info)
{
	struct future *runner = info->root ? find_runner(c, info->root, true) : NULL;
	const struct executor *e = runner ? executor_of_state(c, runner->wait->object) : NULL;

	if (!runner && info->root)
		runner = find_runner(c, info->root, false);
	if (!runner && info->task && info->runtime >= 0)
		return executor_at(c, (unsigned)info->runtime);
	/* What is around it is the executor's own. */
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
	       info->runtime < 0 && !(info->root && find_runner(c, info->root, false));
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
		              "thread %u is a worker of an executor that is unknown: no runtime "
		              "counts it",
		              first);
	else if (n)
		snapshot_note(c->out,
		              "%u threads, thread %u first, are workers of executors that are "
		              "unknown: no runtime counts them",
		              n, first);
}

void executor_follow(struct collector *c)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_info *info = &c->out->threads[i];
		const struct executor *e = NULL;

		if (info->role == THREAD_WORKER || info->role == THREAD_BLOCK_ON)
			e = find_executor(c, info);
		if (!e)
			continue;
		e->info->workers++;
		e->info->found_by = NULL; /* it is for those that no thread runs */
	}
	note_uncounted(c);
}
