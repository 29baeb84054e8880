#include "runtimes/thread/stack_search.h"

#include <string.h>

#include "dwarf/frame/variables.h"
#include "runtimes/common/waker.h"
#include "runtimes/thread/stack.h"

enum {
	MAX_HOPS = 4, /* wrappers of one pointer */
	MAX_FRAME = 1 << 20,
};

const struct type *stack_search_pointee(const struct type *t)
{
	for (int hop = 0; t && hop < MAX_HOPS && type_kind(t) != TYPE_POINTER; hop++) {
		const struct member *m = type_single_member(t);

		t = m ? m->type : NULL;
	}
	return t && type_kind(t) == TYPE_POINTER ? type_target(t) : NULL;
}

/* ---- places ---- */

struct stack_search_state {
	struct target *target;
	struct stack_places *places;
};

static void stack_search_add_place(struct stack_places *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->addrs[i] == addr)
			return;
	}
	if (addr && p->n < STACK_SEARCH_MAX)
		p->addrs[p->n++] = addr;
}

static void stack_search_note_place(const struct variable *v, void *arg)
{
	const struct stack_search_state *search = arg;
	struct stack_places *p = search->places;
	const struct type *t = p->values ? v->type : stack_search_pointee(v->type);
	uint64_t addr = v->value;

	if (!t || strcmp(type_name(t), type_name(p->type)) != 0)
		return;
	if (p->values) {
		if (v->in_memory)
			stack_search_add_place(p, v->addr);
		return;
	}
	struct error *err =
		v->in_memory ? target_read_uint(search->target, v->addr, 8, &addr) : NULL;
	if (!err)
		stack_search_add_place(p, addr);
	error_free(err);
}

void stack_search_places(struct collector *c, const struct thread_stack *s, size_t frame,
                         struct stack_places *p)
{
	struct stack_search_state search = { c->in->target, p };

	variables_in_frame(c->in->di, &s->stack.frames[frame], stack_frame_end(s, frame),
	                   stack_search_note_place, &search);
}

/* ---- wakers ---- */

static void note_context(const struct variable *v, void *arg)
{
	struct stack_wakers *w = arg;
	const struct type *target = stack_search_pointee(v->type);
	bool points = target && type_is(target, "core::task::wake::Context");
	struct value context = { points ? target : v->type, points ? v->value : v->addr };
	struct error *err = NULL;
	struct waker waker;

	if (!points && !(v->in_memory && type_is(v->type, "core::task::wake::Context")))
		return;
	if (points && v->in_memory)
		err = target_read_uint(w->c->in->target, v->addr, 8, &context.addr);
	if (!err)
		err = waker_read(w->c, context, &waker);
	if (!err && w->n < STACK_SEARCH_MAX)
		w->data[w->n++] = waker.data;
	error_free(err);
}

void stack_search_wakers(const struct thread_stack *s, size_t frame, struct stack_wakers *w)
{
	if (w->n < STACK_SEARCH_MAX)
		variables_in_frame(w->c->in->di, &s->stack.frames[frame], stack_frame_end(s, frame),
		                   note_context, w);
}

/* ---- words ---- */

void stack_search_words(struct collector *c, const struct thread_stack *s, size_t frame,
                        stack_word_fn *visit, void *arg)
{
	const struct frame *f = &s->stack.frames[frame];
	uint64_t end = stack_frame_end(s, frame), word;

	for (size_t i = 0; i < c->in->target->arch->nregs; i++) {
		if (f->known_regs & UINT64_C(1) << i)
			visit(f->regs[i], 0, arg);
	}
	if (!f->has_sp || end < f->sp || end - f->sp > MAX_FRAME)
		return;
	for (uint64_t at = f->sp; at + 8 <= end; at += 8) {
		struct error *err = target_read_uint(c->in->target, at, 8, &word);

		if (!err)
			visit(word, at, arg);
		error_free(err);
	}
}
