#include "runtimes/query/whatis.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/future/future.h"
#include "runtimes/model/wait_kind.h"
#include "runtimes/query/locals.h"
#include "runtimes/query/whatis_place.h"

enum { MAX_WAITERS = 8 };

/* The value of a future in memory; type NULL: its address is not known. */
static struct value whatis_place_of(const struct future *f)
{
	struct frame_place place;

	return locals_place_of(f, &place) ? place.v : (struct value){ 0 };
}

/* ---- futures and waits ---- */

/* The task or thread that a tree of futures belongs to. */
struct whatis_owner {
	const struct task *task;
	const struct thread_info *thread;
};

static const char *owner_text(struct whatis *a, const struct whatis_owner *o)
{
	return o->task ? arena_printf(a->c->a, "task %s", o->task->id)
	               : arena_printf(a->c->a, "the future that thread #%u blocks on",
	                              o->thread->number);
}

static void whatis_add_frames(struct whatis *a, const struct whatis_owner *o,
                              const struct future *f)
{
	struct value v = whatis_place_of(f);

	if (v.type && place_covers(a, v.addr, type_size(v.type))) {
		const struct future *child = NULL;

		for (size_t i = 0; i < f->nchildren && !child; i++) {
			struct value inner = whatis_place_of(f->children[i]);

			if (inner.type && place_covers(a, inner.addr, type_size(inner.type)))
				child = f->children[i];
		}
		struct place *p =
			place_add(a, "future", v.addr,
		                  arena_printf(a->c->a, "future frame #%u %s of %s%s", f->number,
		                               f->function, owner_text(a, o),
		                               place_inside(a, v, child ? 1 : PLACE_MAX_STEPS)));
		if (o->task)
			p->task = o->task->id;
		else
			p->thread = o->thread->number;
	}
	for (size_t i = 0; i < f->nchildren; i++)
		whatis_add_frames(a, o, f->children[i]);
}

/* Tasks and threads that wait for an object at exactly this address. */
struct waiters {
	const struct wait *first;
	const char *names[MAX_WAITERS];
	size_t n;
	const char *task; /* task or thread of the first wait */
	unsigned thread;
};

static void add_waiter(struct waiters *w, const struct wait *wait, const char *name,
                       const struct whatis_owner *o)
{
	if (!w->first) {
		w->first = wait;
		w->task = o->task ? o->task->id : NULL;
		w->thread = o->task ? 0 : o->thread->number;
	}
	for (size_t i = 0; i < w->n && i < MAX_WAITERS; i++) {
		if (strcmp(w->names[i], name) == 0)
			return;
	}
	if (w->n < MAX_WAITERS)
		w->names[w->n] = name;
	w->n++;
}

static void whatis_find_waiters(struct whatis *a, const struct whatis_owner *o,
                                const struct future *f, struct waiters *w)
{
	if (f->wait && f->wait->object == a->addr)
		add_waiter(w, f->wait, owner_text(a, o), o);
	for (size_t i = 0; i < f->nchildren; i++)
		whatis_find_waiters(a, o, f->children[i], w);
}

static void add_waits(struct whatis *a)
{
	struct snapshot *s = a->c->out;
	struct waiters w = { 0 };
	STR(text);

	for (size_t i = 0; i < s->ntasks; i++) {
		struct whatis_owner o = { .task = s->tasks[i] };

		if (o.task->root)
			whatis_find_waiters(a, &o, o.task->root, &w);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		struct whatis_owner o = { .thread = &s->threads[i] };

		if (o.thread->root)
			whatis_find_waiters(a, &o, o.thread->root, &w);
		if (o.thread->wait && o.thread->wait->object == a->addr)
			add_waiter(&w, o.thread->wait,
			           arena_printf(a->c->a, "thread #%u", o.thread->number), &o);
	}
	if (!w.first)
		return;
	str_append(&text, "waited for by ");
	for (size_t i = 0; i < w.n && i < MAX_WAITERS; i++)
		str_printf(&text, "%s%s", i ? ", " : "", w.names[i]);
	if (w.n > MAX_WAITERS)
		str_printf(&text, " and %zu others", w.n - MAX_WAITERS);
	str_printf(&text, ": %s", w.first->phrase ? w.first->phrase : w.first->kind);
	const char *object = wait_kind_of(w.first)->object;
	struct place *p = place_add(a, object ? object : "object", a->addr, str_text(&text));
	p->task = w.task;
	p->thread = w.thread;
}

void whatis_answer(struct collector *c)
{
	struct snapshot *s = c->out;
	struct whatis a = { .c = c };

	if (!c->question || !c->question->has_whatis)
		return;
	a.addr = c->question->whatis;
	place_memory(&a);
	for (const struct runtime *const *r = runtimes_in(c->in->di); *r; r++) {
		if ((*r)->tasks.whatis)
			(*r)->tasks.whatis(&a);
	}
	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->root)
			whatis_add_frames(&a, &(struct whatis_owner){ .task = s->tasks[i] },
			                  s->tasks[i]->root);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].root)
			whatis_add_frames(&a, &(struct whatis_owner){ .thread = &s->threads[i] },
			                  s->threads[i].root);
	}
	add_waits(&a);
	s->nplaces = a.places.n;
	s->places = vec_to_arena(&a.places, c->a);
}
