/*
 * Checks for tasks that keep others waiting with a future that they own and do not poll, without a
 * cycle: they sleep, or wait for something else, and poll it some day or drop it.
 */
#include <inttypes.h>

#include "debugger/base/map.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/wait_kind.h"

enum {
	MAX_FOUND = 16, /* others are only counted */
	SOON_MS = 1000, /* a task whose timer fires before that is about to go on */
};

/* The participants that wait for a lock, in its queue or not: by the node of its holders. */
struct lock_waiters {
	size_t first, n; /* a node, and how many */
};

struct unpolled_check {
	struct checks *c;
	const struct check *check;
	const struct graph *g;
	struct lock_waiters *waiters; /* by node */
	struct map seen;              /* pairs of lock and owner that were reported */
	size_t found;
};

/* The node of the lock's holders that an edge leads to, or comes from; 0: none. */
static size_t lock_of_node(const struct graph *g, size_t node)
{
	return g->nodes[node].kind == GRAPH_LOCK    ? node
	       : g->nodes[node].kind == GRAPH_QUEUE ? g->nodes[node].lock
	                                            : 0;
}

static void count_waiters(struct unpolled_check *u)
{
	const struct graph *g = u->g;

	for (size_t i = 0; i < g->nedges; i++) {
		size_t from = g->edges[i].from, lock = lock_of_node(g, g->edges[i].to);

		if (!lock || !graph_is_participant(&g->nodes[from]))
			continue;
		if (u->waiters[lock].n++ == 0)
			u->waiters[lock].first = from;
	}
}

/* Whether a timer that a poll of the future reaches ends the wait soon. */
static bool goes_on_soon(const struct future *f)
{
	int64_t remaining;

	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED && goes_on_soon(f->children[i]))
			return true;
	}
	return f->wait && wait_number(f->wait, "remaining_ms", &remaining) && remaining < SOON_MS;
}

/* Whether the owner is idle, and no verdict names it or what it keeps waiting. */
static bool keeps_waiting(const struct unpolled_check *u, const struct graph_edge *e)
{
	const struct graph_node *owner = &u->g->nodes[e->to];
	const struct task *task = owner->task;

	return e->unpolled && !e->weak && owner->kind == GRAPH_TASK && task &&
	       task->state == TASK_IDLE && !task->changed && task->root && !u->c->v->stuck[e->to] &&
	       !goes_on_soon(task->root);
}

static const char *participant_name(struct arena *a, const struct graph_node *n)
{
	return checks_with_name(a, graph_participant_text(a, n), n->task);
}

static void report_unpolled(struct unpolled_check *u, const struct graph_edge *e, size_t lock)
{
	struct arena *a = u->c->a;
	const struct graph_node *owner = &u->g->nodes[e->to];
	const struct graph_node *waiter = &u->g->nodes[u->waiters[lock].first];
	const char *on = task_waiting_on(a, u->c->s, owner->task, false, &(size_t){ 0 });
	const char *evidence = graph_evidence_text(a, e);
	const char **tasks = NEW_ARRAY(a, const char *, 2);
	size_t behind = u->waiters[lock].n - 1;
	struct finding *f;

	f = checks_add_finding(
		u->c, u->check, SEVERITY_WARNING,
		"possibly, %s waits for %s, %s %s (%s), which waits for %s%s",
		participant_name(a, waiter), graph_object_text(a, &u->g->nodes[lock]),
		e->queued || u->g->nodes[e->from].kind == GRAPH_QUEUE ? "queued behind a future of"
		: e->granted                                          ? "granted to"
								      : "held by",
		participant_name(a, owner), evidence ? evidence : "?", on ? on : "something else",
		behind ? arena_printf(a, "; %zu more behind", behind) : "");
	f->possible = true;
	if (waiter->task)
		tasks[f->ntasks++] = waiter->task->id;
	tasks[f->ntasks++] = owner->task->id;
	f->tasks = tasks;
	f->all_tasks = f->ntasks;
	f->more = arena_printf(a, "async task %s", owner->task->id);
}

void checks_unpolled_owner(struct checks *c, const struct check *check)
{
	const struct graph *g = c->v->graph;
	struct unpolled_check u = { .c = c,
		                    .check = check,
		                    .g = g,
		                    .waiters = NEW_ARRAY(c->a, struct lock_waiters, g->nnodes) };

	count_waiters(&u);
	for (size_t i = 0; i < g->nedges; i++) {
		const struct graph_edge *e = &g->edges[i];
		size_t lock = lock_of_node(g, e->from);
		uint64_t pair = (uint64_t)lock << 32 | (uint32_t)e->to;

		if (!lock || !u.waiters[lock].n || u.waiters[lock].first == e->to ||
		    !keeps_waiting(&u, e) || !map_put(&u.seen, pair, NULL))
			continue;
		if (u.found++ < MAX_FOUND)
			report_unpolled(&u, e, lock);
	}
	map_free(&u.seen);
	if (u.found > MAX_FOUND)
		checks_add_finding(c, check, SEVERITY_WARNING,
		                   "possibly, %zu more locks are kept by futures that nobody polls",
		                   u.found - MAX_FOUND)
			->possible = true;
}
