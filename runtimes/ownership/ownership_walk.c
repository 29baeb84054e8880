/* Walks a value and all that it owns, and records what is held. */
#include "runtimes/ownership/ownership_walk.h"

#include <inttypes.h>

#include "debugger/base/str.h"
#include "runtimes/common/behind_wide.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/combinator.h"
#include "runtimes/future/move_state.h"
#include "runtimes/ownership/ownership_pooled.h"

enum {
	MAX_VISITED = 1 << 18, /* values of one tree */
	MAX_DEPTH = 64,
	MAX_STEPS = 64,
	MAX_HOPS = 16, /* structs around a number */
	/*
	 * Findings of a snapshot beyond which no owner of a shared descriptor is added. They are
	 * fewer than those that end the search (ownership.c).
	 */
	MAX_SHARED = 1 << 17,
	MAX_SHARED_EACH = 8, /* more for each task */
};

uint64_t ownership_frame_key(struct value v)
{
	struct type_class *type_class = type_class_of(v.type);

	if (!type_class->name_key)
		type_class->name_key = map_key_of_text(type_name(v.type));
	return map_key_of_pair(v.addr, type_class->name_key);
}

/* ---- paths ---- */

/* Do the member names of that type mean something to the program's author? */
static bool ownership_walk_is_informative(const struct type *t)
{
	const char *name = type_name(t);

	return !str_begins(name, "core::") && !str_begins(name, "alloc::") &&
	       !str_begins(name, "std::") && !type_class_of(t)->forms.maybe_done;
}

static const char *ownership_walk_path_text(struct collector *c, const struct ownership_step *at)
{
	const struct ownership_step *steps[MAX_STEPS];
	size_t n = 0;
	STR(text);

	/* The common case: a variable by itself. */
	if (at && !at->up && at->lasting)
		return at->name;
	for (; at && n < MAX_STEPS; at = at->up)
		steps[n++] = at;
	while (n--) {
		const struct ownership_step *s = steps[n];

		if (!s->name) {
			str_append(&text, "[");
			str_append_uint(&text, s->index);
			str_append(&text, "]");
			continue;
		}
		const char *name = s->name;
		if (str_begins(name, "__") && name[2] >= '0' && name[2] <= '9')
			name += 2; /* of a tuple */
		str_append(&text, text.len ? "." : "");
		str_append(&text, name);
	}
	return text.len ? inspector_clean_name(c->a, str_text(&text)) : NULL;
}

/* ---- what is found ---- */

static bool ownership_walk_is_within(struct value v, struct value in)
{
	return v.addr >= in.addr && v.addr - in.addr < type_size(in.type);
}

static struct found *ownership_walk_add(struct walk *w, struct value v,
                                        const struct ownership_step *up, bool uncertain)
{
	struct found *f = vec_push(&w->c->holdings->list);

	*f = w->template;
	f->h.type = type_class_of(v.type)->name;
	f->h.addr = v.addr;
	f->type = v.type;
	f->h.uncertain = uncertain;
	f->trace |= uncertain && !ownership_walk_is_within(v, w->in);
	f->h.path = ownership_walk_path_text(w->c, up);
	return f;
}

/*
 * Ignores the error for an uncertain value, whose bytes may be stale. A certain value must be
 * readable.
 */
static void ownership_walk_failed(struct walk *w, struct value v, const struct ownership_step *up,
                                  bool uncertain, struct error *err)
{
	if (err && !uncertain) {
		const char *path = ownership_walk_path_text(w->c, up);

		ownership_unsearched(w->c, "%s%s%s in %s: %s", path ? path : "", path ? ": " : "",
		                     type_class_of(v.type)->name,
		                     w->template.h.future ? w->template.h.future->function
		                                          : "a stack frame",
		                     err->message);
	}
	error_free(err);
}

/* Is what others wait for sought here, and not only descriptors? */
static bool ownership_walk_takes_all(const struct walk *w)
{
	return (w->c->want & WANT_HOLDINGS) && !w->only_descriptors;
}

static bool is_being_made(const struct walk *w, const struct ownership_row *row)
{
	const struct future *f = w->template.h.future;

	return row->maker && f && f->type && str_begins(f->type, row->maker);
}

/* Returns whether it holds anything. */
static bool ownership_walk_take(struct walk *w, struct value v, const struct ownership_row *row,
                                const struct ownership_step *up, bool uncertain)
{
	if (is_being_made(w, row))
		return true;
	struct found *f = ownership_walk_add(w, v, up, uncertain);
	bool found = false;
	struct error *err = ownership_read(w->c, v, row, f, &found);

	if (err || !found)
		w->c->holdings->list.n--;
	found &= !err;
	ownership_walk_failed(w, v, up, uncertain, err);
	return found;
}

/* Records each semaphore of which a guard of the program's own pool may have a permit. */
static void take_pooled(struct walk *w, struct value v, const struct ownership_step *up,
                        bool uncertain)
{
	const struct pooled *pooled = ownership_pooled(v.type);

	for (size_t i = 0; pooled && i < pooled->n; i++) {
		struct found *f = ownership_walk_add(w, v, up, uncertain);
		bool found = false;
		struct error *err = ownership_read_pooled(w->c, v, i, f, &found);

		if (err || !found)
			w->c->holdings->list.n--;
		error_free(err); /* it is only a possible holder */
	}
}

static void take_acquire(struct walk *w, struct value v, const struct ownership_step *up,
                         bool uncertain)
{
	struct found *f = ownership_walk_add(w, v, up, uncertain);
	bool found = false;
	struct error *err = ownership_read_acquire(w->c, v, f, &found);

	if (err || !found)
		w->c->holdings->list.n--;
	ownership_walk_failed(w, v, up, uncertain, err);
}

/* ---- values ---- */

static void ownership_walk_value(struct walk *w, struct value v, const struct ownership_step *up,
                                 bool uncertain);

static bool ownership_walk_is_sought(const struct walk *w, const struct type *t)
{
	return (ownership_walk_takes_all(w) && ownership_is_inside(t)) ||
	       ((w->c->want & WANT_DESCRIPTORS) && ownership_has_descriptor(t));
}

/* A value whose parts are walked, and the path to it. */
struct ownership_walk_step {
	struct visit visit;
	struct walk *w;
	struct value v;
	const struct ownership_step *up;
	bool uncertain;
};

/* Walks a part of the value, with its name or index at the end of the path. */
static bool ownership_walk_part(const struct visited *at, void *arg)
{
	struct ownership_walk_step *s = arg;
	struct ownership_step step = { .up = s->up, .index = at->index };
	const struct ownership_step part = { .up = &step, .name = at->part }, *up = &step;

	if (!ownership_walk_is_sought(s->w, at->v.type))
		return true;
	switch (at->rule) {
	case VISIT_MEMBERS:
		step.name = at->member->name;
		if (!step.name || !ownership_walk_is_informative(s->v.type))
			up = s->up;
		break;
	case VISIT_ENTRIES:
		if (at->part)
			up = &part;
		break;
	case VISIT_ELEMENTS:
		break;
	default:
		if (!s->visit.exact && type_class_of(s->v.type)->step != STEP_WIDE)
			return true;
		up = s->up;
	}
	ownership_walk_value(s->w, at->v, up, s->uncertain);
	return true;
}

static bool ownership_walk_elements(const struct slice *slice, void *arg)
{
	struct ownership_walk_step *s = arg;

	if (!ownership_walk_is_sought(s->w, slice->element))
		return false;
	if (slice->count > s->visit.end)
		ownership_unsearched(
			s->w->c, "all but the first %" PRIu64 " of %" PRIu64 " elements of %s",
			s->visit.end, slice->count, type_class_of(slice->element)->name);
	return true;
}

static void ownership_walk_parts(struct walk *w, struct value v, const struct visit_type *type,
                                 const struct ownership_step *up, bool uncertain)
{
	struct ownership_walk_step s = { .w = w, .v = v, .up = up, .uncertain = uncertain };
	struct visit *step = &s.visit;

	*step = behind_wide_visit(w->c, ownership_walk_part, &s);
	step->elements = ownership_walk_elements;
	step->end = OWNERSHIP_MAX_ELEMENTS;
	struct error *err = visit_step(step, v, type);

	if (err || uncertain)
		ownership_walk_failed(w, v, up, uncertain, err);
	else if (type->rule == VISIT_ENTRIES && step->n < step->count)
		ownership_unsearched(w->c,
		                     "all but the first %" PRIu64 " of %" PRIu64 " entries of %s",
		                     step->n, step->count, type_class_of(v.type)->name);
	else if (type->rule == VISIT_WIDE && (!step->behind.type || !step->exact))
		ownership_unsearched(w->c, "what is in a %s: the debug info does not describe it",
		                     type_class_of(v.type)->name);
}

static void ownership_walk_members(struct walk *w, struct value v, const struct ownership_step *up,
                                   bool uncertain)
{
	static const struct visit_type members = { .rule = VISIT_MEMBERS };

	ownership_walk_parts(w, v, &members, up, uncertain);
}

/*
 * Whether a variable of coroutine v may have been moved out. *borrows is filled in when it is
 * needed first; its coroutine's type is NULL before.
 */
static bool is_uncertain(struct walk *w, struct value v, const struct variant *active,
                         const struct ownership_local *l, bool flag_clear,
                         struct move_state_borrows *borrows)
{
	if (!l->uncertain && !(l->by_flags && flag_clear))
		return false;
	if (!borrows->coroutine.type)
		move_state_find_borrows(w->c, v, active, borrows);
	return !move_state_is_borrowed(borrows, (struct value){ l->type, v.addr + l->offset });
}

void ownership_walk_coroutine(struct walk *w, struct value v, const struct variant *active,
                              const struct ownership_step *up, bool uncertain)
{
	size_t n;
	const struct ownership_local *list = ownership_locals(w->c, v, active, &n);
	const struct found outer = w->template;
	bool flag_clear = n && move_state_flag_is_clear(w->c->in, v, active);
	struct move_state_borrows borrows;

	borrows.coroutine.type = NULL;
	for (size_t i = 0; i < n; i++) {
		struct ownership_step step = { .up = up, .name = list[i].name, .lasting = true };

		if (!ownership_walk_is_sought(w, list[i].type))
			continue;
		bool moved =
			!uncertain && is_uncertain(w, v, active, &list[i], flag_clear, &borrows);

		w->template.variable = list[i].name ? list[i].variable : outer.variable;
		w->template.within = (struct value){ list[i].type, v.addr + list[i].offset };
		w->template.by_move = moved;
		if (!list[i].hidden)
			ownership_walk_value(w, w->template.within, list[i].name ? &step : up,
			                     uncertain || moved);
	}
	w->template = outer;
}

/* Walks a coroutine that is no frame of the tree; then its awaitee is none either. */
static void walk_loose(struct walk *w, struct value v, const struct variant *active,
                       const struct ownership_step *up, bool uncertain)
{
	const struct member *awaitee =
		active->payload ? type_member(active->payload, "__awaitee") : NULL;

	ownership_walk_coroutine(w, v, active, up, uncertain);
	if (awaitee && awaitee->type && ownership_walk_is_sought(w, awaitee->type))
		ownership_walk_value(
			w,
			(struct value){ awaitee->type, v.addr + active->offset + awaitee->offset },
			up, uncertain);
}

/* A coroutine that no frame of the tree is. */
static void walk_loose_coroutine(struct walk *w, struct value v, const struct ownership_step *up,
                                 bool uncertain)
{
	const struct variant *active;
	struct error *err = value_variant(w->c->in->target, v, &active);

	if (err)
		ownership_walk_failed(w, v, up, uncertain, err);
	else
		walk_loose(w, v, active, up, uncertain);
}

static struct error *ownership_walk_read_count(struct walk *w, struct value v, const char *path,
                                               uint64_t *count)
{
	struct value at;
	bool found;

	TRY(inspector_eval(w->c->in, v, path, &at, &found));
	return found ? value_uint(w->c->in->target, at, count)
	             : error_new(ERR_LAYOUT, "no %s", path);
}

/* Findings of a search of a shared value for descriptors: a part of the list of findings. */
struct shared_owner {
	size_t first, n;
	size_t prefix; /* length of the path that led to the shared value first */
};

/* The path to a finding from another owner: `up` in place of the first prefix bytes of path. */
static const char *path_from(struct collector *c, const struct ownership_step *up, const char *path,
                             size_t prefix)
{
	const char *to = ownership_walk_path_text(c, up),
		   *rest = path && strlen(path) > prefix ? path + prefix : "";

	rest += !to && *rest == '.';
	if (!to)
		return *rest ? rest : NULL;
	return arena_printf(c->a, "%s%s%s", to, *rest && *rest != '.' && *rest != '[' ? "." : "",
	                    rest);
}

static void copy_common(struct walk *w, const struct shared_owner *known,
                        const struct ownership_step *up, bool uncertain)
{
	struct ownership_data *all = w->c->holdings;
	const size_t max = MAX_SHARED + w->c->out->ntasks * MAX_SHARED_EACH;

	for (size_t i = 0; i < known->n; i++) {
		if (all->list.n >= max) {
			all->shared_cut = true;
			return;
		}
		const struct found from = all->list.data[known->first + i];
		struct found *to = vec_push(&all->list);

		*to = w->template;
		to->row = from.row;
		to->h.role = from.h.role;
		to->h.kind = from.h.kind;
		to->h.type = from.h.type;
		to->h.addr = from.h.addr;
		to->h.fd = from.h.fd;
		to->h.shared = from.h.shared;
		to->h.uncertain = uncertain;
		to->trace |= uncertain;
		to->h.path = path_from(w->c, up, from.h.path, known->prefix);
	}
}

/*
 * Takes the descriptors in a value that several own, or one and others may. Each value is walked
 * once: the next owner gets what was found for the first one.
 */
static void walk_in_common(struct walk *w, struct value shared, bool several,
                           const struct ownership_step *up, bool uncertain)
{
	struct ownership_data *all = w->c->holdings;
	const uint64_t key = map_key_of_pair(shared.addr, (uintptr_t)shared.type);
	const bool only = w->only_descriptors, was_shared = w->template.h.shared;
	struct shared_owner *known;

	if (!(w->c->want & WANT_DESCRIPTORS) || !ownership_has_descriptor(shared.type))
		return;
	known = map_get(&all->shared, key);
	if (known) {
		copy_common(w, known, up, uncertain);
		return;
	}
	known = NEW(&w->c->scratch, struct shared_owner);
	map_put(&all->shared, key, known);
	const char *path = ownership_walk_path_text(w->c, up);
	known->prefix = path ? strlen(path) : 0;
	known->first = all->list.n;
	w->only_descriptors = true;
	w->template.h.shared |= several;
	ownership_walk_value(w, shared, up, uncertain);
	w->only_descriptors = only;
	w->template.h.shared = was_shared;
	known->n = all->list.n - known->first;
}

static void note_sharing(struct walk *w, struct value arc, struct value shared, uint64_t strong,
                         uint64_t weak)
{
	w->template.sharing.at = shared.addr;
	w->template.sharing.handle = arc.addr;
	w->template.sharing.strong = strong;
	w->template.sharing.weak = weak;
}

/*
 * Walks what an Arc or Rc shares if this is its only reference: with several, or with a Weak that
 * may be upgraded, the owner is unknown. A Notify, though, belongs to all that share it, and so do
 * descriptors.
 */
static void walk_what_is_shared(struct walk *w, struct value v, const struct ownership_step *up,
                                bool uncertain)
{
	static const char strong_path[] = "ptr.strong", weak_path[] = "ptr.weak";
	uint64_t strong = 0, weak = 0; /* all strong references together count as one weak */
	struct value shared;
	struct error *err = value_shared(w->c->in->target, v, &shared);

	if (!err && ownership_walk_takes_all(w) && type_class_of(shared.type)->rows.holding &&
	    type_class_of(shared.type)->rows.holding->shared) {
		error_free(ownership_walk_read_count(w, v, strong_path, &strong));
		error_free(ownership_walk_read_count(w, v, weak_path, &weak));
		note_sharing(w, v, shared, strong, weak);
		ownership_walk_take(w, shared, type_class_of(shared.type)->rows.holding, up,
		                    uncertain);
		return;
	}
	if (!err)
		err = ownership_walk_read_count(w, v, strong_path, &strong);
	if (!err)
		err = ownership_walk_read_count(w, v, weak_path, &weak);
	if (!err)
		note_sharing(w, v, shared, strong, weak);
	if (err)
		ownership_walk_failed(w, v, up, uncertain, err);
	else if (strong > 1)
		ownership_unsearched(w->c, "values shared through an %s",
		                     type_class_of(v.type)->name);
	else if (strong == 1 && weak > 1)
		ownership_unsearched(w->c, "values reached through a Weak as well as an %s",
		                     type_class_of(v.type)->name);
	else if (strong == 1)
		ownership_walk_value(w, shared, up, uncertain);
	if (!err && (strong > 1 || (strong == 1 && weak > 1)))
		walk_in_common(w, shared, strong > 1, up, uncertain);
}

static void walk_shared(struct walk *w, struct value v, const struct ownership_step *up,
                        bool uncertain)
{
	const struct found before = w->template;

	walk_what_is_shared(w, v, up, uncertain);
	w->template.sharing = before.sharing;
}

/* Children that a polled set polls are frames of the tree, and are not walked here. */
static void walk_set(struct walk *w, struct value v, const struct ownership_step *up,
                     bool uncertain)
{
	struct decoder d = { .c = w->c };
	child_vec list = { 0 };
	struct finder finder = { .d = &d, .out = &list, .branch = BRANCH_HELD };
	struct error *err = futures_unordered_find(&finder, v);

	for (size_t i = 0; i < list.n; i++) {
		struct ownership_step step = { .up = up, .index = i };

		if (list.data[i].v.addr)
			ownership_walk_value(w, list.data[i].v, &step, uncertain);
	}
	vec_free(&list);
	ownership_walk_failed(w, v, up, uncertain, err);
}

/* The output of a finished task lies in its cell until its JoinHandle takes it. */
static struct error *walk_output(struct walk *w, struct value v, const struct ownership_step *up,
                                 bool uncertain)
{
	const struct runtime *const *r = runtimes_of(v.type);
	struct value output;
	bool found = false;

	for (; *r && !found; r++) {
		if ((*r)->tasks.output)
			TRY((*r)->tasks.output(w->c, v, &output, &found));
	}
	if (!found)
		return NULL;
	struct ownership_step step = { .up = up, .name = "output" };
	if (ownership_walk_is_sought(w, output.type))
		ownership_walk_value(w, output, &step, uncertain);
	return NULL;
}

static void walk_special(struct walk *w, struct value v, const struct ownership_step *up,
                         bool uncertain)
{
	switch ((enum ownership_special)type_class_of(v.type)->special) {
	case SPECIAL_ACQUIRE:
		if (ownership_walk_takes_all(w))
			take_acquire(w, v, up, uncertain);
		break;
	case SPECIAL_JOIN:
		ownership_walk_failed(w, v, up, uncertain, walk_output(w, v, up, uncertain));
		break;
	case SPECIAL_SET:
		walk_set(w, v, up, uncertain);
		break;
	case SPECIAL_SHARED:
		walk_shared(w, v, up, uncertain);
		break;
	case SPECIAL_MEMBERS:
		ownership_walk_members(w, v, up, uncertain);
		break;
	case SPECIAL_ENTRIES:
		ownership_walk_parts(w, v, &type_class_of(v.type)->visit, up, uncertain);
		break;
	case SPECIAL_HIDDEN:
		ownership_unsearched(w->c, "what is in a %s", type_class_of(v.type)->name);
		break;
	case SPECIAL_NONE:
		break;
	}
}

/* Takes a reference to a shared type, such as a Notify, as if it were owned. */
static void walk_pointer(struct walk *w, struct value v, const struct ownership_step *up,
                         bool uncertain)
{
	if (ownership_is_box(v.type)) {
		ownership_walk_parts(w, v, &type_class_of(v.type)->visit, up, uncertain);
		return;
	}
	struct value behind = { type_target(v.type), 0 };
	struct error *err = target_read_uint(w->c->in->target, v.addr, 8, &behind.addr);

	if (!err && behind.addr && ownership_walk_takes_all(w))
		ownership_walk_take(w, behind, type_class_of(behind.type)->rows.holding, up,
		                    uncertain);
	ownership_walk_failed(w, v, up, uncertain, err);
}

/* Walks what a guard gives access to, and owns: a connection may have a channel's end. */
static struct error *walk_content(struct walk *w, struct value v, const char *path,
                                  const struct ownership_step *up, bool uncertain)
{
	struct value content;
	bool found;

	TRY(inspector_eval(w->c->in, v, path, &content, &found));
	if (found)
		ownership_walk_value(w, content, up, uncertain);
	return NULL;
}

static struct error *take_descriptor(struct walk *w, struct value v,
                                     const struct ownership_step *up, bool uncertain)
{
	enum { MAX_FD = 1 << 24 };
	struct value named = w->named.type ? w->named : v;
	uint64_t number;

	TRY(value_uint(w->c->in->target, v, &number));
	if (number > MAX_FD)
		return NULL;
	struct found *f = ownership_walk_add(w, named, w->named.type ? w->named_up : up, uncertain);
	f->row = type_class_of(v.type)->rows.holding;
	f->h.role = HOLDING_DESCRIPTOR;
	f->h.kind = f->row->kind;
	f->h.fd = (int)number;
	return NULL;
}

/* Is a value of the type nothing but the number of a descriptor, in as many structs as it may be?
 */
static bool ownership_walk_is_number(const struct type *t)
{
	for (int hop = 0; t && hop < MAX_HOPS; hop++) {
		if (type_kind(t) == TYPE_INT)
			return type_size(t) == sizeof(int);
		const struct member *m = type_kind(t) == TYPE_STRUCT ? type_single_member(t) : NULL;
		t = m ? m->type : NULL;
	}
	return false;
}

/* A value that owns a descriptor, under the name that the program has for it. */
static void walk_descriptor(struct walk *w, struct value v, const struct ownership_step *up,
                            bool uncertain)
{
	const struct value named = w->named;
	const struct ownership_step *named_up = w->named_up;

	if (ownership_walk_is_number(v.type)) {
		ownership_walk_failed(w, v, up, uncertain, take_descriptor(w, v, up, uncertain));
		return;
	}
	if (!named.type) {
		w->named = v;
		w->named_up = up;
	}
	ownership_walk_members(w, v, up, uncertain);
	w->named = named;
	w->named_up = named_up;
}

static void walk_row(struct walk *w, struct value v, const struct ownership_row *row,
                     const struct ownership_step *up, bool uncertain)
{
	bool taken = !ownership_walk_takes_all(w) || ownership_walk_take(w, v, row, up, uncertain);

	if (taken && row->queue)
		ownership_walk_failed(w, v, up, uncertain,
		                      ownership_walk_messages(w, v, up, uncertain));
	if (row->content)
		ownership_walk_failed(w, v, up, uncertain,
		                      walk_content(w, v, row->content, up, uncertain));
}

static void walk_kind(struct walk *w, struct value v, const struct ownership_step *up,
                      bool uncertain)
{
	const struct type_class *type_class = type_class_of(v.type);
	const struct ownership_row *row = type_class->rows.holding;

	if (row && row->role == HOLDING_DESCRIPTOR) {
		walk_descriptor(w, v, up, uncertain);
		return;
	}
	if (row) {
		walk_row(w, v, row, up, uncertain);
		return;
	}
	if (ownership_walk_takes_all(w))
		take_pooled(w, v, up, uncertain);
	if (type_class->special) {
		walk_special(w, v, up, uncertain);
		return;
	}
	if (type_class->visit.rule == VISIT_POINTER)
		walk_pointer(w, v, up, uncertain);
	else if (type_class->forms.coroutine)
		walk_loose_coroutine(w, v, up, uncertain);
	else
		ownership_walk_parts(w, v, &type_class->visit, up, uncertain);
}

static void walk_bounded(struct walk *w, struct value v, const struct ownership_step *up,
                         bool uncertain)
{
	if (w->depth >= MAX_DEPTH || w->visited >= MAX_VISITED) {
		ownership_unsearched(w->c, "all that %s leads to: the limit was reached",
		                     type_class_of(v.type)->name);
		return;
	}
	if (!ownership_within_budget(w->c))
		return;
	w->c->holdings->visited++;
	w->visited++;
	w->depth++;
	walk_kind(w, v, up, uncertain);
	w->depth--;
}

/* Is it a frame of the tree? Each is searched on its own; a socket belongs to its variable. */
static bool is_frame(struct walk *w, struct value v)
{
	const struct ownership_row *row = type_class_of(v.type)->rows.holding;
	enum type_kind kind = type_kind(v.type);

	ownership_note_frames(w);
	return w->frames.n && (kind == TYPE_STRUCT || kind == TYPE_ENUM) &&
	       !(row && row->role == HOLDING_DESCRIPTOR) &&
	       map_has(&w->frames, ownership_frame_key(v));
}

static void ownership_walk_value(struct walk *w, struct value v, const struct ownership_step *up,
                                 bool uncertain)
{
	struct ownership_data *all = w->c->holdings;
	const bool quiet = all->quiet;

	if (!ownership_walk_is_sought(w, v.type) || is_frame(w, v))
		return;
	all->quiet |= !ownership_walk_takes_all(w) || !ownership_is_inside(v.type);
	walk_bounded(w, v, up, uncertain);
	all->quiet = quiet;
}

void ownership_walk(struct walk *w, struct value v, const struct ownership_step *up, bool uncertain)
{
	ownership_walk_value(w, v, up, uncertain);
}

/*
 * A leaf holds nothing that others wait for but what its own row, or its kind of lock future, says.
 * What is a socket itself belongs to the variable that it is in.
 */
void ownership_walk_root(struct walk *w, struct value v, bool uncertain)
{
	const struct type_class *type_class = type_class_of(v.type);
	const struct ownership_row *row = type_class->rows.holding;
	const bool only = w->only_descriptors, quiet = w->c->holdings->quiet;

	if (row && row->role == HOLDING_DESCRIPTOR)
		return;
	w->only_descriptors |= type_class->rows.leaf && !row && !type_class->special;
	w->c->holdings->quiet |= !ownership_walk_takes_all(w) || !ownership_is_inside(v.type);
	if (ownership_walk_is_sought(w, v.type))
		walk_bounded(w, v, NULL, uncertain);
	w->only_descriptors = only;
	w->c->holdings->quiet = quiet;
}
