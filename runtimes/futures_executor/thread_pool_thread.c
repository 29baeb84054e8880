/* Finds the pool that a thread works for, and the task that it polls. */
#include <inttypes.h>

#include "debugger/base/str.h"
#include "runtimes/futures_executor/future_object.h"
#include "runtimes/futures_executor/thread_pool.h"
#include "runtimes/thread/stack_search.h"

/* ---- the pool ---- */

struct thread_pool_thread_states {
	struct collector *c;
	const struct thread_pool_copy *copy;
	uint64_t found;
	bool several;
};

static void thread_pool_thread_note_state(struct thread_pool_thread_states *s, uint64_t addr)
{
	if (addr == s->found || !thread_pool_is_state(s->c->in->target, s->copy, addr))
		return;
	s->several |= s->found != 0;
	s->found = addr;
}

/* A reference to the state, or an Arc of it. */
static void thread_pool_thread_note_word(uint64_t word, uint64_t addr, void *arg)
{
	struct thread_pool_thread_states *s = arg;

	(void)addr;
	thread_pool_thread_note_state(s, word);
	thread_pool_thread_note_state(s, word + s->copy->state_data);
}

/*
 * The state that the loop refers to: by its variables, else by what its frame and that of its
 * caller have. 0: unknown.
 */
static uint64_t thread_pool_thread_find_state(struct collector *c, const struct thread_stack *s,
                                              const struct mark *m,
                                              const struct thread_pool_copy *copy)
{
	struct stack_places p = { .type = copy->state };
	struct thread_pool_thread_states states = { .c = c, .copy = copy };

	for (size_t i = m->frame; i <= m->frame + 1 && i < s->stack.nframes; i++)
		stack_search_places(c, s, i, &p);
	for (size_t i = 0; i < p.n; i++)
		thread_pool_thread_note_state(&states, p.addrs[i]);
	for (size_t i = m->frame; !states.found && i <= m->frame + 1 && i < s->stack.nframes; i++)
		stack_search_words(c, s, i, thread_pool_thread_note_word, &states);
	return states.several ? 0 : states.found;
}

/* A layout file has no arguments of these functions. */
static const struct type *state_type(const struct mark *m)
{
	const struct function *f = m->function;
	const struct type *t = f ? stack_search_pointee(function_first_argument(f)) : NULL;

	t = t || !f ? t : lookup_type(f->dm, thread_pool_state_path, f->die);
	return t && type_is(t, thread_pool_state_path) ? t : NULL;
}

bool thread_pool_find(struct collector *c, size_t thread, struct thread_pool_thread *ret,
                      uint64_t *state, bool *fresh)
{
	const struct thread_stack *s = &c->stacks[thread];
	const struct type *t;
	struct marks marks;

	*state = 0;
	stack_find_marks(c, s, &marks);
	const struct mark *m = stack_innermost(&marks, MARK_WORKER_RUN, &thread_pool_table);
	if (!m)
		return false;
	c->stacks[thread].unlisted = &thread_pool_table;
	t = state_type(m);
	if (!t)
		return false;
	c->stacks[thread].unlisted = NULL;
	ret->copy = thread_pool_copy_of(c->in, t, fresh);
	ret->polls = stack_innermost(&marks, MARK_TASK_POLL, &thread_pool_table) != NULL;
	*state = thread_pool_thread_find_state(c, s, m, ret->copy);
	return true;
}

/* ---- the task that is polled ---- */

/* Handles of tasks that a frame may poll. */
struct handles {
	struct collector *c;
	const struct thread_pool_thread *t;
	uint64_t found;
	bool several;
};

static bool is_polled(struct collector *c, const struct thread_pool_thread *t, uint64_t addr)
{
	struct thread_pool_handle h;

	if (!addr || map_has(&c->tasks, addr))
		return false;
	struct error *err = thread_pool_read_handle(c, t->copy, addr, &h);
	bool ok = !err && (h.status == THREAD_POOL_POLLING || h.status == THREAD_POOL_REPOLL) &&
	          h.pool == t->pool->state;
	error_free(err);
	return ok;
}

static void thread_pool_thread_note_handle(struct handles *h, uint64_t addr)
{
	if (addr == h->found || !is_polled(h->c, h->t, addr))
		return;
	h->several |= h->found != 0;
	h->found = addr;
}

/* A waker: the data is beside the address of its vtable. */
static void thread_pool_thread_note_waker(uint64_t word, uint64_t addr, void *arg)
{
	struct handles *h = arg;
	struct target *target = h->c->in->target;
	uint64_t data;

	for (size_t i = 0; addr && i < h->t->copy->nvtables; i++) {
		if (word != h->t->copy->vtables[i])
			continue;
		for (int side = -8; side <= 8; side += 16) {
			struct error *err =
				target_read_uint(target, addr + (uint64_t)side, 8, &data);

			if (!err)
				thread_pool_thread_note_handle(h, data);
			error_free(err);
		}
	}
}

/* The handle of the task that the thread polls; 0: unknown. */
static uint64_t find_handle(struct collector *c, const struct thread_stack *s,
                            const struct thread_pool_thread *t, const struct mark *m)
{
	struct handles h = { .c = c, .t = t };
	struct stack_wakers w = { .c = c };

	stack_search_wakers(s, m->frame, &w);
	for (size_t i = 0; i < w.n; i++)
		thread_pool_thread_note_handle(&h, w.data[i]);
	if (!h.found)
		stack_search_words(c, s, m->frame, thread_pool_thread_note_waker, &h);
	return h.several ? 0 : h.found;
}

/* The vtable of the future that a frame polls. */
struct vtables {
	struct collector *c;
	const struct thread_stack *s;
	const struct mark *m;
	uint64_t low, high; /* of constants */
	uint64_t found;
	bool several;
};

/* Is it a function that one of the frames inward of the mark is in? */
static bool is_called(const struct vtables *v, uint64_t function)
{
	for (size_t i = 0; i < v->m->frame; i++) {
		size_t n = v->s->nfunctions[i];
		const struct function *f = n ? v->s->functions[i][n - 1].function : NULL;

		if (f && f->low == function)
			return true;
	}
	return false;
}

static void note_vtable(uint64_t word, uint64_t addr, void *arg)
{
	struct vtables *v = arg;
	uint64_t poll;
	bool exact;

	(void)addr;
	if (word < v->low || word >= v->high || word == v->found)
		return;
	struct error *err =
		target_read_uint(v->c->in->target, word + 8 * FUTURE_OBJECT_POLL, 8, &poll);
	bool ok = !err && is_called(v, poll) &&
	          collector_vtable(v->c, word, FUTURE_OBJECT_POLL, &exact) && exact;

	error_free(err);
	if (!ok)
		return;
	v->several |= v->found != 0;
	v->found = word;
}

/* 0: unknown. */
static uint64_t thread_pool_thread_find_vtable(struct collector *c, const struct thread_stack *s,
                                               const struct thread_pool_copy *copy,
                                               const struct mark *m)
{
	struct vtables v = { .c = c, .s = s, .m = m };

	debuginfo_constants(copy->dm, &v.low, &v.high);
	v.low += copy->dm->module->bias;
	v.high += copy->dm->module->bias;
	stack_search_words(c, s, m->frame, note_vtable, &v);
	return v.several ? 0 : v.found;
}

static void thread_pool_thread_list_running(struct collector *c, struct thread_pool_thread *t,
                                            size_t thread)
{
	const struct thread_stack *s = &c->stacks[thread];
	struct marks marks;

	stack_find_marks(c, s, &marks);
	const struct mark *m = stack_innermost(&marks, MARK_TASK_POLL, &thread_pool_table);
	uint64_t handle = m ? find_handle(c, s, t, m) : 0;
	if (!handle) {
		snapshot_incomplete(c->out,
		                    "the debug info does not say which task thread %u polls",
		                    c->out->threads[thread].number);
		return;
	}
	t->running = thread_pool_add_task(c, t->pool, handle, (struct value){ 0 }, TASK_RUNNING);
	t->running->thread = c->out->threads[thread].number;
	thread_pool_task_of(c, t->running)->vtable =
		thread_pool_thread_find_vtable(c, s, t->copy, m);
}

void thread_pool_list_running(struct collector *c)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		struct thread_pool_thread *t = &thread_pool_walk(c)->threads[i];

		if (t->pool && t->polls)
			thread_pool_thread_list_running(c, t, i);
	}
}

/* ---- description ---- */

void thread_pool_describe_threads(struct collector *c)
{
	for (size_t i = 0; i < c->out->nthreads; i++) {
		const struct thread_pool_thread *t = &thread_pool_walk(c)->threads[i];
		struct thread_info *info = &c->out->threads[i];

		if (!t->pool)
			continue;
		if (t->running && !info->task)
			info->task = t->running->id;
		if (info->role != THREAD_OTHER)
			continue;
		info->role = THREAD_WORKER;
		info->runtime = (int)t->pool->info->index;
		info->state = t->running ? arena_printf(c->a, "running task %s", t->running->id)
		              : t->polls ? "running"
		                         : "parked";
	}
}
