/*
 * Breakpoints on the drop of a task's future before it has returned. The compiler's drop glue of
 * the coroutine, and of what it lies in within the task, gets a pointer into the task as its first
 * argument. What the glue of the coroutine is inlined into is found by its lines: it has those of
 * the awaits. A future in a box does not move, so that it is looked for when the task is there.
 */
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/target/target.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/line_rows.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/type.h"
#include "runtimes/common/boxed_future.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/debuggee.h"
#include "runtimes/stepping/event_break_private.h"
#include "runtimes/trace/plan.h"
#include "runtimes/trace/trace_key.h"

enum { MAX_GLUE = 256, MAX_DEPTH = 16 };

struct drop_break_search {
	struct breakpoint *bp;
	struct inspector *in;
	struct dwarf_module *dm;
	const struct type *future;
	/* The future, and what it lies in within the task or its box, innermost first. */
	VEC(const struct type *) chain;
	VEC(uint64_t) glue; /* run-time addresses */
	const char *unseen; /* a function into which the drop is inlined; NULL: none */
	struct arena *a;
};

/* ---- the code ---- */

/* Whether a function drops what has that type. */
static bool is_glue_of(const struct function *f, const struct type *t)
{
	const char *name = f && f->name ? f->name : "", *type = type_name(t);
	const char *at = strchr(name, '<');
	size_t len = strlen(type);

	return (qualified_is(name, "core::ptr::drop_in_place") ||
	        qualified_is(name, "core::ptr::drop_glue")) &&
	       at && strncmp(at + 1, type, len) == 0 && strcmp(at + 1 + len, ">") == 0;
}

static bool is_glue_of_chain(const struct drop_break_search *s, const struct function *f,
                             size_t from)
{
	for (size_t i = from; i < s->chain.n; i++) {
		if (is_glue_of(f, s->chain.data[i]))
			return true;
	}
	return false;
}

static void visit_glue(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	struct drop_break_search *s = arg;
	uint64_t there = s->dm->module->bias + addr;

	if (!size || s->glue.n >= MAX_GLUE ||
	    (!strstr(name, "drop_in_place") && !strstr(name, "drop_glue")) ||
	    !is_glue_of_chain(s, lookup_function(s->in->di, there), 0))
		return;
	for (size_t i = 0; i < s->glue.n; i++) {
		if (s->glue.data[i] == there)
			return;
	}
	*vec_push(&s->glue) = there;
}

static bool is_glue_at(const struct drop_break_search *s, uint64_t addr)
{
	for (size_t i = 0; i < s->glue.n; i++) {
		if (s->glue.data[i] == addr)
			return true;
	}
	return false;
}

/*
 * A copy of the drop in a function at which nothing halts. Of a future that is in no task yet, or
 * no more, a copy is not inlined into that of what it lies in.
 */
static void check_row(struct drop_break_search *s, const struct line_row *row)
{
	SCRATCH(tmp);
	uint64_t addr = s->dm->module->bias + row->addr;
	bool drops = false, in_task = s->chain.n == 1;
	size_t n;

	if (!lookup_function(s->in->di, addr))
		return;
	const struct location *l = lookup_dwarf_functions_at(s->in->di, addr, &tmp, &n);
	for (size_t i = 0; i < n; i++) {
		drops |= is_glue_of(l[i].function, s->future);
		in_task |= is_glue_of_chain(s, l[i].function, 1);
	}
	const struct function *outer = n ? l[n - 1].function : NULL;
	if (drops && in_task && outer && !is_glue_at(s, outer->low))
		s->unseen = outer->name;
}

static struct error *find_unseen(struct drop_break_search *s)
{
	line_row_vec rows = { 0 };
	size_t n;
	const struct variant *v = type_variants(s->future, &n);
	unsigned first = UINT32_MAX, last = 0;
	const char *file = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!v[i].file || !v[i].line)
			continue;
		file = file ? file : v[i].file;
		first = v[i].line < first ? v[i].line : first;
		last = v[i].line > last ? v[i].line : last;
	}
	struct error *err = file ? line_rows_read(s->dm, file, &rows) : NULL;
	for (size_t i = 0; i < rows.n && !err && !s->unseen; i++) {
		if (rows.data[i].line >= first && rows.data[i].line <= last)
			check_row(s, &rows.data[i]);
		if (i % 64 == 0)
			err = interrupt_check();
	}
	vec_free(&rows);
	return err;
}

/* ---- the places ---- */

/* The first argument is in the task or the box, and not behind the beginning of its future. */
static void add_places(struct drop_break_search *s, const struct trace_point *poll,
                       struct breakpoint_place **ret)
{
	const struct event_break *e = s->bp->event;
	unsigned reg = s->in->target->arch->arguments[0];
	struct tracer_filter *range = NEW_ARRAY(s->a, struct tracer_filter, 2);

	range[0] = (struct tracer_filter){ .reg = reg,
		                           .size = 8,
		                           .value = e->base,
		                           .order = TRACER_LESS,
		                           .differs = true,
		                           .and_next = true };
	range[1] = (struct tracer_filter){
		.reg = reg, .size = 8, .value = e->future, .order = TRACER_MORE, .differs = true
	};
	*ret = NEW_ARRAY(s->a, struct breakpoint_place, s->glue.n);
	for (size_t i = 0; i < s->glue.n; i++) {
		const struct function *f = lookup_function(s->in->di, s->glue.data[i]);

		(*ret)[i] = (struct breakpoint_place){
			.addr = s->glue.data[i],
			.function = f && f->name ? str_clean(s->a, f->name, strlen(f->name)) : NULL,
			.breakpoint = s->bp,
			.point = poll,
			.filter = range
		};
	}
}

static void drop_break_set_note(struct drop_break_search *s)
{
	if (s->unseen && !s->glue.n)
		s->bp->note = arena_printf(s->a,
		                           "the drop of its future cannot be seen in this program: "
		                           "the compiler has inlined it into %s",
		                           s->unseen);
	else if (s->unseen)
		s->bp->note =
			arena_printf(s->a,
		                     "the compiler has inlined the drop of its future into %s, "
		                     "too: there it is not seen",
		                     s->unseen);
	else if (!s->glue.n)
		s->bp->note =
			"the drop of its future cannot be seen in this program: there is no "
			"function for it, as what it holds needs none or all of it is inlined";
}

static bool drop_break_find_chain(struct drop_break_search *s, const struct type *t, uint64_t at,
                                  uint64_t future, int depth);

static bool drop_break_find_in_members(struct drop_break_search *s, const struct type *t,
                                       uint64_t at, uint64_t future, int depth)
{
	size_t n;
	const struct member *m = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (drop_break_find_chain(s, m[i].type, at + m[i].offset, future, depth + 1))
			return true;
	}
	return false;
}

/*
 * Searches the variants of a type. A match is the variant that the value has while the future is
 * there.
 */
static bool find_in_variants(struct drop_break_search *s, const struct type *t, uint64_t at,
                             uint64_t future, int depth)
{
	struct event_break *e = s->bp->event;
	size_t n;
	const struct variant *v = type_variants(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (e->nholders >= DROP_MAX_HOLDERS ||
		    !drop_break_find_chain(s, v[i].payload, at + v[i].offset, future, depth + 1))
			continue;
		e->holders[e->nholders++] = (struct drop_holder){ t, at, v[i].name };
		return true;
	}
	return false;
}

/*
 * Finds the types that lead from a type at an offset of the task to the future. False: the future
 * is not in there.
 */
static bool drop_break_find_chain(struct drop_break_search *s, const struct type *t, uint64_t at,
                                  uint64_t future, int depth)
{
	bool found = false;

	if (!t || depth > MAX_DEPTH || at > future || future - at >= type_size(t))
		return false;
	if (strcmp(type_name(t), type_name(s->future)) == 0)
		found = at == future;
	else if (type_kind(t) == TYPE_STRUCT)
		found = drop_break_find_in_members(s, t, at, future, depth);
	else if (type_kind(t) == TYPE_ENUM)
		found = find_in_variants(s, t, at, future, depth);
	if (found)
		*vec_push(&s->chain) = t;
	return found;
}

/* ---- the future ---- */

/* Whether the future is still there: the enums of the task are in the variants that hold it. */
static bool is_there(const struct event_break *e, struct target *t)
{
	const struct variant *v;

	for (size_t i = 0; i < e->nholders; i++) {
		const struct drop_holder *h = &e->holders[i];
		struct error *err =
			value_variant(t, (struct value){ h->type, e->base + h->offset }, &v);

		error_free(err);
		if (err || strcmp(v->name, h->variant) != 0)
			return false;
	}
	return true;
}

/* Moves an error into the note. */
static bool drop_break_is_known(struct drop_break_search *s, struct error *err)
{
	if (err)
		s->bp->note = arena_strdup(s->a, err->message);
	error_free(err);
	return !err;
}

/* Finds the coroutine of a future that is at that offset of the task. */
static bool drop_break_find_coroutine(struct drop_break_search *s, const struct task_types *types)
{
	struct event_break *e = s->bp->event;
	struct boxed_place p = { .v = { types->future, e->header + types->offset },
		                 .base = { types->cell, e->header } };

	s->future = types->future;
	e->base = e->header;
	e->nholders = 0;
	p.may_read = drop_break_find_chain(s, types->cell, 0, types->offset, 0) &&
	             is_there(e, s->in->target);
	if (!drop_break_is_known(s, boxed_future_follow(s->in, &p)))
		return false;
	if (!p.v.type || !type_is_coroutine(p.v.type) || !type_discr(p.v.type)) {
		s->bp->note = arena_printf(s->a,
		                           "its future, %s, is not an async function or block, nor "
		                           "one in a box or a span: it is unknown whether it has "
		                           "returned; \"break --on-done\" sees its end",
		                           type_name(p.v.type ? p.v.type : types->future));
		return false;
	}
	if (p.glue)
		*vec_push(&s->glue) = p.glue;
	s->future = e->future_type = p.v.type;
	s->chain.n = 0;
	e->nholders = 0;
	e->base = p.base.addr;
	e->future = p.v.addr;
	if (!drop_break_find_chain(s, p.base.type, 0, e->future - e->base, 0))
		*vec_push(&s->chain) = s->future;
	return true;
}

/* Finds the future by its poll function. False: the note says what is missing. */
static bool drop_break_find_future(struct drop_break_search *s, const struct trace_point *poll,
                                   uint64_t entry)
{
	struct task_types types = { 0 };
	struct target_scratch_cache before;

	if (poll->runtime->tasks.types)
		poll->runtime->tasks.types(s->in, entry, &types);
	if (!types.future || !types.has_offset || types.whole || types.others) {
		s->bp->note = "the offset of its future in the task is not known";
		return false;
	}
	target_begin_scratch_cache(s->in->target, &before);
	bool found = drop_break_find_coroutine(s, &types);
	target_end_scratch_cache(s->in->target, &before);
	if (found)
		s->dm = type_module(s->future);
	return found;
}

struct error *drop_break_find(struct breakpoint *bp, const struct trace_point *poll, uint64_t entry,
                              struct breakpoint_place **ret, size_t *n)
{
	struct drop_break_search s = { .bp = bp,
		                       .in = asyncdbg_inspector(bp->debuggee->handle),
		                       .a = &bp->find_arena };
	struct error *err = NULL;

	*n = 0;
	if (drop_break_find_future(&s, poll, entry)) {
		symtab_each_function(s.dm, visit_glue, &s);
		err = find_unseen(&s);
		drop_break_set_note(&s);
		add_places(&s, poll, ret);
		*n = s.glue.n;
	}
	vec_free(&s.glue);
	vec_free(&s.chain);
	return err;
}

/* ---- hits ---- */

/* The state of the future; NULL: it is not there any more. */
static struct error *drop_break_read_state(const struct event_break *e, struct target *t,
                                           const struct variant **ret)
{
	const struct variant *v;

	*ret = NULL;
	for (size_t i = 0; i < e->nholders; i++) {
		const struct drop_holder *h = &e->holders[i];

		TRY(value_variant(t, (struct value){ h->type, e->base + h->offset }, &v));
		if (strcmp(v->name, h->variant) != 0)
			return NULL;
	}
	return value_variant(t, (struct value){ e->future_type, e->future }, ret);
}

static const char *drop_break_describe(struct inspector *in, const struct variant *v,
                                       struct arena *a)
{
	if (strcmp(v->name, "Unresumed") == 0)
		return "before its first poll";
	const char *name = str_clean(a, v->name, strlen(v->name));
	if (!v->file || !v->line)
		return arena_printf(a, "in state %s", name);
	const char *file = source_path_of(in->di, a, v->file, NULL).text;
	return arena_printf(a, "in state %s, at %s:%u", name, str_clean(a, file, strlen(file)),
	                    v->line);
}

bool drop_break_decide(struct event_break *e, struct inspector *in, uint64_t argument)
{
	const struct variant *v = NULL;
	struct target_scratch_cache before;

	if (argument < e->base || argument > e->future)
		return false;
	target_begin_scratch_cache(in->target, &before);
	struct error *err = drop_break_read_state(e, in->target, &v);
	target_end_scratch_cache(in->target, &before);
	error_free(err);
	/* A future is dropped once: what follows is of its output, or of another task. */
	e->over = true;
	if (err || !v || strcmp(v->name, "Returned") == 0 || strcmp(v->name, "Panicked") == 0)
		return false;
	arena_free(&e->hit_arena);
	e->type = NULL;
	e->task = trace_key_text(&e->hit_arena, e->key);
	e->message = drop_break_describe(in, v, &e->hit_arena);
	return true;
}
