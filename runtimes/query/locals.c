#include "runtimes/query/locals.h"

#include <ctype.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/frame/native_variables.h"
#include "dwarf/frame/variables.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/move_state.h"
#include "runtimes/future/needs_drop.h"
#include "runtimes/query/local_state.h"
#include "runtimes/query/polled_memory.h"

enum { MAX_LOCALS = 1 << 13 /* rustc compiles functions of thousands of variables */ };

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- suspended coroutines ---- */

/* Compiler temporaries: "__awaitee", "__3", "__arg0"; "_task_context" of poll functions. */
static bool locals_is_hidden(const char *name)
{
	return !name || starts(name, "__") || strcmp(name, "_task_context") == 0;
}

static const char reference_prefix[] = "_ref__";

typedef VEC(struct local_place) local_vec;

static struct local_place *locals_add(struct collector *c, local_vec *locals,
                                      const struct member *m, uint64_t base)
{
	struct local_place *l = vec_push(locals);

	l->lasting = str_is_plain(m->name, strlen(m->name));
	l->name = l->lasting ? m->name : inspector_clean_name(&c->scratch, m->name);
	l->v = (struct value){ m->type, base + m->offset };
	l->in_memory = true;
	return l;
}

static size_t locals_count_named(const struct member *members, size_t n, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += members[i].type && members[i].name && strcmp(members[i].name, name) == 0;
	return count;
}

/* Follows a variable that the closure or block captured by reference. A borrowed value cannot have
 * been moved, so it is certain. */
static void locals_follow_capture(struct collector *c, struct local_place *l)
{
	size_t len = sizeof(reference_prefix) - 1;
	uint64_t addr;

	if (!starts(l->name, reference_prefix) || type_kind(l->v.type) != TYPE_POINTER ||
	    !type_target(l->v.type))
		return;
	struct error *err = target_read_uint(c->in->target, l->v.addr, 8, &addr);
	l->name += len;
	l->borrowed = true;
	l->uncertain = l->passed_in = false;
	if (err || addr == 0)
		l->problem = "it is captured by a reference that cannot be followed";
	else
		l->v = (struct value){ type_target(l->v.type), addr };
	error_free(err);
}

/*
 * Whether a saved variable is an argument. The body of an async fn starts by moving its arguments
 * into variables of the same names. The first saved variable of that name is the argument if it has
 * the type of the capture; otherwise another variable shadows the name.
 */
static bool is_argument(const struct member *captures, size_t ncaptures, const struct member *saved,
                        size_t n, const char *name)
{
	if (locals_count_named(saved, n, name) < 2)
		return false;
	for (size_t i = 0; i < ncaptures; i++) {
		if (!captures[i].type || !captures[i].name || strcmp(captures[i].name, name) != 0)
			continue;
		for (size_t j = 0; j < n; j++) {
			if (saved[j].type && saved[j].name && strcmp(saved[j].name, name) == 0)
				return strcmp(type_name(saved[j].type),
				              type_name(captures[i].type)) == 0;
		}
	}
	return false;
}

/* Whether no more can be listed; a last entry then says so. */
static bool locals_is_full(local_vec *locals)
{
	if (locals->n < MAX_LOCALS)
		return false;
	if (locals->n == MAX_LOCALS)
		*vec_push(locals) = (struct local_place){
			.name = "...", .problem = "there are more variables than are listed"
		};
	return true;
}

static void add_captures(struct collector *c, const struct frame_place *place, local_vec *locals,
                         const struct member *saved, size_t nsaved, const struct future *f)
{
	const struct variant *unresumed = type_variant(place->v.type, "Unresumed");
	bool is_fn = f->kind == FUTURE_ASYNC_FN;
	bool resumed = place->active != unresumed;
	bool has_parameters = f->kind == FUTURE_ASYNC_FN || f->kind == FUTURE_ASYNC_CLOSURE;
	size_t n = 0;
	const struct member *captures = unresumed ? type_members(unresumed->payload, &n) : NULL;

	for (size_t i = 0; i < n && !locals_is_full(locals); i++) {
		const struct member *m = &captures[i];
		bool drops;

		if (locals_is_hidden(m->name) || !m->type ||
		    locals_count_named(captures, i, m->name))
			continue;
		if (is_fn && resumed && is_argument(captures, n, saved, nsaved, m->name))
			continue;
		drops = needs_drop(c->in, m->type);
		if (is_fn && resumed && drops)
			continue;
		struct local_place *l = locals_add(c, locals, m, place->v.addr + unresumed->offset);
		l->argument = l->captured = true;
		l->uncertain =
			resumed && (drops || has_parameters || !local_state_is_kept(m->type));
		/* A value that needs no drop is still there, but a `mut` one may have changed. */
		l->passed_in = l->uncertain && !drops;
		locals_follow_capture(c, l);
	}
}

/*
 * Adds the saved variables. They are listed before the captured ones. LLVM gives all members of
 * equal name the type and offset of the first one.
 */
static void add_saved(struct collector *c, const struct frame_place *place, local_vec *locals,
                      const struct member *saved, size_t n, bool is_fn, bool flag_clear)
{
	const struct variant *unresumed = type_variant(place->v.type, "Unresumed");
	size_t ncaptures = 0;
	const struct member *captures =
		unresumed ? type_members(unresumed->payload, &ncaptures) : NULL;

	for (size_t i = 0; i < n && !locals_is_full(locals); i++) {
		const struct member *m = &saved[i];

		if (locals_is_hidden(m->name) || !m->type)
			continue;
		bool captured = locals_count_named(captures, ncaptures, m->name) != 0;
		size_t before = locals_count_named(saved, i, m->name);
		size_t after = locals_count_named(saved, n, m->name) - before - 1;

		if (captured && after == 0)
			continue; /* the capture itself: see add_captures() */
		struct local_place *l =
			locals_add(c, locals, m, place->v.addr + place->active->offset);
		l->argument =
			is_fn && before == 0 && is_argument(captures, ncaptures, saved, n, m->name);
		if (before) {
			l->in_memory = false;
			l->problem = "another variable of this name hides where it is: the debug "
				     "info has one place for both";
			continue;
		}
		l->moved = move_rule(c->in, place->v.type, m->type);
		l->uncertain = l->moved == MOVE_OPEN || (l->moved == MOVE_BY_FLAGS && flag_clear) ||
		               (l->moved == MOVE_NEVER && !local_state_is_kept(m->type));
	}
}

/* Takes the doubt from variables of which the memory proves that they have their values. */
static void locals_settle(struct collector *c, const struct frame_place *place, local_vec *locals,
                          bool flag_clear)
{
	struct move_state_borrows borrows;
	bool known = false;

	for (size_t i = 0; i < locals->n; i++) {
		struct local_place *l = &locals->data[i];

		if (!l->uncertain || l->passed_in || !l->in_memory)
			continue;
		if (!known)
			move_state_find_borrows(c, place->v, place->active, &borrows);
		known = true;
		bool is_saved = !l->captured;
		l->uncertain = !move_state_is_borrowed(&borrows, l->v) &&
		               ((is_saved && (flag_clear || l->moved == MOVE_NEVER)) ||
		                !move_state_is_settled(c->in, l->v));
	}
}

static void list_suspended(struct collector *c, const struct frame_place *place,
                           const struct future *f, local_vec *locals)
{
	bool is_fn = f->kind == FUTURE_ASYNC_FN;
	size_t n = 0;
	const struct member *saved = NULL;

	if (f->state == FUTURE_SUSPENDED && place->active->payload)
		saved = type_members(place->active->payload, &n);
	else if (f->state != FUTURE_UNRESUMED)
		return;
	bool flag_clear = n && move_state_flag_is_clear(c->in, place->v, place->active);
	add_captures(c, place, locals, saved, n, f);
	add_saved(c, place, locals, saved, n, is_fn, flag_clear);
	if (n && !place->outline)
		locals_settle(c, place, locals, flag_clear);
}

/* ---- running coroutines ---- */

struct locals_running {
	struct collector *c;
	local_vec *locals;
	unsigned depth;
};

static void locals_add_running(const struct variable *v, void *arg)
{
	struct locals_running *r = arg;
	struct local_place *l = NULL;

	if (locals_is_hidden(v->name) || !v->type || v->depth != r->depth || v->state.later ||
	    locals_is_full(r->locals))
		return;
	const char *name = inspector_clean_name(&r->c->scratch, v->name);
	/* A variable of an inner scope replaces an outer one, and one that is listed twice. */
	for (size_t i = 0; i < r->locals->n; i++) {
		if (strcmp(r->locals->data[i].name, name) == 0)
			l = &r->locals->data[i];
	}
	if (!l)
		l = vec_push(r->locals);
	*l = (struct local_place){ .name = name,
		                   .v = { v->type, v->addr },
		                   .in_memory = v->in_memory,
		                   .word = v->value,
		                   .argument = v->is_parameter,
		                   .dm = v->dm,
		                   .die = v->die };
	local_state_apply(r->c->in, &v->state, v->may_be_lost, l);
	if (!l->problem)
		locals_follow_capture(r->c, l);
}

/* ---- native frames ---- */

static void add_native(struct collector *c, local_vec *locals, const struct native_variable *v)
{
	struct local_place *l = NULL;

	if (locals_is_hidden(v->name) || v->state.later || locals_is_full(locals))
		return;
	const char *name = inspector_clean_name(&c->scratch, v->name);
	/* A variable of an inner block hides one of an outer block. */
	for (size_t i = 0; i < locals->n; i++) {
		if (strcmp(locals->data[i].name, name) == 0)
			l = &locals->data[i];
	}
	if (!l)
		l = vec_push(locals);
	*l = (struct local_place){ .name = name,
		                   .v = { v->type, v->value.addr },
		                   .in_memory = true,
		                   .argument = v->is_parameter,
		                   .dm = v->dm,
		                   .die = v->die,
		                   .is_placeless = v->value.problem && v->type,
		                   .is_sole = v->is_sole,
		                   .problem = v->value.problem };
	if (v->value.bytes)
		l->v.addr =
			target_lay_out(c->in->target, v->value.bytes, (size_t)type_size(v->type));
	if (!l->problem)
		local_state_apply(c->in, &v->state, v->may_be_lost, l);
	if (!l->problem)
		locals_follow_capture(c, l);
}

static void list_native(struct collector *c, const struct native_scope *scope, local_vec *locals)
{
	struct native_coroutine polled;
	struct native_variable *list;
	size_t n;
	struct error *err CLEANUP(error_freep) =
		native_variables_list(c->in->di, scope, &c->scratch, &list, &n, &polled);

	for (size_t i = 0; !err && i < n; i++)
		add_native(c, locals, &list[i]);
	if (!err)
		polled_memory_read(c, (struct value){ polled.type, polled.addr }, locals->data,
		                   locals->n);
}

/*
 * Adds the variables of a running coroutine that have no place in its frame. Where one of that name
 * has a place, it is an argument as it was passed in, and l the variable that has it in the body.
 */
static void add_placeless(const struct local_place *l, local_vec *locals)
{
	for (size_t i = 0; i < locals->n; i++) {
		struct local_place *other = &locals->data[i];

		if (strcmp(other->name, l->name) != 0)
			continue;
		if (l->is_polled)
			*other = *l;
		else if (l->is_placeless && !other->problem)
			other->uncertain = other->passed_in = true;
		return;
	}
	*vec_push(locals) = *l;
}

static void add_all_placeless(struct collector *c, const struct native_scope *scope,
                              local_vec *locals)
{
	local_vec all = { 0 };

	list_native(c, scope, &all);
	for (size_t i = 0; i < all.n; i++) {
		if (all.data[i].problem || all.data[i].is_polled)
			add_placeless(&all.data[i], locals);
	}
	vec_free(&all);
}

struct local_place *locals_list(struct collector *c, const struct frame_place *place,
                                const struct future *f, size_t *nret)
{
	local_vec locals = { 0 };

	if (place->native) {
		list_native(c, place->native, &locals);
	} else if (place->frame) {
		struct locals_running r = { c, &locals, place->depth };

		variables_in_frame(c->in->di, place->frame, place->cfa, locals_add_running, &r);
		if (place->function)
			add_all_placeless(c, place->function, &locals);
	} else if (place->active) {
		list_suspended(c, place, f, &locals);
	} else if (place->v.type) {
		struct local_place *self = vec_push(&locals);

		*self = (struct local_place){ .name = "self", .v = place->v, .in_memory = true };
	}
	*nret = locals.n;
	return vec_to_arena(&locals, &c->scratch);
}

/* ---- formatting ---- */

void locals_show(struct collector *c, const struct local_place *from, bool with_value,
                 struct local *to)
{
	struct inspector *in = c->in;

	to->name = from->lasting ? from->name : arena_strdup(c->a, from->name);
	to->argument = from->argument;
	to->uncertain = from->uncertain;
	to->passed_in = from->passed_in;
	to->may_be_lost = from->may_be_lost;
	to->may_be_unset = from->may_be_unset;
	to->may_be_stale = from->may_be_stale;
	/* The problem text of a native variable is in memory of this walk. */
	to->problem = from->problem ? arena_strdup(c->a, from->problem) : NULL;
	/* The recorded type of a hidden variable is that of the variable that hides it. */
	if (from->problem && !from->in_memory)
		return;
	to->type = type_class_of(from->v.type)->name;
	if (from->problem)
		return;
	to->addr = from->in_memory && !target_is_laid_out(from->v.addr) ? from->v.addr : 0;
	if (in->secrets && secrets_has(in->secrets, from->name, strlen(from->name))) {
		to->value = REDACTED;
		to->redacted = true;
		return;
	}
	if (from->in_memory && !with_value) {
		to->problem = model_local_not_saved;
		return;
	}
	struct redaction redaction = { .secrets = in->secrets };
	to->value = from->in_memory
	                    ? show_value(in->target, in->di, &in->show, c->a, from->v, &redaction)
	                    : show_word(in->target, in->di, &in->show, c->a, from->v.type,
	                                from->word, &redaction);
	to->redacted = redaction.done;
	if (!to->value)
		to->problem = "it is in a register and has more than one part";
}

static bool is_wanted(const struct collector *c)
{
	const struct question *q = c->question;

	return q && (q->print || q->typed || q->has_whatis);
}

static bool keeps_places(const struct collector *c)
{
	return is_wanted(c) || (c->want & WANT_OWNERS);
}

/* The place that all futures of one type and state share. */
static const struct frame_place *shared_place(struct collector *c, const struct frame_place *place)
{
	uint64_t key = map_key_of_pair((uintptr_t)place->v.type, (uintptr_t)place->active);
	struct frame_place *known = map_get(&c->places, key);

	/* Two pairs may share a key; the map then has the most recent one. */
	if (known && known->v.type == place->v.type && known->active == place->active)
		return known;
	known = NEW(&c->scratch, struct frame_place);
	known->v.type = place->v.type;
	known->active = place->active;
	map_put(&c->places, key, known);
	return known;
}

bool locals_place_of(const struct future *f, struct frame_place *ret)
{
	if (!f->place)
		return false;
	*ret = *f->place;
	if (ret->v.type && !ret->frame)
		ret->v.addr = f->addr;
	return true;
}

static void locals_fill(struct collector *c, const struct frame_place *place, struct future *f)
{
	struct local_place *list;
	size_t n;

	if (!(c->want & (WANT_LOCALS | WANT_LOCAL_NAMES)))
		return;
	list = locals_list(c, place, f, &n);
	f->nlocals = (unsigned)n;
	f->locals = NEW_ARRAY(c->a, struct local, f->nlocals);
	for (size_t i = 0; i < f->nlocals; i++)
		locals_show(c, &list[i], c->want & WANT_LOCALS, &f->locals[i]);
}

void locals_of_frame(struct decoder *d, struct value v, const struct variant *active,
                     struct future *f)
{
	struct frame_place place = { .v = v, .active = active };

	if (keeps_places(d->c))
		f->place = shared_place(d->c, &place);
	if (active)
		locals_fill(d->c, &place, f);
}

void locals_of_running(struct collector *c, const struct frame_place *place, struct future *f)
{
	if (keeps_places(c))
		f->place = arena_memdup(&c->scratch, place, sizeof(*place));
	locals_fill(c, place, f);
}
