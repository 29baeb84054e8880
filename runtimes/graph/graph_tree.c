/* Adds the edges of a future tree: forks, arms of joins, and leaves. */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/graph/graph_private.h"

static bool graph_tree_begins(const char *text, const char *with)
{
	return text && str_begins(text, with);
}

/* Does name begin with the crate name of a runtime, followed by rest? */
static bool graph_tree_is_of_a_runtime(const struct snapshot *s, const char *name, const char *rest)
{
	for (size_t i = 0; name && i < s->nruntimes; i++) {
		const char *crate = s->runtimes[i].kind;

		if (crate && str_begins(name, crate) && str_begins(name + strlen(crate), rest))
			return true;
	}
	return false;
}

static bool graph_tree_is_poll_fn(const struct snapshot *s, const struct future *f)
{
	return graph_tree_begins(f->type, "core::future::poll_fn::PollFn<") ||
	       graph_tree_begins(f->type, "futures_util::future::poll_fn::PollFn<") ||
	       graph_tree_begins(f->type, "futures_lite::future::PollFn<") ||
	       graph_tree_is_of_a_runtime(s, f->type, "::future::poll_fn::PollFn<");
}

/* Is it a closure of a runtime's own, as in recv()? Such a closure polls nothing else. */
static bool has_own_closure(const struct snapshot *s, const struct future *f)
{
	const char *closure = f->type ? strchr(f->type, '<') : NULL;

	return closure && graph_tree_is_of_a_runtime(s, closure + 1, "::");
}

/*
 * Does the future's type name only types of runtimes and of std, as ReadExact<TcpStream>? Such a
 * future polls its own members and nothing else.
 */
static bool is_all_of_runtimes(const struct snapshot *s, const struct future *f)
{
	static const char *const known[] = { "core::", "alloc::", "std::" };
	const char *at = f->type ? f->type : "";

	if (!graph_tree_is_of_a_runtime(s, at, "::"))
		return false;
	while (*at) {
		size_t word = strcspn(at, "<>(),&*[]; ");
		bool is_path = memmem(at, word, "::", 2) != NULL;

		if (is_path && !str_begins_with_any(at, known) &&
		    !graph_tree_is_of_a_runtime(s, at, "::"))
			return false;
		if (word == 3 && str_begins(at, "dyn"))
			return false;
		at += word;
		at += strspn(at, "<>(),&*[]; ");
	}
	return true;
}

static const char type_doubt[] = "its type is one of several that share their code";

/* Doubt whether the child (or own wait) of f is all that f waits for; NULL: it is. */
static const char *graph_tree_uncertainty_of(const struct snapshot *s, const struct future *f,
                                             const struct future *child)
{
	if (f->uncertain || f->aliases)
		return type_doubt;
	if (f->inferred)
		return "the debug info does not place what the thread blocks on";
	if (child && graph_tree_begins(child->edge, "holds"))
		return "a hand-written future holds the waiting future and may poll something else "
		       "as well";
	if (child && graph_tree_is_poll_fn(s, f) && !graph_tree_begins(child->edge, "select") &&
	    !graph_tree_begins(child->edge, "join"))
		return "a closure polls the waiting future and may proceed by other means";
	/* The own wait of a hand-written future or a closure was found among its members. */
	if (!child && f->wait && f->wait->within && !is_all_of_runtimes(s, f))
		return "a hand-written future holds the waiting future and may poll something else "
		       "as well";
	if (!child && f->wait && graph_tree_is_poll_fn(s, f) && !has_own_closure(s, f))
		return "a closure polls the waiting future and may proceed by other means";
	return NULL;
}

const char graph_pool_doubt[] = "unless the pool times out or is closed";

/* Records the arm of a join that a future is in. */
static void note_arm(struct builder *b, const struct future *f)
{
	if (b->arm)
		map_put(&b->arm_of, (uintptr_t)f, (void *)b->arm);
}

/*
 * Records the places in queues of the futures in an unpolled tree. around: of the futures around f.
 */
static void walk_unpolled(struct builder *b, const struct future *f, struct unpolled around)
{
	const char *note = f->branch == BRANCH_POLLED ? NULL : f->note;

	around.may_be_polled |= note && strstr(note, "be polled");
	around.may_be_gone |= note && strstr(note, "moved");
	if (!around.doubt && (f->uncertain || f->aliases))
		around.doubt = type_doubt;
	map_put(&b->unpolled, (uintptr_t)f, (void *)(uintptr_t)around.top);
	note_arm(b, f);
	if (f->wait)
		graph_leaf_queues(b, 0, f, &around, around.doubt);
	for (size_t i = 0; i < f->nchildren; i++)
		walk_unpolled(b, f->children[i], around);
}

struct graph_tree_polled {
	size_t n, joins;
	const struct future *first;
};

static struct graph_tree_polled polled_children(struct builder *b, const struct future *f)
{
	struct graph_tree_polled p = { 0 };

	for (size_t i = 0; i < f->nchildren; i++) {
		const struct future *child = f->children[i];

		if (child->branch != BRANCH_POLLED) {
			map_put(&b->frames, (uintptr_t)child, (void *)(uintptr_t)f);
			walk_unpolled(b, child, (struct unpolled){ .top = child });
			continue;
		}
		p.n++;
		p.joins += graph_tree_begins(child->edge, "join");
		p.first = p.first ? p.first : child;
	}
	return p;
}

/* Is its own type a try_join? Type parameters do not count. */
static bool is_try_join(const struct future *f)
{
	const char *type = f->type ? f->type : "", *found = strstr(type, "::try_join");

	return found && (size_t)(found - type) < strcspn(type, "<");
}

/* Some arm, finished or not, proves that it is a join!. */
static bool has_joined(const struct future *f)
{
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->joined)
			return true;
	}
	return false;
}

static struct graph_node fork_node(const struct snapshot *s, const struct future *f,
                                   const struct graph_tree_polled *p)
{
	struct graph_node n = { .kind = GRAPH_FORK, .rule = GRAPH_ANY, .future = f };

	n.what = graph_tree_begins(p->first->edge, "select") ? "select" : "several futures";
	if (graph_tree_begins(p->first->edge, "set"))
		n.what = "set of futures";
	if (is_try_join(f))
		return n;
	if (graph_tree_begins(f->type, "futures_util::future::join_all::JoinAll<") ||
	    p->joins == p->n) {
		n.what = "join";
		n.rule = GRAPH_ALL;
		/*
		 * join! and try_join! of a runtime may look the same. An error ends try_join!
		 * early.
		 */
		n.maybe_any = graph_tree_is_poll_fn(s, f) && !has_joined(f);
	}
	return n;
}

static void graph_tree_walk(struct builder *b, size_t from, const struct future *f,
                            const char *doubt);

static void link_arm(struct builder *b, struct arm *arm)
{
	struct arm *around = arm->around ? map_get(&b->arms, arm->around) : NULL;

	if (around) {
		arm->next = around->inner;
		around->inner = arm;
		return;
	}
	arm->next = map_get(&b->outer_arms, arm->participant);
	map_put(&b->outer_arms, arm->participant, arm);
}

/* Each arm of a join goes on, and drops what it holds, independently of the others. */
static void walk_arm(struct builder *b, size_t fork, const struct future *f)
{
	size_t around = b->arm;
	struct arm *arm = NEW(&b->g->arena, struct arm);

	b->arm = graph_add_node(
		b, (struct graph_node){ .kind = GRAPH_ARM, .what = "join arm", .future = f });
	arm->node = b->arm;
	arm->participant = b->participant;
	arm->around = around;
	map_put(&b->arms, b->arm, arm);
	link_arm(b, arm);
	graph_add_edge(b, fork, b->arm, "poll")->future = f;
	graph_tree_walk(b, b->arm, f, NULL);
	b->arm = around;
}

/*
 * Does f, so many futures below one of a pool's own, lead to the wait for a connection of it?
 */
static bool leads_to_pool(const struct future *f, unsigned depth)
{
	int64_t own;

	if (wait_kind_of(f->wait)->access == WAIT_SLOTS)
		return wait_number(f->wait, "own_frames", &own) && own >= depth;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED &&
		    leads_to_pool(f->children[i], depth + 1))
			return true;
	}
	return false;
}

/*
 * The branch in which a pool's own future waits for a connection; NULL when f is no such future.
 * Beside it there are the pool's ways to give up: its timeout, its being closed.
 */
static const struct future *pool_branch(const struct future *f)
{
	const struct future *found = NULL;

	for (size_t i = 0; i < f->nchildren && !f->wait; i++) {
		if (f->children[i]->branch != BRANCH_POLLED || !leads_to_pool(f->children[i], 1))
			continue;
		if (found)
			return NULL;
		found = f->children[i];
	}
	return found;
}

static void walk_fork(struct builder *b, size_t from, const struct future *f,
                      const struct graph_tree_polled *p, const char *doubt)
{
	struct graph_node node = fork_node(b->s, f, p);
	size_t fork = graph_add_node(b, node);
	struct graph_edge *e = graph_add_edge(b, from, fork, "poll");

	e->future = f;
	e->doubt = doubt;
	if (f->wait)
		graph_leaf_edges(b, fork, f, NULL);
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch != BRANCH_POLLED)
			continue;
		if (node.rule == GRAPH_ALL)
			walk_arm(b, fork, f->children[i]);
		else
			graph_tree_walk(b, fork, f->children[i], NULL);
	}
}

/* Adds edges for what node `from`, which polls f, waits for in f. */
static void graph_tree_walk(struct builder *b, size_t from, const struct future *f,
                            const char *doubt)
{
	for (;;) {
		struct graph_tree_polled p = polled_children(b, f);
		const char *own = graph_tree_uncertainty_of(b->s, f, p.first);

		note_arm(b, f);
		graph_note_abortable(b, f);
		doubt = doubt ? doubt : own;
		if (f->running || f->problem || (p.n == 0 && !f->wait)) {
			graph_add_edge(b, from, GRAPH_OUTSIDE, "unknown")->future = f;
			return;
		}
		if (p.n == 0) {
			graph_leaf_edges(b, from, f, doubt);
			return;
		}
		const struct future *pool = p.n > 1 ? pool_branch(f) : NULL;

		if (!pool && (p.n > 1 || f->wait)) {
			walk_fork(b, from, f, &p, doubt);
			return;
		}
		if (pool)
			doubt = graph_pool_doubt;
		f = pool ? pool : p.first;
	}
}

void graph_tree_edges(struct builder *b, size_t from, const struct future *root, const char *doubt)
{
	b->arm = 0;
	graph_tree_walk(b, from, root, doubt);
	b->arm = 0;
}
