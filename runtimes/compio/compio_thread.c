/* Finds the tasks that threads poll, and what threads do inside a runtime. */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/compio/compio.h"
#include "runtimes/thread/root.h"

enum { MAX_STACK = 1 << 18, WORD = 8 };

/* ---- the task that is polled ---- */

/* Words that may be the address of a header. */
struct compio_thread_search {
	struct collector *c;
	struct compio_copy *copy;
	uint64_t id;
	struct compio_header *ret;
	bool found;
};

/* A word that leads to a header with the id of the task is the address of the task. */
static void compio_thread_note(struct compio_thread_search *s, uint64_t word)
{
	struct compio_header h;

	if (s->found || !word || word % WORD)
		return;
	struct error *err = compio_read_header(s->c->in, s->copy, word, s->id, &h);
	if (!err) {
		*s->ret = h;
		s->found = true;
	}
	error_free(err);
}

/* The outermost frame of the thread's loop: none farther outward refers to a task that it polls. */
static const struct frame *compio_thread_outermost(struct collector *c,
                                                   const struct thread_stack *s)
{
	struct marks marks;

	stack_find_marks(c, s, &marks);
	for (size_t i = 0; i < marks.n; i++) {
		if (marks.data[i].of == &compio_table)
			return &s->stack.frames[marks.data[i].frame];
	}
	return s->stack.nframes ? &s->stack.frames[s->stack.nframes - 1] : NULL;
}

struct error *compio_find_running(struct collector *c, const struct thread_stack *s,
                                  struct compio_copy *copy, uint64_t id, struct compio_header *ret,
                                  bool *found)
{
	const struct frame *last = compio_thread_outermost(c, s), *first = s->stack.frames;
	struct compio_thread_search search = { .c = c, .copy = copy, .id = id, .ret = ret };
	uint64_t word;

	*found = false;
	for (const struct frame *f = first; last && f <= last && !search.found; f++) {
		for (size_t i = 0; i < c->in->target->arch->nregs; i++) {
			if (f->known_regs & UINT64_C(1) << i)
				compio_thread_note(&search, f->regs[i]);
		}
	}
	if (!last || !last->has_sp || !first->has_sp || last->sp < first->sp)
		return NULL;
	uint64_t end = last->sp - first->sp > MAX_STACK ? first->sp + MAX_STACK : last->sp;
	for (uint64_t at = first->sp; at < end && !search.found; at += WORD) {
		TRY(target_read_uint(c->in->target, at, WORD, &word));
		compio_thread_note(&search, word);
	}
	*found = search.found;
	return NULL;
}

/* ---- threads ---- */

void compio_describe_threads(struct collector *c)
{
	struct compio_walk *w = compio_walk(c);

	for (size_t i = 0; w->threads && i < c->out->nthreads; i++) {
		const struct compio_thread *t = &w->threads[i];

		if (t->running && !c->out->threads[i].task)
			c->out->threads[i].task = t->running->id;
	}
}

static const struct mark *innermost_block_on(const struct marks *marks)
{
	return stack_innermost(marks, MARK_BLOCK_ON, &compio_table);
}

/* A worker or job of another runtime may have entered it, and keeps its role. */
static void compio_thread_describe(struct collector *c, const struct compio_thread *t,
                                   struct thread_info *info, const struct thread_stack *s)
{
	struct marks marks;

	stack_find_marks(c, s, &marks);
	const struct mark *block_on = innermost_block_on(&marks);
	bool polls = block_on && stack_is_polling(s, &marks, (size_t)(block_on - marks.data));
	bool parked = block_on && stack_is_parked(s, block_on) && !info->task;

	if (info->role == THREAD_OTHER) {
		info->role = block_on && !t->copy->spawns_root ? THREAD_BLOCK_ON : THREAD_WORKER;
		info->state = parked ? "parked" : "running";
		if (info->task)
			info->state = arena_printf(c->a, "running task %s", info->task);
	}
	if (t->copy->spawns_root && block_on == marks.data && info->role == THREAD_BLOCK_ON)
		info->role = THREAD_WORKER;
	if (info->runtime < 0)
		info->runtime = (int)t->info->index;
	if (!block_on || info->root)
		return;
	stack_note_outer_roots(c, info, s, &marks, block_on);
	/* The future that is being polled is found by its frames. */
	if (!polls && !t->copy->spawns_root)
		info->root = root_find(c, s, &marks, block_on, t->waker, t->info->index);
}

void compio_follow(struct collector *c)
{
	struct compio_walk *w = compio_walk(c);

	for (size_t i = 0; w->threads && i < c->out->nthreads; i++) {
		if (!w->threads[i].info)
			continue;
		c->decoding.thread = c->out->threads[i].number;
		compio_thread_describe(c, &w->threads[i], &c->out->threads[i], &c->stacks[i]);
	}
	c->decoding.thread = 0;
}
