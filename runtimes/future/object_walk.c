#include "runtimes/future/object_walk.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/values/unwrap_newtype.h"
#include "runtimes/common/behind_wide.h"
#include "runtimes/common/may_poll.h"
#include "runtimes/common/type_class.h"
#include "runtimes/common/waker.h"
#include "runtimes/future/combinator.h"
#include "runtimes/future/io_direction.h"
#include "runtimes/future/leaf.h"
#include "runtimes/future/sibling_resources.h"

enum {
	MAX_VALUES = 1 << 13, /* for one future */
	MAX_NEAR = 1 << 9,    /* the same for object_walk_near() */
	MAX_ALL = 1 << 21,    /* for a snapshot; each of its tasks adds MAX_EACH */
	MAX_EACH = 64,
	MAX_DEPTH = 1 << 10,  /* members and pointers in one chain */
	MAX_TYPE_DEPTH = 40,  /* members in members; what is deeper is visited */
	FIRST_ELEMENTS = 256, /* of one container; the rest is visited after all else */
	MAX_HOPS = 8,         /* structs around a pointer */
};

/*
 * The walk stops at these types: they lead to the runtime itself and to other tasks, and so to
 * almost everything in the program.
 */
static const char *const borders[] = {
	"core::fmt::",
	"tracing_core::",
	"std::thread::",
	"core::task::wake::",
};

bool object_walk_is_boundary(const struct type *t)
{
	const char *name = type_name(t);

	if (str_begins_with_any(name, borders))
		return true;
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		if (runtime_begins_with_one(name, (*crate)->boundaries))
			return true;
	}
	return type_is_coroutine(t);
}

struct object_walk_state {
	struct collector *c;
	struct reach *r;
	struct map seen;   /* pointer targets that were visited */
	VEC(size_t) large; /* containers of which the first elements were added */
};

static const char too_many[] =
	"it may poll more futures: it leads to more values than were searched";
static const char too_deep[] = "it may poll more futures: what it leads to nests too deep";
static const char not_ended[] =
	"it may poll more futures: it leads to a collection that cannot be searched to its end";
static const char too_late[] = "it may poll more futures: too many values were searched for others";

/* Records that a limit has left out a value that the future owns, or shares with others. */
static void object_walk_cut(struct object_walk_state *w, const struct type *t, bool owned,
                            const char *limit)
{
	w->r->cut = true;
	w->r->complete = false;
	if (!w->r->limit && (owned || may_poll(t)))
		w->r->limit = limit;
}

/* Returns false where a limit leaves it out. */
static bool object_walk_add(struct object_walk_state *w, struct value v, size_t from,
                            const char *name, bool exclusive)
{
	struct reach *r = w->r;
	unsigned depth = r->list[from].depth + 1;
	bool owned = exclusive && r->list[from].exclusive, full = r->n == r->capacity;

	if (!v.type || type_size(v.type) == 0)
		return true;
	if (full || depth > MAX_DEPTH) {
		object_walk_cut(w, v.type, owned, full ? too_many : too_deep);
		return false;
	}
	r->list[r->n++] = (struct reached){ v, from, name, depth, owned };
	return true;
}

/* Records that the future leads to something that the walk cannot enter: "the TYPE" and why. */
static void object_walk_hide(struct object_walk_state *w, size_t at, const char *before,
                             const char *after)
{
	struct reach *r = w->r;

	if (r->hidden)
		return;
	const char *path = object_walk_path(w->c, r, at);
	r->hidden = arena_printf(w->c->a, "it may poll more futures: %sthe %s%s%s%s%s", before,
	                         type_class_of(r->list[at].v.type)->name, *path ? " at `" : "",
	                         path, *path ? "`" : "", after);
}

/*
 * Whether the target of a pointer may be anything: collections (hashbrown, VecDeque) keep untyped
 * storage behind a pointer to bytes. In a string slice the target really is bytes.
 */
static bool hides_its_target(const struct object_walk_state *w, size_t from)
{
	const struct reached *at = &w->r->list[from];
	const struct type *target = type_target(at->v.type);
	const struct type *holder = w->r->list[at->from].v.type;

	if (!target || type_kind(target) == TYPE_FUNCTION)
		return false;
	if (type_kind(target) == TYPE_OPAQUE)
		return true;
	return type_size(target) <= 1 && !(holder && type_class_of(holder)->forms.slice);
}

/* Whether a value of the type is a plain number, which leads nowhere. */
static bool object_walk_is_number(const struct type *t)
{
	return type_kind(t) < TYPE_POINTER;
}

/* The element of a container, or of a slice that others may have, too; NULL: none is of interest.
 */
static const struct type *object_walk_element_of(const struct type *t)
{
	const struct type_class *class = type_class_of(t);
	const struct member *data = class->forms.slice ? type_member(t, "data_ptr") : NULL;
	const struct type *element = data && data->type ? type_target(data->type) : NULL;

	return class->visit.element           ? class->visit.element
	       : element && may_poll(element) ? element
	                                      : NULL;
}

/* A value of which the walk adds what it leads to. */
struct object_walk_step {
	struct visit visit;
	struct object_walk_state *w;
	size_t from;
	bool owned; /* what it leads to is the value's own, or borrowed by &mut */
};

/* Is what a value leads to its own? That of a reference that is not &mut belongs to others, too. */
static bool object_walk_owns(const struct type *t, enum visit_rule rule)
{
	const struct type_class *class = type_class_of(t);

	switch (rule) {
	case VISIT_ELEMENTS:
		return class->visit.element != NULL;
	case VISIT_POINTER:
		return class->behind != NULL;
	case VISIT_WIDE:
		return class->forms.box || strncmp(type_name(t), "&mut ", 5) == 0;
	default:
		return true;
	}
}

/* Adds a part of the value, unless it is behind a pointer, and was added or is of unknown type. */
static bool object_walk_add_part(const struct visited *at, void *arg)
{
	const struct object_walk_step *s = arg;
	bool pointer = at->rule == VISIT_WIDE || at->rule == VISIT_POINTER;

	if (pointer &&
	    (!s->visit.exact ||
	     !map_put(&s->w->seen, map_key_of_pair(at->v.addr, (uintptr_t)at->v.type), NULL)))
		return true;
	return object_walk_add(s->w, at->v, s->from, NULL, s->owned);
}

/* Notes what a step has left out of a value. first: it began there. */
static void object_walk_note_rest(struct object_walk_step *s, enum visit_rule rule, uint64_t first)
{
	struct object_walk_state *w = s->w;
	const struct visit *visited = &s->visit;

	if (rule == VISIT_WIDE && (!visited->behind.type || !visited->exact)) {
		w->r->complete = false;
		if (visited->behind.addr)
			object_walk_hide(w, s->from, "no debug info says what is in ", "");
	}
	if (visited->n == visited->count)
		return;
	if (!first && visited->n == FIRST_ELEMENTS)
		*vec_push(&w->large) = s->from;
	else if (rule == VISIT_ENTRIES)
		object_walk_cut(w, w->r->list[s->from].v.type, w->r->list[s->from].exclusive,
		                not_ended);
}

/* Adds what a value leads to, of a collection the elements from first on. */
static void object_walk_add_parts(struct object_walk_state *w, size_t from,
                                  const struct visit_type *type, uint64_t first)
{
	const struct value v = w->r->list[from].v;
	struct object_walk_step s = { .w = w,
		                      .from = from,
		                      .owned = object_walk_owns(v.type, type->rule) };

	s.visit = behind_wide_visit(w->c, object_walk_add_part, &s);
	s.visit.first = first;
	s.visit.end = first ? first + w->r->capacity : FIRST_ELEMENTS;
	struct error *err = visit_step(&s.visit, v, type);

	if (err)
		w->r->complete = false;
	if (!err || type->rule == VISIT_ENTRIES)
		object_walk_note_rest(&s, type->rule, first);
	error_free(err);
}

/* A pointer that says nothing of its target, or has none that leads on, is not followed. */
static void object_walk_add_behind(struct object_walk_state *w, size_t from)
{
	const struct type *t = w->r->list[from].v.type, *target = type_target(t);

	if (hides_its_target(w, from))
		w->r->complete = false;
	if (target && type_kind(target) != TYPE_FUNCTION && type_size(target) > 1)
		object_walk_add_parts(w, from, &type_class_of(t)->visit, 0);
}

static bool object_walk_has_no_polls(const struct type *t, int depth);

/* Whether the elements, keys and values of a collection that is no slice lead nowhere. */
static bool entries_have_no_polls(const struct type *t, int depth)
{
	static const char *const params[] = { "T", "K", "V" };
	bool known = false;

	for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++) {
		const struct type *part = type_param(t, params[i]);

		if (part && !object_walk_has_no_polls(part, depth))
			return false;
		known |= part != NULL;
	}
	return known;
}

/*
 * Whether values of the type lead nowhere: numbers, and structs of numbers. An enum is not
 * terminal: its bytes may be no valid value, and the walk must notice that.
 */
static bool object_walk_has_no_polls(const struct type *t, int depth)
{
	struct type_class *type_class = type_class_of(t);
	const struct type *element = type_class->visit.element;
	const struct member *members;
	bool terminal = type_class->visit.rule == VISIT_NOTHING;
	size_t n;

	if (type_class->answers.terminal != UNDECIDED)
		return type_class->answers.terminal == YES;
	if (depth > MAX_TYPE_DEPTH)
		return false;
	/* A type that contains itself is corrupt debug info: this ends the recursion. */
	type_class->answers.terminal = NO;
	if (type_kind(t) == TYPE_STRUCT && type_class->visit.rule == VISIT_MEMBERS) {
		members = type_members(t, &n);
		terminal = !type_class->rows.resource && !type_class->forms.waker;
		for (size_t i = 0; i < n && terminal; i++)
			terminal = !members[i].type || type_size(members[i].type) == 0 ||
			           object_walk_has_no_polls(members[i].type, depth + 1);
	}
	if (type_class->visit.rule == VISIT_ELEMENTS)
		terminal = object_walk_has_no_polls(element, depth + 1);
	if (type_class->visit.rule == VISIT_ENTRIES)
		terminal = entries_have_no_polls(t, depth + 1);
	type_class->answers.terminal = terminal ? YES : NO;
	return terminal;
}

/* Caches the members of a struct that are not terminal. */
static const struct type_class *fertile_members(const struct type *t)
{
	struct type_class *type_class = type_class_of(t);
	VEC(const struct member *) list = { 0 };
	const struct member *members;
	size_t n;

	if (type_class->members_known)
		return type_class;
	members = type_members(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (members[i].type && type_size(members[i].type) &&
		    !object_walk_has_no_polls(members[i].type, 0))
			*vec_push(&list) = &members[i];
	}
	type_class->nmembers = list.n;
	type_class->members = vec_to_arena(&list, &type_module(t)->di->arena);
	type_class->members_known = true;
	return type_class;
}

/* "unsafe fn(*mut (), &mut core::task::wake::Context) -> core::task::poll::Poll<()>" */
static bool is_poll_function(const struct type *t)
{
	const struct type *function = type_kind(t) == TYPE_POINTER ? type_target(t) : NULL;

	return function && type_kind(function) == TYPE_FUNCTION &&
	       strstr(type_name(t), "&mut core::task::wake::Context");
}

/* Whether a member is such a function, or leads to a table of functions with one. */
static bool leads_to_poll_function(const struct type *t)
{
	const struct type *table = type_kind(t) == TYPE_POINTER ? type_target(t) : NULL;
	const struct member *members;
	size_t n = 0;

	if (is_poll_function(t))
		return true;
	members = table && type_kind(table) == TYPE_STRUCT ? type_members(table, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		if (members[i].type && is_poll_function(members[i].type))
			return true;
	}
	return false;
}

/* A pointer to bytes or to (), in as many structs as it may be. */
static bool is_untyped_pointer(const struct type *t)
{
	for (int hop = 0; t && hop < MAX_HOPS; hop++) {
		if (type_kind(t) == TYPE_POINTER)
			return type_target(t) && type_kind(type_target(t)) != TYPE_FUNCTION &&
			       type_size(type_target(t)) <= 1;
		const struct member *m = type_kind(t) == TYPE_STRUCT ? type_single_member(t) : NULL;
		t = m ? m->type : NULL;
	}
	return false;
}

/*
 * Whether a struct is a trait object that somebody made by hand: a pointer that says nothing of its
 * target, beside a function that polls.
 */
static bool is_erased_by_hand(const struct type *t)
{
	struct type_class *type_class = type_class_of(t);
	bool pointer = false, polls = false;
	const struct member *members;
	size_t n = 0;

	if (type_class->answers.by_hand != UNDECIDED)
		return type_class->answers.by_hand == YES;
	members = type_kind(t) == TYPE_STRUCT ? type_members(t, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		if (!members[i].type)
			continue;
		pointer |= is_untyped_pointer(members[i].type);
		polls |= leads_to_poll_function(members[i].type);
	}
	type_class->answers.by_hand = pointer && polls ? YES : NO;
	return pointer && polls;
}

static void add_members(struct object_walk_state *w, size_t from)
{
	struct value v = w->r->list[from].v;
	const struct type_class *type_class;

	if (type_kind(v.type) == TYPE_ENUM) {
		const struct variant *active;
		struct error *err = value_variant(w->c->in->target, v, &active);

		if (err) {
			w->r->complete = false;
			error_free(err);
			return;
		}
		v = value_payload(v, active);
		if (!v.type)
			return;
	}
	if (is_erased_by_hand(v.type))
		object_walk_hide(w, from, "", " has a poll function beside an untyped pointer");
	type_class = fertile_members(v.type);
	for (size_t i = 0; i < type_class->nmembers; i++) {
		const struct member *m = type_class->members[i];

		object_walk_add(w, (struct value){ m->type, v.addr + m->offset }, from, m->name,
		                true);
	}
}

/* Adds what a collection leads to. Returns false for a value that is none. */
static bool object_walk_add_collection(struct object_walk_state *w, size_t at, uint64_t first)
{
	const struct type *t = w->r->list[at].v.type;
	const struct visit_type elements = { .rule = VISIT_ELEMENTS,
		                             .element = object_walk_element_of(t) };
	const struct visit_type *known = &type_class_of(t)->visit;

	if (!elements.element && known->rule != VISIT_ENTRIES)
		return false;
	if (!elements.element)
		object_walk_add_parts(w, at, known, first);
	else if (!object_walk_is_number(elements.element))
		object_walk_add_parts(w, at, &elements, first);
	return true;
}

static void expand(struct object_walk_state *w, size_t at)
{
	const struct visit_type *type = &type_class_of(w->r->list[at].v.type)->visit;

	if (object_walk_add_collection(w, at, 0))
		return;
	switch (type->rule) {
	case VISIT_WIDE:
		object_walk_add_parts(w, at, type, 0);
		break;
	case VISIT_POINTER:
		object_walk_add_behind(w, at);
		break;
	case VISIT_MEMBERS:
		add_members(w, at);
		break;
	case VISIT_OPAQUE:
		w->r->complete = false;
		break;
	default:
		break;
	}
}

/* Visits list[i..]. */
static void visit_from(struct object_walk_state *w, size_t i, object_walk_fn *visit, void *arg)
{
	struct reach *r = w->r;

	for (; i < r->n; i++) {
		if (i == 0 || (visit(&r->list[i], i, arg) &&
		               !type_class_of(r->list[i].v.type)->forms.boundary))
			expand(w, i);
	}
}

/* spent: the number of values that all walks of this kind have visited in this snapshot. */
static void object_walk_from(struct collector *c, struct value v, size_t *spent,
                             object_walk_fn *visit, void *arg, struct reach *ret)
{
	struct object_walk_state w = { .c = c, .r = ret };

	if (!c->reach.list && !(c->reach.list = calloc(MAX_VALUES, sizeof(*c->reach.list))))
		out_of_memory();
	ret->list = c->reach.list;
	ret->list[ret->n++] = (struct reached){ .v = v, .exclusive = true };
	if (*spent > MAX_ALL + MAX_EACH * c->out->ntasks) {
		object_walk_cut(&w, v.type, true, too_late);
	} else {
		visit_from(&w, 0, visit, arg);
		for (size_t i = 0; i < w.large.n; i++) {
			size_t before = ret->n;

			object_walk_add_collection(&w, w.large.data[i], FIRST_ELEMENTS);
			visit_from(&w, before, visit, arg);
		}
		*spent += ret->n;
	}
	vec_free(&w.large);
	map_free(&w.seen);
}

void object_walk(struct collector *c, struct value v, object_walk_fn *visit, void *arg,
                 struct reach *ret)
{
	*ret = (struct reach){ .capacity = MAX_VALUES, .complete = true };
	object_walk_from(c, v, &c->reach.n, visit, arg, ret);
}

void object_walk_near(struct collector *c, struct value v, object_walk_fn *visit, void *arg,
                      struct reach *ret)
{
	*ret = (struct reach){ .capacity = MAX_NEAR, .complete = true };
	object_walk_from(c, v, &c->reach.nnear, visit, arg, ret);
}

/* Whether a member's name is useful in a path: those of std's wrappers and of tuples are not. */
static bool object_walk_is_informative(const char *name)
{
	static const char *const dull[] = { "__0",  "pointer", "__pointer", "ptr",
		                            "data", "value",   "data_ptr",  "cell" };

	for (size_t i = 0; name && i < sizeof(dull) / sizeof(dull[0]); i++) {
		if (strcmp(name, dull[i]) == 0)
			return false;
	}
	return name != NULL;
}

const char *object_walk_path(struct collector *c, const struct reach *r, size_t index)
{
	VEC(const char *) names = { 0 };
	STR(text);

	for (size_t at = index; at != 0; at = r->list[at].from) {
		if (object_walk_is_informative(r->list[at].name))
			*vec_push(&names) = r->list[at].name;
	}
	for (size_t i = names.n; i-- > 0;)
		str_printf(&text, "%s%s", text.len ? "." : "", names.data[i]);
	vec_free(&names);
	return inspector_clean_name(c->a, str_text(&text));
}

/* ---- the resources and wakers of a future ---- */

struct resource {
	size_t at;
	struct future *f;
	enum resource_waker waker;
	bool exclusive;
	bool certain; /* the future's type shows that it reads or writes this resource */
};

struct object_walk_search {
	struct decoder *d;
	const struct reach *r; /* the walk in progress */
	VEC(struct resource) resources;
	VEC(size_t) wakers; /* places that hold this task's waker */
	bool explains;      /* futures are noted, too */
	bool unknown;       /* what the future waits for was not found */
	sibling_futures futures;
};

static void free_search(struct object_walk_search *s)
{
	vec_free(&s->resources);
	vec_free(&s->wakers);
	vec_free(&s->futures);
}

static bool object_walk_note_waker(struct object_walk_search *s, const struct reached *at,
                                   size_t index)
{
	struct waker w;
	struct error *err = waker_read(s->d->c, at->v, &w);

	if (!err && s->d->waker && w.data == s->d->waker)
		*vec_push(&s->wakers) = index;
	error_free(err);
	return false;
}

struct future *object_walk_resource(struct collector *c, struct value v)
{
	struct future *f = NEW(c->a, struct future);

	f->kind = FUTURE_OTHER;
	f->await_point = -1;
	f->addr = v.addr;
	f->type = type_class_of(v.type)->name;
	f->function = type_class_function(v.type);
	f->edge = "waits";
	return f;
}

/* Does the wait of resource v describe the one inside it? */
static bool is_described(const struct future *f, struct value v)
{
	return type_class_of(v.type)->rows.resource->whole && f->wait && f->wait->object != v.addr;
}

/*
 * Whether a coroutine or a leaf is there. One that others can poll counts if it has the task's
 * waker: async-net's UnixStream has the leaf of its reader in itself, and the halves of io::split()
 * have the stream in an Arc.
 */
static bool object_walk_is_future(const struct reached *at)
{
	const struct type_class *type_class = type_class_of(at->v.type);

	return type_class->forms.coroutine || (type_class->rows.leaf && !type_class->rows.resource);
}

static bool object_walk_look(const struct reached *at, size_t index, void *arg)
{
	struct object_walk_search *s = arg;

	if (type_class_of(at->v.type)->forms.waker)
		return object_walk_note_waker(s, at, index);
	if (s->explains && object_walk_is_future(at)) {
		sibling_note_future(&s->futures, s->d, s->d->c->decoding.regions.n, at);
		return false;
	}
	if (s->explains && futures_unordered_is_type(at->v.type)) {
		sibling_note_stream(&s->futures, s->d, s->d->c->decoding.regions.n, at);
		return false;
	}
	if (!leaf_is_resource(at->v.type))
		return true;
	struct future *f = object_walk_resource(s->d->c, at->v);
	s->d->direction = io_direction(s->r, index);
	bool certain = s->d->direction.sure != 0;
	enum resource_waker waker = leaf_decode_resource(s->d, at->v, f);
	s->d->direction = (struct io_direction){ 0 };
	if (waker != WAKER_OURS && type_class_of(at->v.type)->rows.resource->passage)
		return true;
	*vec_push(&s->resources) = (struct resource){ index, f, waker, at->exclusive, certain };
	/* If no waker of the task was found in it, resources inside it may have one. */
	return waker != WAKER_OURS && !certain && !is_described(f, at->v);
}

/* Keeps the resources that the future certainly reads or writes. Returns their number. */
static size_t choose_certain(struct object_walk_search *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->resources.n; i++) {
		if (s->resources.data[i].certain)
			s->resources.data[n++] = s->resources.data[i];
	}
	return n;
}

/*
 * Keeps the resources that the future waits for and returns their number. First choice: those that
 * contain this task's waker. Second: those that it certainly reads or writes. Third: the only
 * exclusive one, if the task still has a waker somewhere and this resource may have contained it.
 */
static size_t object_walk_choose(struct object_walk_search *s)
{
	size_t n = 0, nexclusive = 0, only = 0;

	for (size_t i = 0; i < s->resources.n; i++) {
		if (s->resources.data[i].waker == WAKER_OURS)
			s->resources.data[n++] = s->resources.data[i];
	}
	if (n == 0 && (s->d->unpolled || !s->d->forgotten))
		n = choose_certain(s);
	if (n || s->d->forgotten)
		return n;
	for (size_t i = 0; i < s->resources.n; i++) {
		if (s->resources.data[i].exclusive) {
			nexclusive++;
			only = i;
		}
	}
	if (nexclusive != 1 || (s->d->idle && s->resources.data[only].waker == WAKER_NONE))
		return 0;
	s->resources.data[0] = s->resources.data[only];
	return 1;
}

static void use_resources(struct object_walk_search *s, size_t n, struct value v, struct future *f)
{
	if (n == 1) {
		f->wait = s->resources.data[0].f->wait;
		f->problem = s->resources.data[0].f->problem;
		f->problem_parts = s->resources.data[0].f->problem_parts;
		if (f->wait)
			f->wait->within = !type_class_of(v.type)->forms.poll_fn;
		return;
	}
	f->children = NEW_ARRAY(s->d->c->a, struct future *, n);
	for (size_t i = 0; i < n; i++)
		f->children[f->nchildren++] = s->resources.data[i].f;
}

/*
 * The text for places that hold the waker: "a.waker", "a.waker and b.slots.waker", "a, b, c and 2
 * other places". Equal paths are printed once; a waker without a path is named by its type.
 */
static const char *waker_places(struct decoder *d, const struct reach *r, const size_t *places,
                                const char *const *paths, size_t n)
{
	enum { MAX_SHOWN = 3 };
	const char *names[MAX_SHOWN] = { NULL };
	size_t shown = 0, left = 0;
	STR(text);

	for (size_t i = 0; i < n; i++) {
		const char *name =
			*paths[i] ? paths[i] : type_class_of(r->list[places[i]].v.type)->name;
		bool known = false;

		for (size_t k = 0; k < shown; k++)
			known |= strcmp(names[k], name) == 0;
		if (!known && shown < MAX_SHOWN)
			names[shown++] = name;
		else
			left += !known;
	}
	for (size_t i = 0; i < shown; i++)
		str_printf(&text, "%s%s",
		           i == 0                  ? ""
		           : i + 1 < shown || left ? ", "
		                                   : " and ",
		           names[i]);
	if (left)
		str_printf(&text, " and " MARKED_NUMBER("%zu") " other place%s", left,
		           left > 1 ? "s" : "");
	return arena_strdup(d->c->a, str_text(&text));
}

void object_walk_report_wakers(struct decoder *d, const struct reach *r, const size_t *places,
                               size_t n, struct future *f)
{
	const char **paths = NEW_ARRAY(d->c->a, const char *, n);
	struct leaf l = { .d = d, .f = f, .w = NEW(d->c->a, struct wait) };

	l.w->object = f->addr;
	l.w->anonymous = true;
	l.w->kind = "waker";
	l.w->armed = d->in_set ? d->set_armed : WAKER_REGISTERED_YES;
	for (size_t i = 0; i < n; i++) {
		paths[i] = object_walk_path(d->c, r, places[i]);
		*vec_push(&d->c->decoding.reported_wakers) = r->list[places[i]].v.addr;
	}
	wait_list(&l, "wakers", paths, n);
	wait_phrase(&l, "its waker is in %s", waker_places(d, r, places, paths, n));
	f->wait = l.w;
}

/*
 * The name of the only member of a value, where that is an empty Option of a future: the value then
 * holds nothing that it could poll, as a fuse whose future has ended. NULL: it is not so.
 */
static const char *empty_member(struct decoder *d, struct value v)
{
	const struct member *m = type_single_member(v.type);
	struct unwrapped_newtype option =
		m ? unwrap_newtype(m->type) : (struct unwrapped_newtype){ NULL, NULL };
	const struct variant *active;

	if (!m || !m->name || !option.variant || !future_is_or_has(d->c->in, m->type))
		return NULL;
	struct value member = { m->type, v.addr + m->offset };
	struct error *err = value_variant(d->c->in->target, member, &active);
	bool empty = !err && active != option.variant;
	error_free(err);
	return empty ? m->name : NULL;
}

static void use_wakers(struct object_walk_search *s, const struct reach *r, struct value v,
                       struct future *f)
{
	struct leaf l = { .d = s->d, .v = v, .f = f };

	if (s->wakers.n) {
		object_walk_report_wakers(s->d, r, s->wakers.data, s->wakers.n, f);
		f->wait->within = true;
		return;
	}
	l.w = f->wait = NEW(s->d->c->a, struct wait);
	l.w->object = v.addr;
	l.w->within = l.w->anonymous = true;
	l.w->armed = s->d->forgotten ? WAKER_REGISTERED_NO : WAKER_REGISTERED_UNKNOWN;
	const char *empty = empty_member(s->d, v);
	if (r->complete && s->d->forgotten) {
		l.w->kind = "nothing";
		wait_phrase(&l, "nothing reachable can wake it");
	} else if (empty) {
		l.w->kind = "empty";
		wait_phrase(&l, "it holds no future: its `%s` is None", empty);
	} else {
		l.w->kind = "unknown";
		wait_phrase(&l, "what it waits for is not known");
		s->unknown = true;
	}
}

/* Adds the frames of n resources that were chosen, or else one for all places that hold the waker.
 */
static void own_frames(struct object_walk_search *s, size_t n, struct future *explained,
                       frame_vec *ret)
{
	for (size_t i = 0; i < n; i++)
		*vec_push(ret) = s->resources.data[i].f;
	if (n || s->wakers.n == 0)
		return;
	struct future *waker = object_walk_resource(s->d->c, s->r->list[s->wakers.data[0]].v);
	waker->wait = explained->wait;
	*vec_push(ret) = waker;
}

/*
 * For opaque_waits_explain(): f, the future v, may wait for more than the walk has found. resource:
 * the frame of the only resource that was found; NULL: there are none, or several.
 */
static void note_opaque(const struct object_walk_search *s, struct value v, struct future *f,
                        struct future *resource)
{
	struct decoder *d = s->d;

	if (!d->waker || d->unpolled || d->forgotten || (f->wait && !s->unknown && !resource))
		return;
	*vec_push(&d->c->opaque.waits) = (struct opaque_wait){ f, resource, s->unknown, d->waker,
		                                               io_direction_wanted(v.type) };
}

/* Whether leaves have rows for the types around all wakers that were found. */
static bool wakers_are_covered(const struct object_walk_search *s)
{
	for (size_t i = 0; i < s->wakers.n; i++) {
		if (!sibling_is_covered(s->r->list, s->wakers.data[i]))
			return false;
	}
	return s->wakers.n != 0;
}

/* Whether one of the frames from index first on has the task's waker. */
static bool frames_have_our_waker(const frame_vec *frames, size_t first)
{
	for (size_t i = first; i < frames->n; i++) {
		if (sibling_has_our_waker(frames->data[i]))
			return true;
	}
	return false;
}

const char *object_walk_explain(struct decoder *d, struct value v, struct future *f)
{
	struct reach r;
	struct object_walk_search s = { .d = d, .r = &r, .explains = true };
	struct future explained = *f;
	frame_vec frames = { 0 };

	object_walk(d->c, v, object_walk_look, &s, &r);
	size_t n = object_walk_choose(&s);
	if (n)
		use_resources(&s, n, v, &explained);
	else
		use_wakers(&s, &r, v, &explained);
	/* Decoding the futures ends the walk, whose list own_frames() reads. */
	bool opaque = s.unknown || !r.complete;
	if (s.futures.n || opaque)
		own_frames(&s, n, &explained, &frames);
	bool covered = n == 0 && frames.n && wakers_are_covered(&s);
	size_t own = frames.n;
	sibling_decode_futures(d, &s.futures, &frames);
	/* The leaf that the waker was stored for tells more than its place. */
	if (covered && frames_have_our_waker(&frames, own)) {
		frames.n -= own;
		memmove(frames.data, frames.data + own, frames.n * sizeof(*frames.data));
		own = 0;
	}
	if (frames.n == own) {
		*f = explained;
	} else {
		for (size_t i = 0; i < own; i++)
			frames.data[i]->wait->within = false;
		f->nchildren = (unsigned)frames.n;
		f->children = arena_memdup(d->c->a, frames.data, frames.n * sizeof(*frames.data));
	}
	if (opaque)
		note_opaque(&s, v, f, own == 1 ? frames.data[0] : NULL);
	vec_free(&frames);
	free_search(&s);
	return r.hidden ? r.hidden : r.limit;
}

const char *object_walk_registered(struct decoder *d, struct value v, frame_vec *list)
{
	struct reach r;
	struct object_walk_search s = { .d = d, .r = &r };

	object_walk(d->c, v, object_walk_look, &s, &r);
	for (size_t i = 0; i < s.resources.n; i++) {
		bool known = s.resources.data[i].waker != WAKER_OURS;

		for (size_t j = 0; j < list->n && !known; j++)
			known = list->data[j]->addr == s.resources.data[i].f->addr;
		if (!known)
			*vec_push(list) = s.resources.data[i].f;
	}
	free_search(&s);
	return r.hidden ? r.hidden : r.limit;
}
