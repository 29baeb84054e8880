/* The command `print`: evaluates a path from a variable of one frame, or from a static. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/names/demangle.h"
#include "runtimes/query/expression_step.h"
#include "runtimes/query/globals.h"
#include "runtimes/query/locals.h"
#include "runtimes/query/native.h"

/* ---- the frame ---- */

/* no_statics: why statics were not searched; NULL: they were, and there is none of that name. */
static struct error *no_variable(const struct local_place *list, size_t n, const char *name,
                                 const char *no_statics)
{
	STR(names);

	for (size_t i = 0; i < n && i < EXPRESSION_NAMES; i++)
		str_printf(&names, "%s%s", i ? ", " : "; there are: ", list[i].name);
	return error_new(ERR_USAGE, "no variable `%s` here%s; %s%s", name,
	                 n ? str_text(&names) : ", and no other",
	                 no_statics ? "statics are not known: " : "and no static of that name",
	                 no_statics ? no_statics : "");
}

/* Marks the result as uncertain if several variables have its name: the innermost that is saved may
 * be of a block that ended before the await, for which the debug info has no line. */
static void note_namesakes(struct evaluation *e, const struct local_place *list, size_t n,
                           const struct local_place *found)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += strcmp(list[i].name, found->name) == 0;
	if (count < 2 || found->problem)
		return;
	e->out->uncertain = true;
	e->out->passed_in = false;
	e->out->problem = arena_printf(e->c->a,
	                               "one of %zu variables of this name, perhaps not the one "
	                               "that is visible at the await",
	                               count);
}

/* *found false: the frame has no variable of that name. */
static struct error *find_variable(struct evaluation *e, const char *name,
                                   const struct local_place *list, size_t n, bool *found)
{
	const struct local_place *l = NULL;

	/*
	 * The innermost of several variables counts: a local hides an argument, and a later local
	 * an earlier one. Where it has no value, none of another one is an answer.
	 */
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) == 0 && (!l || l->argument || !list[i].argument))
			l = &list[i];
	}
	*found = l != NULL;
	if (!l)
		return NULL;
	e->v = l->v;
	e->in_memory = l->in_memory;
	e->word = l->word;
	e->out->argument = l->argument;
	e->out->uncertain = l->uncertain;
	e->out->passed_in = l->passed_in;
	e->out->may_be_lost = l->may_be_lost;
	e->out->may_be_unset = l->may_be_unset;
	e->out->may_be_stale = l->may_be_stale;
	note_namesakes(e, list, n, l);
	if (!l->problem)
		return NULL;
	e->out->no_value = true;
	/* The type of a hidden variable is recorded as that of the variable which hides it. */
	if (!*e->rest && !e->stars && l->v.type && l->in_memory)
		e->out->type = inspector_clean_name(e->c->a, type_name(l->v.type));
	return error_new(ERR_STATE, "%s", l->problem);
}

/*
 * A closure or block that uses a part of a variable alone captures that part: `self.served` is the
 * variable "self__served" there. Rust warns of such names in sources.
 */
static struct error *find_captured_part(struct evaluation *e, const char *name,
                                        const struct local_place *list, size_t n, bool *found)
{
	const char *rest = e->rest, *joined = name;

	while (*rest == '.') {
		size_t len = 1;

		while (isalnum((unsigned char)rest[len]) || rest[len] == '_')
			len++;
		if (len == 1)
			return NULL;
		joined = arena_printf(&e->c->scratch, "%s__%.*s", joined, (int)(len - 1), rest + 1);
		rest += len;
		for (size_t i = 0; i < n; i++) {
			if (strcmp(list[i].name, joined) != 0)
				continue;
			e->rest = rest;
			return find_variable(e, joined, list, n, found);
		}
	}
	return NULL;
}

/* ---- statics ---- */

/* Why statics are not known; NULL if they are. */
static const char *statics_unknown(const struct inspector *in)
{
	if (in->layout)
		return "a layout file does not have them";
	if (in->info.tier == TIER_FULL)
		return NULL;
	return in->info.tier_reason ? in->info.tier_reason : "there is no debug info";
}

static struct error *find_static(struct evaluation *e, const char *name, bool *found)
{
	struct inspector *in = e->c->in;
	struct global g;

	e->out->global = true;
	TRY(globals_find(in, name, &e->c->scratch, &g, found));
	if (!*found)
		return NULL;
	e->v = (struct value){ g.type, g.addr };
	e->in_memory = true;
	e->out->name =
		inspector_clean_name(e->c->a, arena_printf(&e->c->scratch, "%.*s%s%s",
	                                                   (int)(e->stars < 16 ? e->stars : 16),
	                                                   "****************", g.name, e->rest));
	return NULL;
}

/*
 * The error for an unknown name. f: the frame, NULL: none. place: where its variables are, NULL:
 * unknown.
 */
static struct error *nothing_found(struct evaluation *e, const char *name,
                                   const struct frame_place *place, const struct future *f)
{
	const char *why = statics_unknown(e->c->in);
	struct local_place *list;
	size_t n;

	if (why && strstr(name, "::"))
		return error_new(ERR_NO_DEBUGINFO, "statics are not known: %s", why);
	if (strstr(name, "::"))
		return error_new(ERR_USAGE, "the debug info has no static `%s`", name);
	e->out->global = false;
	if (place) {
		list = locals_list(e->c, place, f, &n);
		return no_variable(list, n, name, why);
	}
	return error_new(ERR_STATE, "%s%s%s",
	                 f ? "the location of this frame's variables is not known; " : "",
	                 why ? "statics are not known: "
	                     : "the debug info has no static of that name",
	                 why ? why : "");
}

/* ---- a type by its name ---- */

static struct error *find_cast(struct evaluation *e)
{
	struct inspector *in = e->c->in;
	const struct type *t = NULL;
	const char *why = statics_unknown(in);

	e->out->global = true;
	for (size_t i = 0; !t && i < in->di->nmodules; i++) {
		struct dwarf_module *dm = debuginfo_program_module(in->di, i);

		t = dm ? lookup_type(dm, e->cast, 0) : NULL;
	}
	if (!t)
		return error_new(ERR_USAGE,
		                 "the debug info has no type `%s`%s%s; write its full path with "
		                 "all generics, as printed with --full-names",
		                 e->cast, why ? ": " : "", why ? why : "");
	e->v = (struct value){ t, e->address };
	e->in_memory = true;
	return NULL;
}

/* ---- names, for completion ---- */

static void append_names(struct str *out, const struct type *t)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		const char *name = members[i].name ? members[i].name : "";

		if (strncmp(name, "__", 2) == 0 && isdigit((unsigned char)name[2]))
			name += 2;
		if (*name)
			str_printf(out, "%s%s", out->len ? " " : "", name);
	}
}

/* Lists the members of the path's value, and of all values that member_step() would step into. */
static struct error *names_behind(struct evaluation *e, struct str *out)
{
	struct inspector *in = e->c->in;
	struct value v = e->v;

	TRY(expression_leave_register(e));
	v = e->v;
	for (int hop = 0; hop < EXPRESSION_HOPS; hop++) {
		bool found;

		TRY(show_deref(in->target, &in->show, v, &v, &found));
		if (found)
			continue;
		if (!v.type || type_kind(v.type) == TYPE_POINTER)
			return NULL;
		append_names(out, v.type);
		if (type_kind(v.type) == TYPE_ENUM && !type_is_coroutine(v.type)) {
			const struct variant *active;

			TRY(value_variant(in->target, v, &active));
			append_names(out, active->payload);
		}
		TRY(expression_look_through(e, &v, &found));
		if (!found)
			return NULL;
	}
	return NULL;
}

static void variable_names(struct evaluation *e, const struct frame_place *place,
                           const struct future *f, struct str *out)
{
	size_t n;
	struct local_place *list = locals_list(e->c, place, f, &n);

	for (size_t i = 0; i < n; i++)
		str_printf(out, "%s%s", out->len ? " " : "", list[i].name);
}

/* ---- the result ---- */

/* Finds the start of the path. A variable of the frame hides a static, as in Rust. */
static struct error *expression_find_start(struct evaluation *e, const char *name,
                                           const struct frame_place *place, const struct future *f)
{
	bool found = false;

	if (e->cast)
		return find_cast(e);
	if (place && !strstr(name, "::")) {
		size_t n;
		struct local_place *list = locals_list(e->c, place, f, &n);

		TRY(find_variable(e, name, list, n, &found));
		if (!found)
			TRY(find_captured_part(e, name, list, n, &found));
	}
	if (!found)
		TRY(find_static(e, name, &found));
	return found ? NULL : nothing_found(e, name, place, f);
}

/* Prints the elements of a range, as many as fit. */
static struct error *print_range(struct evaluation *e)
{
	enum { RANGE_ELEMENTS = 1024, RANGE_BYTES = 16 << 10 };
	struct inspector *in = e->c->in;
	struct value element = { 0 };
	uint64_t i = e->first;
	STR(text);

	for (; i < e->end && i - e->first < RANGE_ELEMENTS && text.len < RANGE_BYTES; i++) {
		SCRATCH(tmp);

		TRY(interrupt_check());
		TRY(show_index(in->target, &in->show, e->v, i, &element));
		e->out->addr = i == e->first ? element.addr : e->out->addr;
		str_printf(&text, "%s%s", i == e->first ? "" : ", ",
		           show_value(in->target, in->di, &in->show, &tmp, element, NULL));
	}
	e->out->value = arena_printf(e->c->a, "[%s%s]", str_text(&text), i < e->end ? ", ..." : "");
	e->out->type =
		inspector_clean_name(e->c->a, element.type ? arena_printf(&e->c->scratch, "[%s]",
	                                                                  type_name(element.type))
	                                                   : type_name(e->v.type));
	return NULL;
}

static void keep_typed(const struct evaluation *e, struct typed_locals *ret)
{
	ret->n = 1;
	ret->data = NEW(e->c->a, struct typed_local);
	*ret->data = (struct typed_local){ .shown = *e->out,
		                           .type = e->v.type,
		                           .in_memory = e->out->addr != 0 };
}

static struct error *print(struct evaluation *e)
{
	struct inspector *in = e->c->in;

	TRY(expression_follow(e));
	if (e->ranged)
		return print_range(e);
	e->out->type = inspector_clean_name(e->c->a, type_name(e->v.type));
	e->out->addr = e->in_memory && !target_is_laid_out(e->v.addr) ? e->v.addr : 0;
	e->out->value = e->in_memory
	                        ? show_value(in->target, in->di, &in->show, e->c->a, e->v, NULL)
	                        : show_word(in->target, in->di, &in->show, e->c->a, e->v.type,
	                                    e->word, NULL);
	if (!e->out->value)
		return error_new(ERR_STATE, "it is in a register and has more than one part");
	if (e->c->question->typed)
		keep_typed(e, e->c->question->typed);
	return NULL;
}

struct error *expression_evaluate(struct evaluation *e, const struct frame_place *place,
                                  const char *text)
{
	const struct future none = { 0 };
	const char *name;

	e->out = NEW(e->c->a, struct local);
	e->rest = text;
	TRY(expression_read_start(e, &name));
	TRY(expression_find_start(e, name, place, &none));
	TRY(expression_follow(e));
	return e->ranged ? error_new(ERR_USAGE, "a range is not a single value") : NULL;
}

static struct future *expression_find_frame(struct future *f, unsigned number)
{
	if (!f || f->number == number)
		return f;
	for (size_t i = f->nchildren; i-- > 0;) {
		if (f->children[i]->number <= number)
			return expression_find_frame(f->children[i], number);
	}
	return NULL;
}

static struct future *expression_task_root(const struct snapshot *s, const char *id)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		if (strcmp(s->tasks[i]->id, id) == 0)
			return s->tasks[i]->root;
	}
	return NULL;
}

static struct future *root_in_question(const struct collector *c)
{
	const struct snapshot *s = c->out;
	const struct question *q = c->question;

	if (q->task)
		return expression_task_root(s, q->task);
	for (size_t i = 0; i < s->nthreads; i++) {
		const struct thread_info *th = &s->threads[i];

		if (th->number == q->thread)
			return th->task && expression_task_root(s, th->task)
			               ? expression_task_root(s, th->task)
			               : th->root;
	}
	return NULL;
}

static struct error *answer_print(struct evaluation *e, const char *name,
                                  const struct frame_place *place, const struct future *f)
{
	TRY(expression_find_start(e, name, place, f));
	return print(e);
}

/* Lists names for completion. An error while listing is ignored: earlier names are still valid. */
static struct error *answer_names(struct evaluation *e, const char *name,
                                  const struct frame_place *place, const struct future *f)
{
	STR(names);

	if (name) {
		TRY(expression_find_start(e, name, place, f));
		TRY(expression_follow(e));
		error_free(names_behind(e, &names));
	} else if (place) {
		variable_names(e, place, f, &names);
	}
	e->out->value = inspector_clean_name(e->c->a, str_text(&names));
	return NULL;
}

/*
 * Whether this is the warm-up walk and finding a static would read much debug info. Running frames
 * are seen only in the walk of the copy, so the name may still be a variable of one. Memory that
 * this skips is read in another round.
 */
static bool is_too_early(const struct inspector *in)
{
	const struct target *t = in->target;

	return t->ops->stop && !t->stopped && !t->stop.frozen && !globals_is_near(in);
}

/*
 * Where the variables of the frame in question are; NULL: unknown. *f: the future of that frame,
 * NULL: it is none, or unknown.
 */
static const struct frame_place *place_in_question(struct collector *c, const struct future **f)
{
	struct frame_place *place = NEW(&c->scratch, struct frame_place);
	const struct question *q = c->question;
	struct native_scope scope;
	const char *problem;

	*f = NULL;
	if (!q->native) {
		*f = expression_find_frame(root_in_question(c), q->frame);
		return *f && locals_place_of(*f, place) ? place : NULL;
	}
	if (!native_find(c, &scope, &problem))
		return NULL;
	place->native = arena_memdup(&c->scratch, &scope, sizeof(scope));
	return place;
}

/* Finds where a variable that a suspended coroutine has saved is declared. */
static bool find_saved_declaration(const struct frame_place *place, const struct local_place *l,
                                   const char **file, unsigned *line)
{
	const struct type *t = place->v.type;
	size_t n;

	if (!t || !place->active || !l->in_memory || l->borrowed || !l->v.type)
		return false;
	const struct saved_variable saved = {
		.coroutine = t,
		.state = (unsigned)(place->active - type_variants(t, &n)),
		.name = l->name,
		.type = type_name(l->v.type),
		.offset = l->v.addr - place->v.addr,
	};
	return lookup_declaration(&saved, file, line);
}

static void find_declaration(struct collector *c, const struct frame_place *place,
                             const struct local_place *l, struct typed_local *to)
{
	const char *file, *dir = NULL;
	bool found = lookup_variable_place(l->dm, l->die, &file, &dir, &to->line);

	if (!found && find_saved_declaration(place, l, &file, &to->line)) {
		dir = type_comp_dir(place->v.type);
		found = true;
	}
	if (!found || !to->line)
		return;
	to->file = inspector_clean_name(c->a, file);
	to->comp_dir = dir ? arena_strdup(c->a, dir) : NULL;
}

/* The variables of the frame in question, with their types. */
static void list_typed(struct collector *c, struct typed_locals *ret)
{
	const struct future *f;
	const struct frame_place *place = place_in_question(c, &f);
	size_t n = 0;
	struct local_place *list = place ? locals_list(c, place, f, &n) : NULL;

	ret->n = n;
	ret->data = NEW_ARRAY(c->a, struct typed_local, n);
	for (size_t i = 0; i < n; i++) {
		struct typed_local *to = &ret->data[i];

		locals_show(c, &list[i], true, &to->shown);
		to->in_memory = to->shown.addr && !list[i].problem && !to->shown.redacted;
		to->type = list[i].problem ? NULL : list[i].v.type;
		find_declaration(c, place, &list[i], to);
	}
}

void expression_answer(struct collector *c, bool last)
{
	const struct question *q = c->question;

	if (q && q->typed && !q->print)
		list_typed(c, q->typed);
	if (!q || !q->print || c->out->printed)
		return;
	const struct future *f;
	const struct frame_place *place = place_in_question(c, &f);
	struct evaluation e = { .c = c, .rest = q->print };
	const char *name = NULL;

	/* The root of a block_on whose address is not certain. */
	if (f && f->addr == 0 && !f->running)
		place = NULL;
	bool variables = q->names && !*q->print;
	struct error *err = variables ? NULL : expression_read_start(&e, &name);
	/* A name with a path is a static and needs no frame, nor does an address. */
	bool free = e.cast || (name && strstr(name, "::"));
	if (!err && !free && !place && (!last || is_too_early(c->in)))
		return;
	struct local *out = e.out = NEW(c->a, struct local);
	if (q->typed)
		q->typed->n = 0;
	out->name = inspector_clean_name(c->a, q->print);
	c->out->printed = out;
	if (!err)
		err = (q->names ? answer_names : answer_print)(&e, name, place, f);
	if (err)
		out->problem = inspector_clean_name(c->a, err->message);
	error_free(err);
}
