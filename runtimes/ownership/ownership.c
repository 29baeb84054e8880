/* Searches trees of futures: from the variables of each frame to what they hold. */
#include "runtimes/ownership/ownership.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/combinator.h"
#include "runtimes/ownership/ownership_walk.h"
#include "runtimes/query/locals.h"

enum {
	MAX_UNSEARCHED = 64,
	/* Limits of a snapshot: a base, and so many more per task. */
	MAX_VISITED = 1 << 20,
	MAX_VISITED_EACH = 64,
	MAX_FOUND = 1 << 18,
	MAX_FOUND_EACH = 16,
};

static struct ownership_data *ownership_holdings(struct collector *c)
{
	if (!c->holdings && !(c->holdings = calloc(1, sizeof(*c->holdings))))
		out_of_memory();
	return c->holdings;
}

void ownership_unsearched(struct collector *c, const char *format, ...)
{
	struct ownership_data *all = ownership_holdings(c);
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
		last ? "and more of this kind" : inspector_clean_name(c->a, text);
}

bool ownership_within_budget(struct collector *c)
{
	struct ownership_data *all = ownership_holdings(c);
	size_t n = c->out->ntasks;
	struct error *interrupted;

	if (all->over)
		return false;
	interrupted = interrupt_check(); /* inspect() reports it */
	all->over = interrupted;
	error_free(interrupted);
	if (all->visited >= MAX_VISITED + n * MAX_VISITED_EACH ||
	    all->list.n >= MAX_FOUND + n * MAX_FOUND_EACH) {
		ownership_unsearched(c,
		                     "everything after the first %zu values, %zu of which hold "
		                     "something: the limit was reached",
		                     all->visited, all->list.n);
		all->over = true;
	}
	return !all->over;
}

/* ---- the variables of a coroutine's state ---- */

/* A state has one list for all searches. */
static bool may_be_sought(const struct type *t)
{
	return ownership_is_inside(t) || ownership_has_descriptor(t);
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

typedef VEC(struct ownership_local) local_vec;

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
		enum move_rule moved = move_rule(c->in, t, m->type);
		*vec_push(list) =
			(struct ownership_local){ .type = m->type,
			                          .offset = s->variant->offset + m->offset,
			                          .uncertain = moved == MOVE_OPEN,
			                          .by_flags = moved == MOVE_BY_FLAGS };
	}
}

/* Notes a variable that another one of its name hides: the debug info places only the first. */
static void note_hidden(struct collector *c, const struct ownership_local *l,
                        const struct coroutine_plan *plan)
{
	ownership_unsearched(c, "variable `%s` of %s: another of this name hides where it is",
	                     l->name, plan->function);
}

static void plan_locals(struct collector *c, struct value v, const struct coroutine_plan *plan,
                        struct coroutine_state *s)
{
	const struct frame_place place = { .v = v, .active = s->variant, .outline = true };
	const struct future template = { .kind = plan->kind, .state = s->state };
	struct arena *a = &type_module(v.type)->di->arena;
	local_vec list = { 0 };
	size_t n;
	struct local_place *all = locals_list(c, &place, &template, &n);

	for (size_t i = 0; i < n; i++) {
		const struct local_place *l = &all[i];
		struct ownership_local *to;

		if (l->borrowed || !l->v.type || !may_be_sought(l->v.type))
			continue;
		to = vec_push(&list);
		to->name = arena_strdup(a, l->name);
		to->type = l->v.type;
		to->offset = l->v.addr - v.addr;
		to->by_flags = l->moved == MOVE_BY_FLAGS;
		to->uncertain = l->uncertain && !to->by_flags;
		to->hidden = !l->in_memory;
		to->variable =
			ownership_saved_variable(a, v.type, (size_t)(s->variant - plan->variants),
		                                 to->name, to->type, to->offset);
	}
	add_temporaries(c, v.type, s, &list);
	s->nholding = list.n;
	s->holding = vec_to_arena(&list, a);
	s->holding_known = true;
}

const struct ownership_local *ownership_locals(struct collector *c, struct value v,
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
		if (s->holding[i].hidden && ownership_is_inside(s->holding[i].type))
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
		map_put(&w->frames, ownership_frame_key(place.v), NULL);
	for (size_t i = 0; i < f->nchildren; i++)
		note_frames(w, f->children[i]);
}

void ownership_note_frames(struct walk *w)
{
	if (!w->framed && w->template.root)
		note_frames(w, w->template.root);
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
		struct ownership_step step = { .name = arena_strdup(w->c->a, l->name) };

		if (l->borrowed || l->problem || !l->v.type ||
		    !ownership_is_sought(w->c, l->v.type))
			continue;
		w->in = w->template.within = l->v;
		w->template.variable = ownership_running_variable(w->c, l->v.type, l->dm, l->die);
		if (l->in_memory)
			ownership_walk(w, l->v, &step, l->uncertain);
		else if (ownership_is_inside(l->v.type))
			ownership_unsearched(w->c,
			                     "variable `%s` of %s (running): it is in a register",
			                     l->name, f->function);
	}
	w->template.variable = NULL;
	w->template.within.type = NULL;
}

static void ownership_search_frame(struct walk *w, const struct future *f, bool uncertain)
{
	struct frame_place place;
	bool known = locals_place_of(f, &place);

	w->template.h.future = f;
	w->template.h.function = f->function;
	if (f->problem)
		ownership_unsearched(w->c, "what is in %s: %s", f->function, f->problem);
	if (!known || place.shared) {
		if (f->running)
			ownership_unsearched(w->c,
			                     "variables of %s, which is running: they share a "
			                     "stack frame with another function's",
			                     f->function);
		return;
	}
	w->in = place.v;
	if (place.frame)
		search_running(w, &place, f);
	else if (place.active)
		ownership_walk_coroutine(w, place.v, place.active, NULL, uncertain);
	else if (place.v.type)
		ownership_walk_root(w, place.v, uncertain);
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
	w->template.h.file = f->file;
	w->template.h.file_short = f->file_short;
	w->template.h.line = f->line;
}

static void ownership_search_tree(struct walk *w, const struct future *f, bool uncertain)
{
	const struct found before = w->template;
	const struct future *own = w->own;

	uncertain |= may_be_gone(f);
	w->template.trace |= may_be_elsewhere(f);
	use_place(w, f);
	/* A stream is in a variable that is searched, or in what a variable owns. */
	if (!f->stream)
		ownership_search_frame(w, f, uncertain);
	if ((w->c->want & WANT_HOLDINGS) && f->wait && f->wait->primitive)
		ownership_name_wait(w, f->wait);
	for (size_t i = 0; i < f->nchildren; i++)
		ownership_search_tree(w, f->children[i], uncertain);
	w->template = before;
	w->own = own;
}

static void ownership_search_root(struct collector *c, struct future *root,
                                  const struct found *template)
{
	if (!root || root->searched)
		return;
	struct walk w = { .c = c, .template = *template };

	root->searched = true;
	w.template.root = root;
	ownership_search_tree(&w, root, false);
	map_free(&w.frames);
}

void ownership_warm_up_task(struct collector *c, const struct task *task)
{
	struct ownership_data *all = ownership_holdings(c);
	size_t first = all->list.n;
	struct found template = { 0 };

	if (!task->root || !ownership_within_budget(c))
		return;
	template.h.task = task;
	template.h.thread = task->thread;
	ownership_search_root(c, task->root, &template);
	for (size_t i = first; i < all->list.n; i++)
		ownership_declare(c, &all->list.data[i]);
	all->list.n = first;
	map_free(&all->shared);
}

void ownership_search(struct collector *c)
{
	struct snapshot *s = c->out;

	ownership_holdings(c);
	for (size_t i = 0; i < s->ntasks && ownership_within_budget(c); i++) {
		struct found template = { .order = i };

		template.h.task = s->tasks[i];
		template.h.thread = s->tasks[i]->thread;
		ownership_search_root(c, s->tasks[i]->root, &template);
	}
	for (size_t i = 0; i < s->nthreads && ownership_within_budget(c); i++) {
		struct found template = { .order = s->ntasks + i };

		template.h.thread = s->threads[i].number;
		ownership_search_root(c, s->threads[i].root, &template);
	}
}

void ownership_walk_variable(struct collector *c, const struct ownership_start *start)
{
	struct walk w = { .c = c, .template = start->template, .in = start->v };
	struct ownership_step step = { .name = start->name };

	w.template.within = start->v;
	ownership_holdings(c);
	if (ownership_is_sought(c, start->v.type))
		ownership_walk(&w, start->v, &step, start->uncertain);
}
