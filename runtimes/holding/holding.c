/* Searches trees of futures: from the variables of each frame to what they hold. */
#include "runtimes/holding/holding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/combinator.h"
#include "runtimes/holding/holding_walk.h"
#include "runtimes/query/locals.h"

enum {
	MAX_UNSEARCHED = 64,
	/* Limits of a snapshot: a base, and so many more per task. */
	MAX_VISITED = 1 << 20,
	MAX_VISITED_EACH = 64,
	MAX_FOUND = 1 << 18,
	MAX_FOUND_EACH = 16,
};

static struct holdings *holdings(struct collector *c)
{
	if (!c->holdings && !(c->holdings = calloc(1, sizeof(*c->holdings))))
		out_of_memory();
	return c->holdings;
}

void holding_unsearched(struct collector *c, const char *format, ...)
{
	struct holdings *all = holdings(c);
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (all->quiet || !(c->want & WANT_HOLDINGS) || all->unsearched.n >= MAX_UNSEARCHED ||
	    !map_put(&all->noted, map_key_of_text(text), NULL))
		return;
	bool last = all->unsearched.n == MAX_UNSEARCHED - 1;
	*vec_push(&all->unsearched) =
		last ? "and more of the kind" : inspector_clean_name(c->a, text);
}

bool holding_goes_on(struct collector *c)
{
	struct holdings *all = holdings(c);
	size_t n = c->out->ntasks;
	struct error *interrupted;

	if (all->over)
		return false;
	interrupted = interrupt_check(); /* inspect() reports it */
	all->over = interrupted;
	error_free(interrupted);
	if (all->visited >= MAX_VISITED + n * MAX_VISITED_EACH ||
	    all->list.n >= MAX_FOUND + n * MAX_FOUND_EACH) {
		holding_unsearched(c,
		                   "all that comes after the first %zu values, %zu of which hold "
		                   "something: there is too much of it",
		                   all->visited, all->list.n);
		all->over = true;
	}
	return !all->over;
}

/* ---- the variables of a coroutine's state ---- */

/* A state has one list for all searches. */
static bool may_be_sought(const struct type *t)
{
	return holding_is_inside(t) || holding_has_descriptor(t);
}

/* A temporary value such as "__3". "__awaitee" is a frame of its own. */
static bool is_temporary(const struct member *m)
{
	const char *p = m->name;

	if (!p || p[0] != '_' || p[1] != '_' || !p[2] || !m->type)
		return false;
	for (p += 2; *p; p++) {
		if (*p < '0' || *p > '9')
			return false;
	}
	return type_kind(m->type) != TYPE_BOOL;
}

typedef VEC(struct holding_local) local_vec;

static void add_temporaries(struct collector *c, const struct type *t,
                            const struct coroutine_state *s, local_vec *list)
{
	size_t n = 0;
	const struct member *members = s->state == FUTURE_SUSPENDED && s->variant->payload
	                                       ? type_members(s->variant->payload, &n)
	                                       : NULL;

	for (size_t i = 0; i < n; i++) {
		const struct member *m = &members[i];

		if (!is_temporary(m) || !may_be_sought(m->type))
			continue;
		enum moved_rule moved = moved_rule(c->in, t, m->type);
		*vec_push(list) = (struct holding_local){ .type = m->type,
			                                  .offset = s->variant->offset + m->offset,
			                                  .uncertain = moved == MOVED_OPEN,
			                                  .by_flags = moved == MOVED_BY_FLAGS };
	}
}

/* Of several variables of one name, the debug info places only the first. */
static void note_hidden(struct collector *c, const struct holding_local *l,
                        const struct coroutine_plan *plan)
{
	holding_unsearched(c, "variable `%s` of %s: another of this name hides where it is",
	                   l->name, plan->function);
}

static void plan_locals(struct collector *c, struct value v, const struct coroutine_plan *plan,
                        struct coroutine_state *s)
{
	const struct frame_place place = { .v = v, .active = s->variant, .outline = true };
	const struct future like = { .kind = plan->kind, .state = s->state };
	struct arena *a = &type_module(v.type)->di->arena;
	local_vec list = { 0 };
	size_t n;
	struct local_place *all = locals_list(c, &place, &like, &n);

	for (size_t i = 0; i < n; i++) {
		const struct local_place *l = &all[i];
		struct holding_local *to;

		if (l->borrowed || !l->v.type || !may_be_sought(l->v.type))
			continue;
		to = vec_push(&list);
		to->name = arena_strdup(a, l->name);
		to->type = l->v.type;
		to->offset = l->v.addr - v.addr;
		to->by_flags = l->moved == MOVED_BY_FLAGS;
		to->uncertain = l->uncertain && !to->by_flags;
		to->hidden = !l->in_memory;
		to->variable =
			holding_saved_variable(a, v.type, (size_t)(s->variant - plan->variants),
		                               to->name, to->type, to->offset);
	}
	add_temporaries(c, v.type, s, &list);
	s->nholding = list.n;
	s->holding = vec_to_arena(&list, a);
	s->holding_known = true;
}

const struct holding_local *holding_locals(struct collector *c, struct value v,
                                           const struct variant *active, size_t *n)
{
	const struct coroutine_plan *plan = coroutine_plan(c->in, v.type);
	struct coroutine_state *s;

	*n = 0;
	if (active < plan->variants || active >= plan->variants + plan->nstates)
		return NULL;
	s = coroutine_outline(c->in, plan, (size_t)(active - plan->variants));
	if (s->state != FUTURE_SUSPENDED && s->state != FUTURE_UNRESUMED)
		return NULL;
	if (!s->holding_known)
		plan_locals(c, v, plan, s);
	for (size_t i = 0; i < s->nholding; i++) {
		if (s->holding[i].hidden && holding_is_inside(s->holding[i].type))
			note_hidden(c, &s->holding[i], plan);
	}
	*n = s->nholding;
	return s->holding;
}

/* ---- trees ---- */

static void note_frames(struct walk *w, const struct future *f)
{
	struct frame_place place;

	/* A stream is searched as a part of the variable that owns it. */
	if (f->addr && !f->stream && locals_place_of(f, &place) && place.v.type)
		map_put(&w->frames, holding_frame_key(place.v), NULL);
	for (size_t i = 0; i < f->nchildren; i++)
		note_frames(w, f->children[i]);
}

void holding_note_frames(struct walk *w)
{
	if (!w->framed && w->like.root)
		note_frames(w, w->like.root);
	w->framed = true;
}

static bool may_be_elsewhere(const struct future *f)
{
	return f->branch == BRANCH_HELD && f->note;
}

static bool may_be_gone(const struct future *f)
{
	return f->uncertain || f->inferred || may_be_elsewhere(f);
}

static void search_running(struct walk *w, const struct frame_place *place, const struct future *f)
{
	/* A value that optimised code left in the coroutine's memory may be of a poll long ago. */
	struct frame_place placed = *place;
	size_t n;

	placed.function = NULL;
	struct local_place *list = locals_list(w->c, &placed, f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct local_place *l = &list[i];
		struct step step = { .name = arena_strdup(w->c->a, l->name) };

		if (l->borrowed || l->problem || !l->v.type || !holding_is_sought(w->c, l->v.type))
			continue;
		w->in = w->like.within = l->v;
		w->like.variable = holding_running_variable(w->c, l->v.type, l->dm, l->die);
		if (l->in_memory)
			holding_walk(w, l->v, &step, l->uncertain);
		else if (holding_is_inside(l->v.type))
			holding_unsearched(w->c,
			                   "variable `%s` of %s, which runs: it is in a register",
			                   l->name, f->function);
	}
	w->like.variable = NULL;
	w->like.within.type = NULL;
}

static void search_frame(struct walk *w, const struct future *f, bool uncertain)
{
	struct frame_place place;
	bool known = locals_place_of(f, &place);

	w->like.h.future = f;
	w->like.h.function = f->function;
	if (f->problem)
		holding_unsearched(w->c, "what is in %s: %s", f->function, f->problem);
	if (!known || place.shared) {
		if (f->running)
			holding_unsearched(w->c,
			                   "variables of %s, which runs: they share a stack frame "
			                   "with another's",
			                   f->function);
		return;
	}
	w->in = place.v;
	if (place.frame)
		search_running(w, &place, f);
	else if (place.active)
		holding_walk_coroutine(w, place.v, place.active, NULL, uncertain);
	else if (place.v.type)
		holding_walk_root(w, place.v, uncertain);
}

/*
 * A library frame may serve many callers: what it polls is reported at the await in the program's
 * own code.
 */
static void use_place(struct walk *w, const struct future *f)
{
	if (f->line && f->file && (!w->own || !f->library))
		w->own = f;
	if (f->kind == FUTURE_OTHER || !f->line || !f->file)
		f = w->own;
	if (!f)
		return;
	w->like.h.file = f->file;
	w->like.h.file_short = f->file_short;
	w->like.h.line = f->line;
}

static void search_tree(struct walk *w, const struct future *f, bool uncertain)
{
	const struct found before = w->like;
	const struct future *own = w->own;

	uncertain |= may_be_gone(f);
	w->like.trace |= may_be_elsewhere(f);
	use_place(w, f);
	/* A stream is in a variable that is searched, or in what a variable owns. */
	if (!f->stream)
		search_frame(w, f, uncertain);
	if ((w->c->want & WANT_HOLDINGS) && f->wait && f->wait->primitive)
		holding_name_wait(w, f->wait);
	for (size_t i = 0; i < f->nchildren; i++)
		search_tree(w, f->children[i], uncertain);
	w->like = before;
	w->own = own;
}

static void search_root(struct collector *c, const struct future *root, const struct found *like)
{
	struct walk w = { .c = c, .like = *like };

	if (!root || !map_put(&holdings(c)->scanned, (uintptr_t)root, NULL))
		return;
	w.like.root = root;
	search_tree(&w, root, false);
	map_free(&w.frames);
}

void holding_warm_up_task(struct collector *c, const struct task *task)
{
	struct holdings *all = holdings(c);
	size_t first = all->list.n;
	struct found like = { 0 };

	if (!task->root || !holding_goes_on(c))
		return;
	like.h.task = task;
	like.h.thread = task->thread;
	search_root(c, task->root, &like);
	for (size_t i = first; i < all->list.n; i++)
		holding_declare(c, &all->list.data[i]);
	all->list.n = first;
	map_free(&all->shared);
}

void holding_search(struct collector *c)
{
	struct snapshot *s = c->out;

	holdings(c);
	for (size_t i = 0; i < s->ntasks && holding_goes_on(c); i++) {
		struct found like = { .order = i };

		like.h.task = s->tasks[i];
		like.h.thread = s->tasks[i]->thread;
		search_root(c, s->tasks[i]->root, &like);
	}
	for (size_t i = 0; i < s->nthreads && holding_goes_on(c); i++) {
		struct found like = { .order = s->ntasks + i };

		like.h.thread = s->threads[i].number;
		search_root(c, s->threads[i].root, &like);
	}
}

void holding_walk_variable(struct collector *c, const struct holding_start *start)
{
	struct walk w = { .c = c, .like = start->like, .in = start->v };
	struct step step = { .name = start->name };

	w.like.within = start->v;
	holdings(c);
	if (holding_is_sought(c, start->v.type))
		holding_walk(&w, start->v, &step, start->uncertain);
}
