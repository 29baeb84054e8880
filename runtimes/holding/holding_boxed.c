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
#include "runtimes/holding/holding.h"
#include "runtimes/query/locals.h"

enum {
	MAX_DEPTH = 16,
	MAX_VISITED = 512, /* values in one variable */
	MAX_BOXES = 8,     /* of one variable */
	MAX_OWNERS = 64,   /* findings beside one Box */
	LOWEST = 4096,     /* what is below is the address of a value without bytes */
};

/* A Box beside a finding. */
struct beside_box {
	uint64_t target, at; /* its content; where the pointer to it lies */
	struct found *f;
	size_t index;
	bool owned;  /* the finding is a guard of what has the Box */
	bool proven; /* the Box is there */
};

typedef VEC(struct beside_box) beside_vec;

/* ---- the Boxes in a variable ---- */

struct box_search {
	struct collector *c;
	struct beside_box like;
	beside_vec *out;
	unsigned visited, n;
};

static void search(struct box_search *s, struct value v, int depth);

static void add_box(struct box_search *s, struct value v)
{
	struct beside_box box = s->like;
	struct wide wide = type_wide(v.type);

	box.at = v.addr + (wide.kind == WIDE_NONE ? 0 : wide.data);
	struct error *err = target_read_uint(s->c->in->target, box.at, 8, &box.target);
	if (!err && box.target >= LOWEST && s->n < MAX_BOXES) {
		*vec_push(s->out) = box;
		s->n++;
	}
	error_free(err);
}

static void search_members(struct box_search *s, struct value v, int depth)
{
	size_t n;
	const struct member *members = type_members(v.type, &n);

	for (size_t i = 0; i < n; i++) {
		if (members[i].type && type_size(members[i].type))
			search(s, (struct value){ members[i].type, v.addr + members[i].offset },
			       depth);
	}
}

static void search_enum(struct box_search *s, struct value v, int depth)
{
	const struct variant *active = NULL;
	struct error *err = value_variant(s->c->in->target, v, &active);

	if (!err && active->payload)
		search_members(s, value_payload(v, active), depth);
	error_free(err);
}

/* A coroutine in a variable has variables of its own, which may be moved on. */
static void search(struct box_search *s, struct value v, int depth)
{
	if (depth > MAX_DEPTH || s->visited >= MAX_VISITED || s->n >= MAX_BOXES)
		return;
	s->visited++;
	if (holding_is_box(v.type))
		add_box(s, v);
	else if (type_kind(v.type) == TYPE_STRUCT)
		search_members(s, v, depth + 1);
	else if (type_kind(v.type) == TYPE_ENUM && !type_class_of(v.type)->coroutine)
		search_enum(s, v, depth + 1);
}

static bool is_within(uint64_t addr, struct value v)
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
	struct moved_borrows borrows;
	struct frame_place place;

	if (!f->by_move || !f->h.future || !locals_place_of(f->h.future, &place) || place.frame ||
	    !place.active || !is_within(f->within.addr, place.v))
		return false;
	moved_find_borrows(c, place.v, place.active, &borrows);
	return moved_is_part_borrowed(&borrows, addr, 8);
}

static void find_boxes(struct collector *c, struct found *f, size_t index, beside_vec *out)
{
	struct box_search s = { .c = c, .like = { .f = f, .index = index }, .out = out };
	const size_t first = out->n;

	if (!f->type || !is_within(f->h.addr, f->within))
		return;
	const struct value content = content_of(c, f);
	search(&s, f->within, 0);
	for (size_t i = first; i < out->n; i++) {
		struct beside_box *b = &out->data[i];

		b->owned = is_within(b->at, content);
		b->proven = !f->h.uncertain || is_borrowed(c, f, b->at);
	}
}

/* ---- who has it ---- */

static bool polls(const struct future *f, const struct future *inner)
{
	bool found = false;

	for (size_t i = 0; i < f->nchildren && !found; i++)
		found = f->children[i]->branch == BRANCH_POLLED &&
		        (f->children[i] == inner || polls(f->children[i], inner));
	return found;
}

/* Do both findings lie beside the Box in the same way? Then one value was moved. */
static bool is_alike(const struct beside_box *a, const struct beside_box *b)
{
	return a->f != b->f && a->f->h.role == b->f->h.role && a->f->h.object == b->f->h.object &&
	       a->f->h.primitive == b->f->h.primitive && strcmp(a->f->h.type, b->f->h.type) == 0 &&
	       a->at - a->f->h.addr == b->at - b->f->h.addr;
}

/* Does b, rather than a, have the Box, and so what a is? */
static bool has_it(const struct beside_box *a, const struct beside_box *b)
{
	if (a->proven || !a->f->h.uncertain || a->f == b->f || a->at == b->at)
		return false;
	if (b->proven)
		return a->owned || is_alike(a, b);
	return is_alike(a, b) && a->f->root && a->f->root == b->f->root && a->f->h.future &&
	       b->f->h.future && polls(a->f->h.future, b->f->h.future);
}

static void settle_box(struct beside_box *list, size_t n)
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
	const struct beside_box *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

void holding_strike_moved(struct collector *c, found_vec *list)
{
	beside_vec boxes = { 0 };

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
		settle_box(&boxes.data[i], n);
	}
	vec_free(&boxes);
}
