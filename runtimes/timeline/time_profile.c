#include "runtimes/timeline/time_profile.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/clock.h"
#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/places/place_groups.h"

enum { MAX_ROWS = 1 << 20 /* pairs of a type and a place; further places are left out */ };

/* Stands for the place of a task that sleeps at an await which is unknown. */
static const struct trace_place unknown_place;

/* The time of one type at one place. */
struct time_profile_row {
	size_t type;
	const struct trace_place *place; /* NULL: none */
	bool polled; /* it is PROFILE_POLLING and PROFILE_OFF alone, or the others */
	struct profile_times times;
	uint64_t samples;
};

/* Samples of one stack in the polls of a row. */
struct time_profile_stack_row {
	size_t row; /* its index + 1 */
	uint32_t stack;
	uint64_t n;
};

/* The last addition for a slot of the spans. */
struct time_profile_slot {
	uint64_t task;
	struct moment begin;
	const char *name;
	size_t type;
	const struct trace_place *place[2]; /* by polled */
	size_t row[2];                      /* index + 1; 0: none */
};

struct time_profile {
	VEC(struct profile_type) types;
	VEC(struct time_profile_row) rows;
	VEC(struct time_profile_stack_row) stacks;
	VEC(struct time_profile_slot) slots;
	struct map type_of;  /* key of a type -> index + 1 */
	struct map row_of;   /* key of a row -> index + 1 */
	struct map stack_of; /* key of a row and a stack -> index + 1, of stacks */
	uint64_t inexact, inexact_ns;
};

static const char *const state_names[] = {
	[PROFILE_POLLING] = "polling",   [PROFILE_OFF] = "off-processor",
	[PROFILE_RUNNABLE] = "runnable", [PROFILE_WAITING] = "waiting",
	[PROFILE_UNKNOWN] = "unknown",
};

const char *profile_state_name(enum profile_state state)
{
	return state_names[state];
}

uint64_t profile_times_sum(const struct profile_times *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PROFILE_NSTATES; i++)
		sum += t->ns[i];
	return sum;
}

void profile_times_add(struct profile_times *a, const struct profile_times *b)
{
	for (size_t i = 0; i < PROFILE_NSTATES; i++)
		a->ns[i] += b->ns[i];
}

struct time_profile *time_profile_new(void)
{
	return alloc_zeroed(sizeof(struct time_profile));
}

void time_profile_free(struct time_profile *p)
{
	if (!p)
		return;
	vec_free(&p->types);
	vec_free(&p->rows);
	vec_free(&p->stacks);
	vec_free(&p->slots);
	map_free(&p->type_of);
	map_free(&p->row_of);
	map_free(&p->stack_of);
	free(p);
}

void time_profile_inexact(const struct time_profile *p, uint64_t *spans, uint64_t *ns)
{
	*spans = p->inexact;
	*ns = p->inexact_ns;
}

/* ---- adding spans ---- */

static size_t time_profile_type_of(struct time_profile *p, const char *type, enum trace_job job)
{
	uint64_t key = map_key_of_pair(type ? map_key_of_text(type) : 1, job + 1);
	size_t found = (uintptr_t)map_get(&p->type_of, key);

	if (found)
		return found - 1;
	*vec_push(&p->types) = (struct profile_type){ .type = type, .job = job };
	map_put(&p->type_of, key, (void *)(uintptr_t)p->types.n);
	return p->types.n - 1;
}

static size_t time_profile_row_of(struct time_profile *p, size_t type,
                                  const struct trace_place *place, bool polled)
{
	if (p->rows.n >= MAX_ROWS)
		place = NULL;
	uint64_t key = map_key_of_pair((uintptr_t)place, type * 2 + polled + 1);
	size_t found = (uintptr_t)map_get(&p->row_of, key);

	if (found)
		return found;
	*vec_push(&p->rows) =
		(struct time_profile_row){ .type = type, .place = place, .polled = polled };
	map_put(&p->row_of, key, (void *)(uintptr_t)p->rows.n);
	return p->rows.n;
}

/* The slot of a span, with its task and type. */
static struct time_profile_slot *time_profile_slot_of(struct time_profile *p,
                                                      const struct task_span *span)
{
	while (p->slots.n <= span->slot)
		vec_push(&p->slots);
	struct time_profile_slot *s = &p->slots.data[span->slot];
	bool is_new = s->task != span->task;

	if (is_new)
		*s = (struct time_profile_slot){ .task = span->task, .begin = span->from };
	if (is_new || s->name != span->type) {
		s->type = time_profile_type_of(p, span->type, span->job);
		s->name = span->type;
		s->row[0] = s->row[1] = 0;
	}
	if (is_new)
		p->types.data[s->type].tasks++;
	return s;
}

/* The index + 1 of the row. */
static size_t row_at(struct time_profile *p, struct time_profile_slot *s,
                     const struct trace_place *place, bool polled)
{
	if (!s->row[polled] || s->place[polled] != place) {
		s->row[polled] = time_profile_row_of(p, s->type, place, polled);
		s->place[polled] = place;
	}
	return s->row[polled];
}

static void add_times(struct time_profile *p, struct time_profile_slot *s,
                      const struct task_span *span)
{
	static const enum profile_state states[] = {
		[DOING_UNKNOWN] = PROFILE_UNKNOWN,
		[DOING_RUNNABLE] = PROFILE_RUNNABLE,
		[DOING_POLLING] = PROFILE_POLLING,
		[DOING_WAITING] = PROFILE_WAITING,
	};
	bool polled = span->doing == DOING_POLLING;
	const struct trace_place *at = polled ? span->resumed : span->place;
	size_t row = row_at(p, s, !at && span->unplaced ? &unknown_place : at, polled);
	struct profile_times *times = &p->rows.data[row - 1].times;

	uint64_t off = polled && span->off_known ? span->off_ns : 0;
	times->ns[states[span->doing]] += clock_between(off, moment_between(span->from, span->to));
	times->ns[PROFILE_OFF] += off;
	p->types.data[s->type].polls += polled && !span->open;
}

void time_profile_add(const struct task_span *span, void *arg)
{
	struct time_profile *p = arg;
	struct time_profile_slot *s = time_profile_slot_of(p, span);

	add_times(p, s, span);
	if (!span->exact && !span->open) {
		p->inexact++;
		p->inexact_ns += moment_between(span->from, span->to);
	}
	if (span->last || span->open) {
		p->types.data[s->type].lifetime_ns += moment_between(s->begin, span->to);
		s->begin = span->to;
	}
	if (span->last)
		s->task = 0;
}

void time_profile_sample(const struct task_span *span, uint32_t stack, void *arg)
{
	struct time_profile *p = arg;
	struct time_profile_slot *s = time_profile_slot_of(p, span);
	size_t row = row_at(p, s, span->resumed, true);
	uint64_t key = map_key_of_pair(row, stack + UINT64_C(1));
	size_t found = (uintptr_t)map_get(&p->stack_of, key);

	if (!found) {
		*vec_push(&p->stacks) =
			(struct time_profile_stack_row){ .row = row, .stack = stack };
		found = p->stacks.n;
		map_put(&p->stack_of, key, (void *)(uintptr_t)found);
	}
	p->stacks.data[found - 1].n++;
	p->rows.data[row - 1].samples++;
}

/* ---- the tree ---- */

struct time_profile_builder {
	struct arena *a;
	struct profile_tree *tree;
	struct map nodes; /* key of the parent and the node -> struct profile_node */
	struct profile_node **roots;
	struct profile_node **of_row; /* by index: the node of its polls, of those with samples */
	uint64_t *shared;           /* by index: time of its PROFILE_POLLING that the samples got */
	uint64_t *seen;             /* by index: samples that got their part */
	struct place_groups groups; /* within each type */
	profile_code_fn *code;
	void *arg;
};

static uint64_t text_key(uint64_t key, const char *text)
{
	return text ? map_key_on(key, text, strlen(text)) : map_key_of_pair(key, 1);
}

/* The child of a node; a new one, if there is none like it. */
static struct profile_node *time_profile_child(struct time_profile_builder *b,
                                               struct profile_node *parent,
                                               const struct profile_node *wanted)
{
	uint64_t key = map_key_of_pair((uintptr_t)parent, wanted->kind + 1);

	key = text_key(text_key(key, wanted->name), wanted->path ? wanted->path : wanted->file);
	key = map_key_of_pair(key, wanted->line + 1);
	struct profile_node *node = map_get(&b->nodes, key);
	if (node)
		return node;
	node = NEW(b->a, struct profile_node);
	*node = *wanted;
	node->type = parent->type;
	node->parent = parent;
	node->next = parent->children;
	parent->children = node;
	map_put(&b->nodes, key, node);
	b->tree->nnodes++;
	return node;
}

static struct profile_node *time_profile_add_frames(struct time_profile_builder *b,
                                                    struct profile_node *node,
                                                    enum profile_node_kind kind,
                                                    const struct trace_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		node = time_profile_child(b, node,
		                          &(struct profile_node){ .kind = kind,
		                                                  .name = frames[i].function,
		                                                  .file = frames[i].file,
		                                                  .path = frames[i].path,
		                                                  .line = frames[i].line });
	return node;
}

/* The node of a place below that of its type. */
static struct profile_node *time_profile_add_place(struct time_profile_builder *b,
                                                   const struct time_profile_row *row)
{
	const struct trace_place *place = place_groups_find(&b->groups, row->place, row->type);
	struct profile_node *node = b->roots[row->type];

	if (!place)
		return node;
	if (row->place == &unknown_place)
		return time_profile_child(b, node,
		                          &(struct profile_node){ .kind = PROFILE_UNPLACED });
	node = time_profile_add_frames(b, node, PROFILE_FRAME, place->frames, place->nframes);
	/* Code that a poll runs is behind its await, whatever that is. */
	if (row->polled)
		return node;
	if (place->cut)
		return time_profile_child(b, node, &(struct profile_node){ .kind = PROFILE_CUT });
	return place->leaf ? time_profile_child(b, node,
	                                        &(struct profile_node){ .kind = PROFILE_LEAF,
	                                                                .name = place->leaf })
	                   : node;
}

static void add_row(struct time_profile_builder *b, const struct time_profile_row *row,
                    size_t index)
{
	struct profile_node *node = time_profile_add_place(b, row);

	if (row->samples)
		b->of_row[index] = node;
	profile_times_add(&node->self, &row->times);
	for (; node; node = node->parent)
		profile_times_add(&node->total, &row->times);
	profile_times_add(&b->tree->types[row->type].times, &row->times);
	profile_times_add(&b->tree->total, &row->times);
}

/*
 * Moves the share of some samples from the node of their await to that of their code. The remainder
 * of rounding goes to the last ones.
 */
static void time_profile_add_stack(struct time_profile_builder *b,
                                   const struct time_profile_row *row,
                                   const struct time_profile_stack_row *stack)
{
	size_t index = stack->row - 1, n;
	struct profile_node *from = b->of_row[index];
	const struct trace_frame *frames = b->code(stack->stack, row->place, &n, b->arg);
	struct profile_node *node = time_profile_add_frames(b, from, PROFILE_CODE, frames, n);

	b->seen[index] += stack->n;
	uint64_t until = (uint64_t)((double)row->times.ns[PROFILE_POLLING] *
	                            ((double)b->seen[index] / (double)row->samples));
	if (b->seen[index] == row->samples)
		until = row->times.ns[PROFILE_POLLING];
	uint64_t ns = clock_between(b->shared[index], until);
	b->shared[index] = until;
	from->self.ns[PROFILE_POLLING] -= ns;
	node->self.ns[PROFILE_POLLING] += ns;
	node->samples += stack->n;
	for (; node != from; node = node->parent)
		node->total.ns[PROFILE_POLLING] += ns;
}

static void add_stacks(struct time_profile_builder *b, const struct time_profile *p)
{
	for (size_t i = 0; b->code && i < p->stacks.n; i++) {
		const struct time_profile_stack_row *stack = &p->stacks.data[i];

		time_profile_add_stack(b, &p->rows.data[stack->row - 1], stack);
	}
}

/* Merges two lists, the largest first. */
static struct profile_node *merge(struct profile_node *a, struct profile_node *b)
{
	struct profile_node *head = NULL, **end = &head;

	while (a && b) {
		struct profile_node **larger =
			profile_times_sum(&a->total) >= profile_times_sum(&b->total) ? &a : &b;

		*end = *larger;
		*larger = (*larger)->next;
		end = &(*end)->next;
	}
	*end = a ? a : b;
	return head;
}

static struct profile_node *sorted(struct profile_node *list)
{
	struct profile_node *parts[64] = { 0 };

	/* Part i is NULL, or a sorted list of 2^i nodes. */
	while (list) {
		struct profile_node *next = list->next;
		size_t i = 0;

		list->next = NULL;
		for (; parts[i]; i++) {
			list = merge(parts[i], list);
			parts[i] = NULL;
		}
		parts[i] = list;
		list = next;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		list = merge(parts[i], list);
	return list;
}

/* Sorts the children of all nodes; their depth is bounded by that of places. */
static void sort_children(struct profile_node *list)
{
	for (struct profile_node *node = list; node; node = node->next) {
		node->children = sorted(node->children);
		sort_children(node->children);
	}
}

/* The types in the order of the roots. */
static void order_types(struct time_profile_builder *b)
{
	struct profile_type *ordered = NEW_ARRAY(b->a, struct profile_type, b->tree->ntypes + 1);
	size_t n = 0;

	for (const struct profile_node *node = b->tree->roots; node; node = node->next)
		ordered[n++] = b->tree->types[node->type];
	b->tree->types = ordered;
}

static void number_types(struct profile_node *node, size_t type)
{
	node->type = type;
	for (node = node->children; node; node = node->next)
		number_types(node, type);
}

static void make_roots(struct time_profile_builder *b, const struct time_profile *p)
{
	struct profile_tree *ret = b->tree;
	struct arena *a = b->a;

	*ret = (struct profile_tree){ .ntypes = p->types.n, .nnodes = p->types.n };
	ret->types = NEW_ARRAY(a, struct profile_type, p->types.n + 1);
	for (size_t i = 0; i < p->types.n; i++)
		ret->types[i] = p->types.data[i];
	b->roots = NEW_ARRAY(a, struct profile_node *, p->types.n + 1);
	for (size_t i = 0; i < p->types.n; i++) {
		b->roots[i] = NEW(a, struct profile_node);
		*b->roots[i] = (struct profile_node){ .name = p->types.data[i].type,
			                              .type = i,
			                              .next = ret->roots };
		ret->roots = b->roots[i];
	}
}

void time_profile_tree(const struct time_profile *p, struct arena *a, profile_code_fn *code,
                       void *arg, struct profile_tree *ret)
{
	struct time_profile_builder b = { .a = a, .tree = ret, .code = code, .arg = arg };
	size_t n = 0;

	make_roots(&b, p);
	b.of_row = NEW_ARRAY(a, struct profile_node *, p->rows.n + 1);
	b.shared = NEW_ARRAY(a, uint64_t, p->rows.n + 1);
	b.seen = NEW_ARRAY(a, uint64_t, p->rows.n + 1);
	for (size_t i = 0; i < p->rows.n; i++)
		place_groups_add(&b.groups, p->rows.data[i].place, p->rows.data[i].type);
	for (size_t i = 0; i < p->rows.n; i++)
		add_row(&b, &p->rows.data[i], i);
	add_stacks(&b, p);
	ret->roots = sorted(ret->roots);
	sort_children(ret->roots);
	order_types(&b);
	for (struct profile_node *node = ret->roots; node; node = node->next)
		number_types(node, n++);
	map_free(&b.nodes);
	place_groups_free(&b.groups);
}
