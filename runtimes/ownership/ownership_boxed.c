/*
 * A value that was moved leaves its bytes behind, and a guard in them looks as if it were still
 * there. A Box in these bytes tells: it has one owner. Where the awaitee of a frame borrows the
 * Box, or the variable that has it is certain, that variable is the owner. Else, among frames of
 * which one polls the other, the innermost is: the outer one has given it the value.
 *
 * A guard need not go where the Box beside it goes. So a finding is dropped only where its object
 * counts fewer than were found, and if it owns the Box itself or lies beside it just as the other
 * guard does.
 */
#include <stdlib.h>
#include <string.h>

#include "dwarf/types/wide.h"
#include "runtimes/common/type_class.h"
#include "runtimes/ownership/ownership.h"
#include "runtimes/query/locals.h"

enum {
	MAX_DEPTH = 16,
	MAX_VISITED = 512, /* values in one variable */
	MAX_BOXES = 8,     /* of one variable */
	MAX_OWNERS = 64,   /* findings beside one Box */
	LOWEST = 4096,     /* an address below is that of a value without bytes */
};

/* A Box beside a finding. */
struct boxed_sibling {
	uint64_t target, at; /* its content; where the pointer to it lies */
	struct found *f;
	size_t index;
	bool owned;  /* the finding is a guard of what has the Box */
	bool proven; /* the Box is there */
};

typedef VEC(struct boxed_sibling) boxed_sibling_vec;

/* ---- the Boxes in a variable ---- */

struct box_search {
	struct collector *c;
	struct boxed_sibling template;
	boxed_sibling_vec *out;
	unsigned visited, n, depth;
};

static void ownership_boxed_search(struct box_search *s, struct value v);

static void add_box(struct box_search *s, struct value v)
{
	struct boxed_sibling box = s->template;
	struct wide wide = type_wide(v.type);

	box.at = v.addr + (wide.kind == WIDE_NONE ? 0 : wide.data);
	struct error *err = target_read_uint(s->c->in->target, box.at, 8, &box.target);
	if (!err && box.target >= LOWEST && s->n < MAX_BOXES) {
		*vec_push(s->out) = box;
		s->n++;
	}
	error_free(err);
}

static bool search_part(const struct visited *at, void *arg)
{
	ownership_boxed_search(arg, at->v);
	return true;
}

/* A coroutine in a variable has variables of its own, which may be moved on. */
static void ownership_boxed_search(struct box_search *s, struct value v)
{
	enum type_kind kind = type_kind(v.type);

	if (s->depth > MAX_DEPTH || s->visited >= MAX_VISITED || s->n >= MAX_BOXES)
		return;
	s->visited++;
	s->depth++;
	if (ownership_is_box(v.type))
		add_box(s, v);
	else if (kind == TYPE_STRUCT ||
	         (kind == TYPE_ENUM && !type_class_of(v.type)->forms.coroutine))
		error_free(visit_members(s->c->in->target, v, search_part, s));
	s->depth--;
}

static bool ownership_boxed_is_within(uint64_t addr, struct value v)
{
	return v.type && addr >= v.addr && addr - v.addr < type_size(v.type);
}

/* The content of a guard that has none without it; type NULL: no such guard. */
static struct value content_of(struct collector *c, const struct found *f)
{
	struct value content = { 0 };
	bool found = false;

	if (f->row && f->row->content)
		error_free(inspector_eval(c->in, (struct value){ f->type, f->h.addr },
		                          f->row->content, &content, &found));
	return found ? content : (struct value){ 0 };
}

/* Does the awaitee of the frame borrow those bytes? */
static bool is_borrowed(struct collector *c, const struct found *f, uint64_t addr)
{
	struct move_state_borrows borrows;
	struct frame_place place;

	if (!f->by_move || !f->h.future || !locals_place_of(f->h.future, &place) || place.frame ||
	    !place.active || !ownership_boxed_is_within(f->within.addr, place.v))
		return false;
	move_state_find_borrows(c, place.v, place.active, &borrows);
	return move_state_is_part_borrowed(&borrows, addr, 8);
}

static void find_boxes(struct collector *c, struct found *f, size_t index, boxed_sibling_vec *out)
{
	struct box_search s = { .c = c, .template = { .f = f, .index = index }, .out = out };
	const size_t first = out->n;

	if (!f->type || !ownership_boxed_is_within(f->h.addr, f->within))
		return;
	const struct value content = content_of(c, f);
	ownership_boxed_search(&s, f->within);
	for (size_t i = first; i < out->n; i++) {
		struct boxed_sibling *b = &out->data[i];

		b->owned = ownership_boxed_is_within(b->at, content);
		b->proven = !f->h.uncertain || is_borrowed(c, f, b->at);
	}
}

/* ---- who has it ---- */

static bool ownership_boxed_polls(const struct future *f, const struct future *inner)
{
	bool found = false;

	for (size_t i = 0; i < f->nchildren && !found; i++)
		found = f->children[i]->branch == BRANCH_POLLED &&
		        (f->children[i] == inner || ownership_boxed_polls(f->children[i], inner));
	return found;
}

/* Do both findings lie beside the Box in the same way? Then one value was moved. */
static bool is_alike(const struct boxed_sibling *a, const struct boxed_sibling *b)
{
	return a->f != b->f && a->f->h.role == b->f->h.role && a->f->h.object == b->f->h.object &&
	       a->f->h.primitive == b->f->h.primitive && strcmp(a->f->h.type, b->f->h.type) == 0 &&
	       a->at - a->f->h.addr == b->at - b->f->h.addr;
}

/* Does b, rather than a, have the Box, and so what a is? */
static bool has_it(const struct boxed_sibling *a, const struct boxed_sibling *b)
{
	if (a->proven || !a->f->h.uncertain || a->f == b->f || a->at == b->at)
		return false;
	if (b->proven)
		return a->owned || is_alike(a, b);
	return is_alike(a, b) && a->f->root && a->f->root == b->f->root && a->f->h.future &&
	       b->f->h.future && ownership_boxed_polls(a->f->h.future, b->f->h.future);
}

static void resolve_box(struct boxed_sibling *list, size_t n)
{
	bool stale[MAX_OWNERS] = { false };

	if (n < 2 || n > MAX_OWNERS)
		return;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n && !stale[i]; k++)
			stale[i] = has_it(&list[i], &list[k]);
	}
	for (size_t i = 0; i < n; i++)
		list[i].f->gone |= stale[i];
}

static int by_target(const void *a, const void *b)
{
	const struct boxed_sibling *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

void ownership_strike_moved(struct collector *c, found_vec *list)
{
	boxed_sibling_vec boxes = { 0 };

	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];

		if (f->crowded && !f->gone)
			find_boxes(c, f, i, &boxes);
	}
	if (boxes.n)
		qsort(boxes.data, boxes.n, sizeof(*boxes.data), by_target);
	for (size_t i = 0, n; i < boxes.n; i += n) {
		for (n = 1; i + n < boxes.n && boxes.data[i + n].target == boxes.data[i].target;)
			n++;
		resolve_box(&boxes.data[i], n);
	}
	vec_free(&boxes);
}
