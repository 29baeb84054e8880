#include "runtimes/places/place.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/future.h"
#include "runtimes/places/pieces.h"

enum {
	MAX_NODES = 2000, /* coroutines of a plan, counted for each place that they have in it */
	MAX_DEPTH = 24,
	MAX_WRAPPERS = 1 << 10, /* structs around a coroutine */
	MAX_STRUCTS = 1 << 14,  /* in one awaited type */
	MAX_STEPS = 1 << 10,    /* from an awaited type to the coroutine in it, or behind it */
	POINTER = 8,            /* bytes */
};

/* A coroutine at a place in the object. */
struct place_node {
	const struct type *type;
	const struct coroutine_plan *plan;
	uint64_t state; /* offset of its state in the object, or in the box */
	unsigned size;  /* of the state, bytes */
	unsigned depth;
	unsigned box; /* number of the box that it is in, from 1; 0: it is in the object */
	struct place_node **children; /* by variant: what it awaits; NULL: no coroutine */
	bool *cut; /* by variant: it awaits a coroutine for which the plan has no room */
	struct place_node *next; /* in the order of the search */
};

const char *trace_place_file(const struct trace_frame *f)
{
	return f->path ? f->path : f->file;
}

const struct trace_frame *trace_place_own(const struct trace_place *place)
{
	for (size_t i = place->nframes; i-- > 0;) {
		if (!place->frames[i].library)
			return &place->frames[i];
	}
	return place->nframes ? &place->frames[place->nframes - 1] : NULL;
}

/* An object behind a pointer. */
struct box {
	const struct place_node
		*parent;    /* coroutine that awaits it; NULL: the task is the pointer */
	size_t state;       /* of the parent then: index of its variant */
	uint64_t pointer;   /* offset in what the parent is in */
	unsigned in;        /* number of that box; 0: the object */
	uint32_t low, high; /* the bytes that are copied */
};

struct place_plan {
	const struct place_node *root;
	bool wrapped;         /* root is not the program's, but awaits what is */
	struct pieces pieces; /* of the object */
	unsigned nboxes;
	struct box boxes[PROBE_MAX_BOXES]; /* each behind that which has its pointer */
};

struct place_planner {
	struct inspector *in;
	struct arena *a;
	struct place_plan *plan;
	struct place_node *first, **last;
	size_t n;
};

/* A place at which a coroutine is sought: at an offset in the object or in a box. */
struct place_spot {
	const struct type *type;
	uint64_t offset;
	unsigned box;
};

/* ---- nodes ---- */

/* The coroutines in the members of a struct, at any depth. */
struct place_inside {
	const struct type *type; /* the last one */
	uint64_t offset;
	unsigned found;   /* 0, 1 or more */
	unsigned structs; /* number of structs that were searched */
	bool cut;         /* a limit was reached */
};

static void place_find_inside(struct place_inside *s, const struct type *t, uint64_t offset,
                              unsigned depth)
{
	const struct member *members;
	size_t n;

	if (type_is_coroutine(t)) {
		s->type = t;
		s->offset = offset;
		s->found++;
		return;
	}
	if (type_kind(t) != TYPE_STRUCT)
		return;
	if (depth == MAX_WRAPPERS || s->structs++ == MAX_STRUCTS) {
		s->cut = true;
		return;
	}
	members = type_members(t, &n);
	for (size_t i = 0; i < n && s->found < 2 && !s->cut; i++) {
		if (members[i].type)
			place_find_inside(s, members[i].type, offset + members[i].offset,
			                  depth + 1);
	}
}

/* The only coroutine in a type. cut: there may be others. */
static struct place_inside inside_of(const struct type *t, uint64_t offset)
{
	struct place_inside s = { 0 };

	place_find_inside(&s, t, offset, 0);
	return s;
}

static struct place_node *place_add_node(struct place_planner *p, const struct place_spot *spot,
                                         unsigned depth)
{
	if (!spot->type || depth == MAX_DEPTH || p->n == MAX_NODES)
		return NULL;
	const struct place_inside in = inside_of(spot->type, spot->offset);
	if (in.found != 1 || in.cut)
		return NULL;
	const struct member *discr = type_discr(in.type);
	if (!discr || !discr->type || type_size(discr->type) > 8 || !type_size(discr->type))
		return NULL;
	struct place_node *node = NEW(p->a, struct place_node);
	*node = (struct place_node){
		.type = in.type,
		.plan = coroutine_plan(p->in, in.type),
		.state = in.offset + discr->offset,
		.size = (unsigned)type_size(discr->type),
		.depth = depth,
		.box = spot->box,
	};
	node->children = NEW_ARRAY(p->a, struct place_node *, node->plan->nstates);
	node->cut = NEW_ARRAY(p->a, bool, node->plan->nstates);
	*p->last = node;
	p->last = &node->next;
	p->n++;
	return node;
}

/*
 * Follows wrappers and one pointer, for which a box is made. False: there is another pointer, or
 * one whose target is of a type that only the run time knows.
 */
static bool place_follow(struct place_planner *p, struct place_spot *spot,
                         const struct place_node *parent, size_t state)
{
	struct place_plan *plan = p->plan;
	bool followed = false;

	for (int i = 0; i < MAX_STEPS && spot->type; i++) {
		const struct type_class *c = type_class_of(spot->type);

		if (c->step == STEP_NONE)
			return true;
		if (c->step == STEP_MEMBER) {
			spot->offset += c->offset;
		} else if (c->step == STEP_DYN || c->step == STEP_WIDE || followed ||
		           plan->nboxes == PROBE_MAX_BOXES) {
			return false;
		} else {
			plan->boxes[plan->nboxes] = (struct box){ .parent = parent,
				                                  .state = state,
				                                  .pointer = spot->offset,
				                                  .in = spot->box };
			spot->box = plan->nboxes + 1;
			spot->offset = 0;
			followed = true;
		}
		spot->type = c->next;
	}
	return false;
}

/* The coroutine that is at a spot or in a box behind it; NULL: none. */
static struct place_node *place_add_behind(struct place_planner *p, struct place_spot spot,
                                           unsigned depth, const struct place_node *parent,
                                           size_t state)
{
	struct place_node *node = place_add_node(p, &spot, depth);

	if (node || !spot.type || !place_follow(p, &spot, parent, state))
		return node;
	node = place_add_node(p, &spot, depth);
	if (node && spot.box > p->plan->nboxes)
		p->plan->nboxes = spot.box;
	return node;
}

/*
 * Whether what is awaited leads, or may lead, to one coroutine, through any number of pointers: a
 * chain without it is cut. A trait object or a slice ends a chain for everybody.
 */
static bool leads_on(const struct type *t)
{
	for (int i = 0; i < MAX_STEPS && t; i++) {
		const struct place_inside in = inside_of(t, 0);

		if (in.found == 1 || in.cut)
			return true;
		t = type_class_of(t)->next;
	}
	return t != NULL;
}

/* Breadth first: the outer coroutines are copied where not all can be. */
static void place_add_children(struct place_planner *p, struct place_node *node)
{
	for (size_t i = 0; i < node->plan->nstates; i++) {
		const struct coroutine_state *s = coroutine_outline(p->in, node->plan, i);

		if (!s->awaitee)
			continue;
		const struct place_spot spot = { s->awaitee->type,
			                         node->state - type_discr(node->type)->offset +
			                                 s->variant->offset + s->awaitee->offset,
			                         node->box };
		node->children[i] = place_add_behind(p, spot, node->depth + 1, node, i);
		node->cut[i] = !node->children[i] && leads_on(spot.type);
	}
}

/* ---- what is copied ---- */

/* Bytes of a copy that follow the pieces: those of boxes, and which of these were not read. */
static uint32_t place_boxes_total(const struct place_plan *plan)
{
	uint32_t len = plan->nboxes > 0;

	for (unsigned i = 0; i < plan->nboxes; i++)
		len += plan->boxes[i].high - plan->boxes[i].low;
	return len;
}

static uint32_t place_total(const struct place_plan *plan)
{
	return pieces_total(&plan->pieces) + place_boxes_total(plan);
}

/* Offset in a copy of bytes of the object (box 0) or of a box; PIECES_NOT_COPIED. */
static uint32_t place_in_copy(const struct place_plan *plan, unsigned box, uint64_t offset,
                              unsigned size)
{
	uint32_t at = pieces_total(&plan->pieces);

	if (!box)
		return pieces_find(&plan->pieces, offset, size);
	for (unsigned i = 0; i < plan->nboxes; i++) {
		const struct box *b = &plan->boxes[i];

		if (box == i + 1 && pieces_has(b->low, b->high - b->low, offset, size))
			return at + (uint32_t)(offset - b->low);
		at += b->high - b->low;
	}
	return PIECES_NOT_COPIED;
}

/* The bytes of a state in a copy; NULL: they were not copied, or could not be. */
static const unsigned char *find_bytes(const struct place_plan *plan, const struct place_node *node,
                                       const unsigned char *copy)
{
	uint32_t at = place_in_copy(plan, node->box, node->state, node->size);

	if (at == PIECES_NOT_COPIED ||
	    (node->box && copy[place_total(plan) - 1] & 1 << (node->box - 1)))
		return NULL;
	return copy + at;
}

/* Adds bytes of a box to what is copied of it, if that fits. */
static bool add_to_box(struct place_plan *plan, unsigned box, uint64_t offset, unsigned size)
{
	struct box *b = &plan->boxes[box - 1], before = *b;

	if (!pieces_is_reachable(offset, size))
		return false;
	if (b->high == 0)
		b->low = b->high = (uint32_t)offset;
	b->low = offset < b->low ? (uint32_t)offset : b->low;
	b->high = offset + size > b->high ? (uint32_t)offset + size : b->high;
	if (place_total(plan) < PROBE_MAX_COPY)
		return true;
	*b = before;
	return false;
}

/* add_to_box() for a box or the object, which box 0 is. */
static bool add_bytes(struct place_plan *plan, unsigned box, uint64_t offset, unsigned size)
{
	if (box)
		return add_to_box(plan, box, offset, size);
	pieces_add(&plan->pieces, place_boxes_total(plan), offset, size);
	return place_in_copy(plan, 0, offset, size) != PIECES_NOT_COPIED;
}

/*
 * Adds what leads to each box, and the states in it. A box without a pointer, or whose parent's
 * state is not copied, is not read.
 */
static void add_boxes(struct place_plan *plan, const struct place_node *first)
{
	for (unsigned i = 0; i < plan->nboxes; i++) {
		const struct box *b = &plan->boxes[i];
		const struct place_node *up = b->parent;

		if (!add_bytes(plan, b->in, b->pointer, POINTER) ||
		    (up && place_in_copy(plan, up->box, up->state, up->size) == PIECES_NOT_COPIED))
			continue;
		for (const struct place_node *node = first; node; node = node->next) {
			if (node->box == i + 1)
				add_to_box(plan, node->box, node->state, node->size);
		}
	}
}

static void describe_boxes(const struct place_plan *plan, struct probe_point *point)
{
	point->nboxes = plan->nboxes;
	for (unsigned i = 0; i < plan->nboxes; i++) {
		const struct box *b = &plan->boxes[i];
		const struct place_node *up = b->parent;
		struct probe_box *to = &point->boxes[i];
		uint32_t pointer = place_in_copy(plan, b->in, b->pointer, POINTER);

		*to = (struct probe_box){ .pointer = pointer, .offset = b->low };
		if (b->high == b->low)
			continue;
		to->len = b->high - b->low;
		if (!up)
			continue;
		to->state = place_in_copy(plan, up->box, up->state, up->size);
		to->size = up->size;
		to->value = (uint32_t)up->plan->variants[b->state].discr;
	}
}

const struct place_plan *place_plan_make(struct inspector *in, struct arena *a,
                                         const struct task_types *types, struct probe_point *point)
{
	const struct type *outer = types->whole ? types->whole : types->future;
	struct place_plan *plan = NEW(a, struct place_plan);
	struct place_planner p = { .in = in, .a = a, .plan = plan, .last = &p.first };

	plan->root =
		place_add_behind(&p, (struct place_spot){ outer, types->offset, 0 }, 0, NULL, 0);
	plan->wrapped = types->whole != NULL;
	if (!plan->root)
		return NULL;
	for (struct place_node *node = p.first; node; node = node->next)
		place_add_children(&p, node);
	for (struct place_node *node = p.first; node; node = node->next) {
		if (!node->box)
			pieces_add(&plan->pieces, place_boxes_total(plan), node->state, node->size);
	}
	add_boxes(plan, p.first);
	describe_boxes(plan, point);
	point->npieces = (uint8_t)plan->pieces.n;
	memcpy(point->pieces, plan->pieces.data, sizeof(plan->pieces.data));
	return plan;
}

/* ---- decoding ---- */

/* The states of the chain: indices of variants. */
struct place_chain {
	const struct place_node *nodes[MAX_DEPTH];
	size_t states[MAX_DEPTH];
	size_t n;
	size_t first; /* of the program's own */
	bool cut;     /* the last one awaits a coroutine whose state was not read */
};

static bool place_find_state(const struct place_node *node, const unsigned char *bytes, size_t *ret)
{
	uint64_t value = 0;

	memcpy(&value, bytes, node->size);
	for (size_t i = 0; i < node->plan->nstates; i++) {
		if (node->plan->variants[i].discr == value && !node->plan->variants[i].is_default) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* False: the bytes are no states of suspended coroutines. */
static bool read_chain(struct inspector *in, const struct place_plan *plan,
                       const unsigned char *copy, struct place_chain *c)
{
	const struct place_node *node = plan->root;

	c->first = plan->wrapped ? 1 : 0;
	while (node && c->n < MAX_DEPTH) {
		const unsigned char *bytes = find_bytes(plan, node, copy);
		size_t state;

		if (!bytes)
			break;
		if (!place_find_state(node, bytes, &state))
			return false;
		if (coroutine_outline(in, node->plan, state)->state != FUTURE_SUSPENDED)
			return c->n > c->first; /* not polled yet, or what was polled is done */
		c->nodes[c->n] = node;
		c->states[c->n++] = state;
		c->cut = node->cut[state];
		node = node->children[state];
	}
	c->cut |= node != NULL;
	return c->n > c->first;
}

/* Whether a function only lets other tasks run. */
static bool is_yield(struct inspector *in, const char *function)
{
	for (const struct runtime *const *r = runtimes_in(in->di); *r; r++) {
		if ((*r)->threads.yield && strcmp((*r)->threads.yield, function) == 0)
			return true;
	}
	return false;
}

static const struct trace_place *make_place(struct inspector *in, struct arena *a,
                                            const struct place_chain *c, uint64_t number)
{
	struct trace_place *place = NEW(a, struct trace_place);
	size_t n = c->n - c->first;
	struct trace_frame *frames = NEW_ARRAY(a, struct trace_frame, n);
	const struct coroutine_state *s = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct place_node *node = c->nodes[c->first + i];

		s = coroutine_state(in, node->type, node->plan, c->states[c->first + i]);
		frames[i] = (struct trace_frame){
			inspector_clean_name(a, node->plan->function),
			s->file_short ? inspector_clean_name(a, s->file_short) : NULL,
			s->line,
			s->library,
			s->file ? arena_strdup(a, s->file) : NULL,
		};
	}
	*place = (struct trace_place){
		.number = number, .frames = frames, .nframes = n, .cut = c->cut
	};
	if (s && s->awaitee && s->awaitee->type && !c->cut)
		place->leaf = inspector_clean_name(a, type_name(s->awaitee->type));
	place->yields = !c->cut && is_yield(in, frames[n - 1].function);
	return place;
}

const struct trace_place *place_of(struct places *places, struct inspector *in, struct arena *a,
                                   const struct place_plan *plan, const unsigned char *copy,
                                   size_t len)
{
	struct place_chain c = { 0 };

	if (len != place_total(plan) || !read_chain(in, plan, copy, &c))
		return NULL;
	uint64_t key = map_key_on((uintptr_t)plan + c.cut, c.states, c.n * sizeof(c.states[0]));
	const struct trace_place *known = map_get(&places->known, key);
	if (known || places->n == PLACE_MAX)
		return known;
	known = make_place(in, a, &c, ++places->n);
	map_put(&places->known, key, (void *)(uintptr_t)known);
	return known;
}

void places_free(struct places *places)
{
	map_free(&places->known);
}
