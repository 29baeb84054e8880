/* Searches the variables of native frames, that is of functions that are no futures. */
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/frame/variables.h"
#include "dwarf/names/demangle.h"
#include "runtimes/common/type_class.h"
#include "runtimes/ownership/ownership.h"
#include "runtimes/query/locals.h"
#include "runtimes/thread/stack.h"

enum { MAX_FRAMES = 128, MAX_VARIABLES = 1 << 12 /* of one thread */ };

/* For a function of an impl of a trait, <app::A as app::Tr>::go: the path of the impl's type. */
static const char *ownership_stack_path_of(const char *name)
{
	static const char *const marks[] = { "<", "&", "mut ", "dyn ", "[", "(" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		name += str_begins(name, marks[i]) ? strlen(marks[i]) : 0;
	return name;
}

/* Is it a function of a library? What it has on its stack is not searched. */
static bool ownership_stack_is_library(const struct collector *c, const char *name)
{
	static const char *const crates[] = { "std::", "core::", "alloc::" };
	const char *path = ownership_stack_path_of(name);

	if (str_begins_with_any(path, crates))
		return true;
	for (const struct runtime *const *r = runtimes_in(c->in->di); *r; r++) {
		if (str_begins(path, (*r)->path))
			return true;
	}
	return !strstr(path, "::");
}

struct stack_search {
	struct collector *c;
	struct ownership_start start;
	struct location place; /* of the frame */
	size_t nvariables;
	size_t first; /* index of the first finding on this stack */
	/*
	 * Whether the thread waits at a condition variable. It has released the lock then, but a
	 * register may still have the guard.
	 */
	bool in_condvar;
};

/*
 * Was this guard found before? One that is passed on is a variable of several functions, and in a
 * register it has no address.
 */
static bool ownership_stack_is_known(const struct stack_search *s, const struct found *f)
{
	const found_vec *list = &s->c->holdings->list;

	for (size_t i = list->n; i > s->first && f->row->single; i--) {
		if (list->data[i - 1].h.primitive == f->h.primitive)
			return true;
	}
	return false;
}

/*
 * Takes a guard in a register: guards of native locks are two words at most, which optimised code
 * keeps there.
 */
static bool ownership_stack_take_word(struct stack_search *s, const struct type *t, uint64_t offset,
                                      uint64_t word)
{
	struct found f = s->start.template;
	bool found;
	struct error *err = ownership_read_word(s->c, t, offset, word, &f, &found);

	found &= !err;
	error_free(err); /* the content of a register may be stale */
	if (!found || s->in_condvar || ownership_stack_is_known(s, &f) ||
	    !ownership_within_budget(s->c))
		return found;
	f.h.type = type_class_of(t)->name;
	f.h.path = s->start.name;
	f.h.uncertain = true;
	*vec_push(&s->c->holdings->list) = f;
	return true;
}

static void look_at_word(const struct variable_word *w, void *arg)
{
	struct stack_search *s = arg;

	if (!w->v.name || !w->v.type || ++s->nvariables > MAX_VARIABLES ||
	    !type_class_of(w->v.type)->rows.holding)
		return;
	s->start.name = inspector_clean_name(s->c->a, w->v.name);
	s->start.template.variable = ownership_running_variable(s->c, w->v.type, w->v.dm, w->v.die);
	ownership_stack_take_word(s, w->v.type, w->offset, w->word);
}

static void ownership_stack_look(const struct variable *v, void *arg)
{
	struct stack_search *s = arg;

	if (!v->name || !v->type || ++s->nvariables > MAX_VARIABLES ||
	    !ownership_is_sought(s->c, v->type))
		return;
	s->start.name = inspector_clean_name(s->c->a, v->name);
	s->start.v = (struct value){ v->type, v->addr };
	s->start.uncertain = true;
	s->start.template.variable = ownership_running_variable(s->c, v->type, v->dm, v->die);
	if (v->in_memory)
		ownership_walk_variable(s->c, &s->start);
	else if (ownership_is_inside(v->type) &&
	         !ownership_stack_take_word(s, v->type, 0, v->value) &&
	         type_kind(v->type) != TYPE_POINTER)
		ownership_unsearched(s->c, "variable `%s` of %s on thread %u: it is in a register",
		                     s->start.name, s->start.template.h.function,
		                     s->start.template.h.thread);
}

/*
 * The innermost function of a frame that is the program's own. *number: its index among the frame's
 * functions, inlined ones included; *count: how many these are.
 */
static bool ownership_stack_find_own(struct collector *c, const struct thread_stack *s,
                                     size_t frame, struct location *ret, unsigned *number,
                                     unsigned *count)
{
	bool found = false, any = false;
	struct location *l;
	size_t n;

	for (size_t j = 0; j < s->nfunctions[frame]; j++) {
		const char *name = s->functions[frame][j].name;

		any |= name && !ownership_stack_is_library(c, name);
	}
	if (!any) {
		*count = s->nfunctions[frame] ? (unsigned)s->nfunctions[frame] : 1;
		return false;
	}
	l = lookup_locations(c->in->di, s->stack.frames[frame].lookup_pc, &c->scratch, &n);
	for (size_t j = 0; j < n && !found; j++) {
		if (!l[j].name || ownership_stack_is_library(c, l[j].name))
			continue;
		*ret = l[j];
		*number = (unsigned)j;
		found = true;
	}
	*count = (unsigned)n;
	return found;
}

static void ownership_stack_search_frame(struct stack_search *search, const struct thread_stack *s,
                                         size_t frame, unsigned number)
{
	struct collector *c = search->c;
	struct holding *h = &search->start.template.h;
	const struct location *l = &search->place;

	h->stack_frame = number;
	h->function = coroutine_function_name(c->a, l);
	h->file = l->file ? inspector_clean_name(c->a, l->file) : NULL;
	h->file_short = l->file ? source_path_of(c->in->di, c->a, l->file, l->comp_dir).text : NULL;
	h->line = l->line;
	const uint64_t cfa = frame + 1 < s->stack.nframes ? s->stack.frames[frame + 1].sp : 0;
	variables_in_frame(c->in->di, &s->stack.frames[frame], cfa, ownership_stack_look, search);
	variables_in_pieces(c->in->di, &s->stack.frames[frame], cfa, look_at_word, search);
}

static const struct task *ownership_stack_task_of(const struct snapshot *s,
                                                  const struct thread_info *info, size_t *order)
{
	for (size_t i = 0; info->task && i < s->ntasks; i++) {
		if (s->tasks[i]->thread == info->number) {
			*order = i;
			return s->tasks[i];
		}
	}
	return NULL;
}

static void search_thread(struct collector *c, size_t index)
{
	const struct thread_info *info = &c->out->threads[index];
	const struct thread_stack *s = &c->stacks[index];
	struct stack_search search = { .c = c,
		                       .first = c->holdings->list.n,
		                       .in_condvar = s->in_condvar };
	unsigned first = 0;

	search.start.template.order = c->out->ntasks + index;
	search.start.template.h.task =
		ownership_stack_task_of(c->out, info, &search.start.template.order);
	search.start.template.h.thread = info->number;
	for (size_t i = 0; i < s->stack.nframes && i < MAX_FRAMES; i++) {
		unsigned number = 0, count = 0;

		if (ownership_stack_find_own(c, s, i, &search.place, &number, &count))
			ownership_stack_search_frame(&search, s, i, first + number);
		first += count;
	}
	if (s->stack.nframes > MAX_FRAMES || search.nvariables > MAX_VARIABLES)
		ownership_unsearched(c, "the outer frames of thread %u", info->number);
}

void ownership_search_stacks(struct collector *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->out->nthreads; i++) {
		const struct thread_info *info = &c->out->threads[i];

		if (info->pooled)
			continue;
		if (c->stacks[i].stack.nframes)
			search_thread(c, i);
		else
			n++;
	}
	if (n)
		ownership_unsearched(c, "the stacks of %zu threads, which could not be read", n);
}
