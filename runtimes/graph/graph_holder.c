/* Maps a holding (guard, permit, channel end) to the node that its drop or use depends on. */
#include <stdlib.h>
#include <string.h>

#include "runtimes/graph/graph_private.h"

/* ---- participants, and the nodes of what they hold ---- */

bool graph_thread_index(const struct builder *b, unsigned number, size_t *ret)
{
	size_t found = number ? (size_t)map_get(&b->threads, number) : 0;

	*ret = found - 1;
	return found != 0;
}

/* A thread drops what its frames hold only when the future that it blocks on completes. */
static size_t participant_of_thread(const struct builder *b, unsigned number)
{
	size_t i;

	if (!graph_thread_index(b, number, &i))
		return GRAPH_OUTSIDE;
	return graph_of_root(b->g, i) ? graph_of_root(b->g, i) : graph_of_thread(b->g, i);
}

size_t graph_participant_of(const struct builder *b, const struct holding *h)
{
	if (h->task)
		return (size_t)map_get(&b->tasks, h->task->addr);
	return participant_of_thread(b, h->thread);
}

static struct graph_node owner_of(const struct builder *b, size_t participant)
{
	return (struct graph_node){ .kind = GRAPH_OWNER,
		                    .rule = GRAPH_ANY,
		                    .task = b->nodes.data[participant].task,
		                    .thread = b->nodes.data[participant].thread };
}

size_t graph_owner_node(struct builder *b, size_t arm, size_t participant)
{
	struct arm *a = arm && participant ? map_get(&b->arms, arm) : NULL;

	if (!a)
		return participant;
	if (a->owner)
		return a->owner;
	/* When the task or an enclosing arm goes on, it may drop this arm. */
	size_t around = graph_owner_node(b, a->around, participant);
	a->owner = graph_add_node(b, owner_of(b, participant));
	graph_add_edge(b, a->owner, arm, "poll");
	graph_add_edge(b, a->owner, around, "member");
	return a->owner;
}

/* The node of that arm and of all arms inside it. */
static size_t users_of_arm(struct builder *b, struct arm *a)
{
	return a->inner ? graph_user_node(b, a->node, a->participant) : a->node;
}

size_t graph_user_node(struct builder *b, size_t arm, size_t participant)
{
	struct arm *a = arm && participant ? map_get(&b->arms, arm) : NULL;
	struct arm *inner = a             ? a->inner
	                    : participant ? map_get(&b->outer_arms, participant)
	                                  : NULL;
	size_t node = participant ? (size_t)map_get(&b->users, a ? arm : participant) : 0;

	if (node || !participant || (!a && !inner))
		return node ? node : participant;
	node = graph_add_node(b, owner_of(b, participant));
	map_put(&b->users, a ? arm : participant, (void *)node);
	if (a)
		graph_add_edge(b, node, arm, "poll");
	for (; inner; inner = inner->next)
		graph_add_edge(b, node, users_of_arm(b, inner), "poll");
	graph_add_edge(b, node, graph_owner_node(b, arm, participant), "member");
	return node;
}

/* ---- trust ---- */

enum trust graph_holding_trust(const struct builder *b, const struct holding *h, bool complete)
{
	if (!h->uncertain)
		return TRUST_CERTAIN;
	return b->quiet && (h->sole || complete) ? TRUST_SOLE : TRUST_NONE;
}

const char *graph_trust_uncertainty(enum trust trust)
{
	switch (trust) {
	case TRUST_SOLE:
		return graph_sole_doubt;
	case TRUST_NONE:
		return "it may have been dropped or moved earlier";
	default:
		return NULL;
	}
}

const char graph_sole_doubt[] = "found nowhere else, though nothing proves that it is still there";

size_t graph_holder_node(struct builder *b, const struct holding *h)
{
	size_t arm = h->future ? (size_t)map_get(&b->arm_of, (uintptr_t)h->future) : 0;

	return h->role == HOLDING_LOCK ? graph_owner_node(b, arm, graph_participant_of(b, h))
	                               : graph_user_node(b, arm, graph_participant_of(b, h));
}

void graph_add_holder(struct builder *b, size_t from, const struct holding *h, const char *kind,
                      const char *doubt)
{
	size_t owner = graph_holder_node(b, h);
	struct graph_edge *e = graph_add_edge(b, from, owner, kind);

	e->holding = h;
	e->doubt = doubt;
	e->granted = h->granted;
	e->unpolled = h->future ? map_get(&b->unpolled, (uintptr_t)h->future) : NULL;
	/* The future that the lock was granted to is in no polled tree. */
	if (h->granted && !e->unpolled)
		e->unpolled = h->future;
	e->frame = graph_frame_of(b, e->unpolled);
}

/* ---- several candidates for one holding ---- */

void graph_candidate_add(struct builder *b, struct candidates *c, const struct holding *h)
{
	size_t participant = graph_participant_of(b, h);
	struct candidate_group *group;

	c->all++;
	c->sure += !h->uncertain;
	if (!h->uncertain)
		return;
	group = map_get(&c->by_participant, participant + 1);
	if (!group) {
		group = NEW(&b->g->arena, struct candidate_group);
		group->end = &group->first;
		map_put(&c->by_participant, participant + 1, group);
	}
	*group->end = NEW(&b->g->arena, struct graph_candidate);
	(*group->end)->holding = h;
	group->end = &(*group->end)->next;
}

bool graph_candidates_known(struct candidates *c, size_t wanted)
{
	bool known = c->sure + c->by_participant.n <= wanted && wanted <= c->all;

	c->instead = known && wanted < c->all;
	return known;
}

void graph_candidate_edge(struct builder *b, const struct candidates *c, size_t from,
                          const struct holding *h, const char *kind, const char *doubt)
{
	struct candidate_group *group =
		c->instead && h->uncertain
			? map_get(&c->by_participant, graph_participant_of(b, h) + 1)
			: NULL;
	struct graph_edge *e;

	graph_add_holder(b, from, h, kind, doubt);
	if (!group || !group->first->next)
		return;
	e = &b->edges.data[b->edges.n - 1];
	e->candidates = group->first;
	if (group->to == e->to) /* the first edge lists them all */
		b->edges.n--;
	else
		group->to = e->to;
}

/* ---- who can end a task ---- */

typedef VEC(struct graph_abort) abort_vec;

static int graph_holder_compare_aborts(const void *a, const void *b)
{
	const struct graph_abort *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (x->holding > y->holding) - (x->holding < y->holding);
}

void graph_note_abortable(struct builder *b, const struct future *f)
{
	const struct wait *p = f->properties;

	if (!p || !p->object || !p->kind || strcmp(p->kind, "abortable") != 0)
		return;
	struct abortable *one = NEW(&b->g->arena, struct abortable);
	*one = (struct abortable){ b->participant, map_get(&b->abortables, p->object) };
	map_put(&b->abortables, p->object, one);
}

static void add_abort(struct builder *b, abort_vec *list, const struct holding *h)
{
	size_t task = (size_t)map_get(&b->tasks, h->object);

	if (task)
		*vec_push(list) = (struct graph_abort){ .by = graph_holder_node(b, h),
			                                .task = task,
			                                .holding = h };
	for (const struct abortable *one = map_get(&b->abortables, h->object); one; one = one->next)
		*vec_push(list) = (struct graph_abort){ .by = graph_holder_node(b, h),
			                                .task = one->participant,
			                                .holding = h,
			                                .inside = true };
}

void graph_find_aborts(struct builder *b)
{
	abort_vec list = { 0 };

	for (size_t i = 0; i < b->s->nholdings; i++) {
		const struct holding *h = &b->s->holdings[i];

		if (h->role == HOLDING_WAKER && strcmp(h->kind, "abort") == 0 && h->object &&
		    graph_participant_of(b, h))
			add_abort(b, &list, h);
	}
	if (list.n)
		qsort(list.data, list.n, sizeof(*list.data), graph_holder_compare_aborts);
	b->g->naborts = list.n;
	b->g->aborts = vec_to_arena(&list, &b->g->arena);
}

/* ---- by address ---- */

static int compare_primitives(const void *a, const void *b)
{
	const struct holding *x = *(const struct holding *const *)a;
	const struct holding *y = *(const struct holding *const *)b;
	int order = by_number(x->primitive, y->primitive);

	return order ? order : by_number((uintptr_t)x, (uintptr_t)y);
}

static int compare_objects(const void *a, const void *b)
{
	const struct holding *x = *(const struct holding *const *)a;
	const struct holding *y = *(const struct holding *const *)b;
	int order = by_number(x->object, y->object);

	return order ? order : by_number((uintptr_t)x, (uintptr_t)y);
}

void graph_sort_holdings(struct builder *b)
{
	size_t n = b->s->nholdings;

	b->by_primitive = NEW_ARRAY(&b->g->arena, const struct holding *, n + 1);
	b->by_object = NEW_ARRAY(&b->g->arena, const struct holding *, n + 1);
	for (size_t i = 0; i < n; i++)
		b->by_primitive[i] = b->by_object[i] = &b->s->holdings[i];
	qsort(b->by_primitive, n, sizeof(*b->by_primitive), compare_primitives);
	qsort(b->by_object, n, sizeof(*b->by_object), compare_objects);
}

/* The entries of a sorted list that have that address. */
/* The first of the list whose key is addr or more. */
static size_t first_from(const struct holding **list, size_t n, uint64_t addr,
                         uint64_t (*key)(const struct holding *h))
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (key(list[mid]) < addr)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static const struct holding **holdings_at(const struct holding **list, size_t n, uint64_t addr,
                                          uint64_t (*key)(const struct holding *h), size_t *nret)
{
	size_t from = first_from(list, n, addr, key);

	/*
	 * The end is found by bisection, too: each of 333,333 waiters of one Notify asks for as
	 * many holders.
	 */
	*nret = !addr               ? 0
	        : addr < UINT64_MAX ? first_from(list + from, n - from, addr + 1, key)
	                            : n - from;
	return &list[from];
}

static uint64_t primitive_of(const struct holding *h)
{
	return h->primitive;
}

static uint64_t object_of(const struct holding *h)
{
	return h->object;
}

const struct holding **graph_holdings_of_primitive(const struct builder *b, uint64_t primitive,
                                                   size_t *n)
{
	return holdings_at(b->by_primitive, b->s->nholdings, primitive, primitive_of, n);
}

const struct holding **graph_holdings_of_object(const struct builder *b, uint64_t object, size_t *n)
{
	return holdings_at(b->by_object, b->s->nholdings, object, object_of, n);
}
