#include "runtimes/analysis/group.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/group_hash.h"
#include "runtimes/analysis/group_local.h"

struct group_node_data {
	struct group_node node; /* must be first: casts rely on it */
	struct group_node_data *same_hash;
	size_t last_task; /* index of the task counted last; SIZE_MAX none */
	struct local_list locals;
};

/* The shape of a tree that begins at one node of the merged tree. */
struct group_shape {
	struct group_node_data *node;
	struct group_shape **children;
	size_t nchildren;
	size_t nnodes; /* includes this node */
	size_t serial; /* index in order of creation, from 0 */
	struct group_shape *same_hash;
	struct group *group; /* group of the tasks whose whole tree has this shape */
	size_t place;        /* index of group in order of creation */
};

/* A future on the path of the depth-first walk. */
struct group_step {
	const struct future *f;
	struct group_node_data *node;
	unsigned next; /* index of the next child to visit */
	size_t shapes; /* index in open of the first shape of its children */
};

struct maker {
	struct arena *a;
	struct groups *ret;
	struct map nodes, shapes; /* by hash: heads of chains */
	size_t nshapes;
	VEC(struct group_node_data *) list;
	VEC(struct group *) groups;
	VEC(uint32_t) of; /* by task: index of its group in order of creation */
	VEC(struct group_step) stack;
	VEC(struct group_shape *) open; /* shapes of finished children of unfinished parents */
	struct group_text phrase;       /* of the future being looked up: its wait, */
	struct group_text problem;      /* the reason why its tree ends there */
};

/* ---- comparison of frames ---- */

const char *group_frame_name(const struct future *f)
{
	bool bare = f->kind == FUTURE_OTHER && !f->wait && !f->nchildren;

	return f->function && !(bare && f->type) ? f->function : f->type;
}

static const char *group_phrase_of(const struct task *task, const struct future *f)
{
	if (!f)
		return task->problem;
	return f->wait ? f->wait->phrase : NULL;
}

static bool group_same_frame(const struct future *a, const struct future *b)
{
	return a->kind == b->kind && a->line == b->line && a->state == b->state &&
	       a->branch == b->branch && a->running == b->running && a->uncertain == b->uncertain &&
	       same_text(group_frame_name(a), group_frame_name(b)) && same_text(a->file, b->file) &&
	       same_text(a->edge, b->edge) && same_text(a->aliases, b->aliases) &&
	       !a->wait == !b->wait && (!a->wait || same_text(a->wait->kind, b->wait->kind));
}

/* The problem pattern of the future being looked up; NULL: none. */
static const char *problem_of(const struct maker *m, const struct future *f)
{
	return f && f->problem ? str_text(&m->problem.pattern) : NULL;
}

static bool is_node(const struct maker *m, const struct group_node_data *n,
                    const struct group_node_data *parent, const struct task *task,
                    const struct future *f)
{
	const struct group_range *wait = &n->node.wait;

	if (n->node.parent != (const struct group_node *)parent || !n->node.frame != !f)
		return false;
	if (f ? !group_same_frame(n->node.frame, f) : !same_text(n->node.task->type, task->type))
		return false;
	if (!same_text(n->node.problem.pattern, problem_of(m, f)))
		return false;
	return group_phrase_of(task, f)
	               ? wait->pattern && strcmp(wait->pattern, str_text(&m->phrase.pattern)) == 0
	               : !wait->pattern;
}

static uint64_t hash_frame(const struct maker *m, const struct group_node_data *parent,
                           const struct task *task, const struct future *f)
{
	uint64_t hash = hash_number(HASH_START, parent ? parent->node.serial + 1 : 0);

	hash = hash_text(hash, group_phrase_of(task, f) ? str_text(&m->phrase.pattern) : NULL);
	if (!f)
		return hash_text(hash, task->type) | 1;
	hash = hash_text(hash, group_frame_name(f));
	hash = hash_text(hash, f->file);
	hash = hash_text(hash, f->edge);
	hash = hash_text(hash, f->aliases);
	hash = hash_text(hash, problem_of(m, f));
	hash = hash_number(hash, (uint64_t)f->line << 16 | (uint64_t)f->state << 8 |
	                                 (uint64_t)f->branch << 4 | (uint64_t)f->running);
	return hash_text(hash, f->wait ? f->wait->kind : NULL) | 1;
}

/* ---- the merged tree ---- */

static struct group_node_data *new_node(struct maker *m, struct group_node_data *parent,
                                        const struct task *task, const struct future *f)
{
	struct group_node_data *n = NEW(m->a, struct group_node_data);

	n->node.frame = f;
	n->node.task = task;
	n->node.parent = parent ? &parent->node : NULL;
	n->node.depth = parent ? parent->node.depth + 1 : 0;
	n->node.serial = m->list.n;
	n->last_task = SIZE_MAX;
	group_range_init(&n->node.problem, m->a, &m->problem, f ? f->problem : NULL);
	group_range_init(&n->node.wait, m->a, &m->phrase, group_phrase_of(task, f));
	*vec_push(&m->list) = n;
	if (parent)
		parent->node.nchildren++;
	else
		m->ret->nroots++;
	return n;
}

/* Finds the child of parent that matches the frame, or adds it. */
static struct group_node_data *group_find_node(struct maker *m, struct group_node_data *parent,
                                               const struct task *task, const struct future *f)
{
	const char *phrase = group_phrase_of(task, f), *parts = !f        ? task->problem_parts
	                                                        : f->wait ? f->wait->phrase_parts
	                                                                  : NULL;

	group_text_read(&m->phrase, phrase, parts);
	if (f && f->problem)
		group_text_read(&m->problem, f->problem, f->problem_parts);
	uint64_t hash = hash_frame(m, parent, task, f);
	struct group_node_data *first = map_get(&m->nodes, hash);

	for (struct group_node_data *n = first; n; n = n->same_hash) {
		m->ret->probes++;
		if (!is_node(m, n, parent, task, f))
			continue;
		group_range_add(&n->node.wait, &m->phrase, phrase);
		group_range_add(&n->node.problem, &m->problem, f ? f->problem : NULL);
		return n;
	}
	struct group_node_data *n = new_node(m, parent, task, f);

	n->same_hash = first;
	map_put(&m->nodes, hash, n);
	return n;
}

static struct group_node_data *group_enter(struct maker *m, struct group_node_data *parent,
                                           const struct task *task, size_t place,
                                           const struct future *f)
{
	struct group_node_data *n = group_find_node(m, parent, task, f);

	n->node.futures++;
	m->ret->futures++;
	if (n->last_task != place)
		group_count_add(&n->node.count, task);
	n->last_task = place;
	if (f && f->nlocals) {
		group_local_add(&n->locals, f);
		m->ret->has_locals = true;
	}
	n->node.ends += !f || !f->nchildren;
	return n;
}

/* ---- shapes ---- */

/* Sorts by order of creation, because addresses differ from run to run. */
static int by_serial(const void *a, const void *b)
{
	const struct group_shape *x = *(struct group_shape *const *)a,
				 *y = *(struct group_shape *const *)b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* If the children are those of a set: sorts them and removes duplicates. Returns their number. */
static size_t merge_same(struct group_shape **children, size_t n)
{
	bool is_set = n > 1;
	size_t kept = 0;

	for (size_t i = 0; i < n && is_set; i++)
		is_set = same_text(children[i]->node->node.frame->edge, "set");
	if (is_set)
		qsort(children, n, sizeof(struct group_shape *), by_serial);
	for (size_t i = 0; i < n; i++) {
		if (!kept || !is_set || children[kept - 1] != children[i])
			children[kept++] = children[i];
	}
	return kept;
}

static struct group_shape *find_shape(struct maker *m, struct group_node_data *node,
                                      struct group_shape **children, size_t n)
{
	uint64_t hash = hash_number(HASH_START, node->node.serial);
	size_t nnodes = 1;

	for (size_t i = 0; i < n; i++) {
		hash = hash_number(hash, children[i]->serial);
		nnodes += children[i]->nnodes;
	}
	hash |= 1;
	struct group_shape *first = map_get(&m->shapes, hash);

	for (struct group_shape *s = first; s; s = s->same_hash) {
		m->ret->probes++;
		if (s->node == node && s->nchildren == n &&
		    (!n || memcmp(s->children, children, n * sizeof(struct group_shape *)) == 0))
			return s;
	}
	struct group_shape *s = NEW(m->a, struct group_shape);

	*s = (struct group_shape){ .node = node,
		                   .nchildren = n,
		                   .nnodes = nnodes,
		                   .serial = m->nshapes++,
		                   .same_hash = first };
	s->children = arena_memdup(m->a, children, n * sizeof(struct group_shape *));
	map_put(&m->shapes, hash, s);
	return s;
}

/* Finishes a node whose children are all finished. */
static void group_leave(struct maker *m, struct group_node_data *node, size_t shapes)
{
	size_t n = m->open.n - shapes;

	n = n ? merge_same(m->open.data + shapes, n) : 0;
	struct group_shape *s = find_shape(m, node, n ? m->open.data + shapes : NULL, n);

	m->open.n = shapes;
	*vec_push(&m->open) = s;
}

static void push(struct maker *m, struct group_node_data *parent, const struct task *task,
                 size_t place, const struct future *f)
{
	struct group_node_data *n = group_enter(m, parent, task, place, f);

	*vec_push(&m->stack) = (struct group_step){ .f = f, .node = n, .shapes = m->open.n };
}

static struct group_shape *task_shape(struct maker *m, const struct task *task, size_t place)
{
	push(m, NULL, task, place, task->root);
	while (m->stack.n) {
		struct group_step *top = &m->stack.data[m->stack.n - 1];

		if (top->f && top->next < top->f->nchildren) {
			push(m, top->node, task, place, top->f->children[top->next++]);
			continue;
		}
		group_leave(m, top->node, top->shapes);
		m->stack.n--;
	}
	m->open.n = 0;
	return m->open.data[0];
}

/* ---- groups ---- */

static struct group_node **preorder(struct maker *m, struct group_shape *root)
{
	struct group_node **ret = NEW_ARRAY(m->a, struct group_node *, root->nnodes);
	size_t n = 0;

	m->open.n = 0;
	*vec_push(&m->open) = root;
	while (m->open.n) {
		const struct group_shape *s = m->open.data[--m->open.n];

		ret[n++] = &s->node->node;
		for (size_t i = s->nchildren; i-- > 0;)
			*vec_push(&m->open) = s->children[i];
	}
	return ret;
}

static void group_add_task(struct maker *m, const struct task *task, size_t place)
{
	struct group_shape *s = task_shape(m, task, place);

	if (!s->group) {
		s->group = NEW(m->a, struct group);
		s->group->task = task;
		s->group->root = &s->node->node;
		s->group->nnodes = s->nnodes;
		s->group->nodes = preorder(m, s);
		s->place = m->groups.n;
		*vec_push(&m->groups) = s->group;
	}
	*vec_push(&m->of) = (uint32_t)s->place;
	group_count_add(&s->group->count, task);
	group_count_add(&m->ret->count, task);
}

static bool is_older(const struct task *a, const struct task *b)
{
	return a->number && b->number && a->number < b->number;
}

void group_count_add(struct group_count *c, const struct task *task)
{
	c->tasks++;
	c->states[task->state]++;
	c->changed += task->changed;
	c->keyed |= !task->number;
	if (!c->oldest || is_older(task, c->oldest))
		c->oldest = task;
	if (!c->newest || !is_older(task, c->newest))
		c->newest = task;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct group_node *x = *(struct group_node *const *)a;
	const struct group_node *y = *(struct group_node *const *)b;
	bool beside_x = x->frame && x->frame->branch != BRANCH_POLLED;
	bool beside_y = y->frame && y->frame->branch != BRANCH_POLLED;

	if (beside_x != beside_y)
		return beside_x ? 1 : -1;
	if (x->count.tasks != y->count.tasks)
		return x->count.tasks > y->count.tasks ? -1 : 1;
	return x->serial < y->serial ? -1 : 1;
}

/* A group and its index in order of creation. */
struct ranked {
	struct group group;
	size_t place;
};

static int compare_groups(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->group.count.tasks != y->group.count.tasks)
		return x->group.count.tasks > y->group.count.tasks ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

static void finish_groups(struct maker *m)
{
	SCRATCH(tmp);
	size_t n = m->groups.n;
	struct ranked *ranked = NEW_ARRAY(&tmp, struct ranked, n);

	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){ *m->groups.data[i], i };
	qsort(ranked, n, sizeof(*ranked), compare_groups);
	m->ret->groups = NEW_ARRAY(m->a, struct group, n);
	m->ret->ngroups = n;
	uint32_t *rank = NEW_ARRAY(&tmp, uint32_t, n);
	for (size_t i = 0; i < n; i++) {
		m->ret->groups[i] = ranked[i].group;
		rank[ranked[i].place] = (uint32_t)i;
	}
	m->ret->of = NEW_ARRAY(m->a, uint32_t, m->of.n);
	for (size_t i = 0; i < m->of.n; i++)
		m->ret->of[i] = rank[m->of.data[i]];
}

static void add_child(struct group_node **list, size_t *n, struct group_node *child)
{
	list[(*n)++] = child;
}

static void finish_nodes(struct maker *m)
{
	struct groups *g = m->ret;
	size_t nroots = 0;

	g->nnodes = m->list.n;
	g->roots = NEW_ARRAY(m->a, struct group_node *, g->nroots);
	for (size_t i = 0; i < m->list.n; i++) {
		struct group_node_data *n = m->list.data[i];
		struct group_node *parent = n->node.parent;

		n->node.locals = group_local_finish(&n->locals, m->a, &n->node.nlocals);
		n->node.children = NEW_ARRAY(m->a, struct group_node *, n->node.nchildren);
		n->node.nchildren = 0;
		/* A parent comes before its children. */
		if (parent)
			add_child(parent->children, &parent->nchildren, &n->node);
		else
			add_child(g->roots, &nroots, &n->node);
	}
	for (size_t i = 0; i < m->list.n; i++) {
		struct group_node *n = &m->list.data[i]->node;

		qsort(n->children, n->nchildren, sizeof(*n->children), compare_nodes);
	}
	qsort(g->roots, nroots, sizeof(*g->roots), compare_nodes);
}

static void free_maker(struct maker *m)
{
	map_free(&m->nodes);
	map_free(&m->shapes);
	vec_free(&m->list);
	vec_free(&m->groups);
	vec_free(&m->of);
	vec_free(&m->stack);
	vec_free(&m->open);
	group_text_free(&m->phrase);
	group_text_free(&m->problem);
}

void groups_make(struct arena *a, const struct task *const *tasks, size_t n, struct groups *ret)
{
	struct maker m CLEANUP(free_maker) = { .a = a, .ret = ret };

	*ret = (struct groups){ 0 };
	for (size_t i = 0; i < n; i++)
		group_add_task(&m, tasks[i], i);
	finish_groups(&m);
	finish_nodes(&m);
}
