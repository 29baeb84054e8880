/* Checks of single tasks; those at one place become one finding. */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/wait_kind.h"

enum {
	MAX_GROUPS = 32, /* findings of one check; others are only counted */
	MAX_LISTED = 8,
	HUGE_FUTURE = 16 * 1024,
	MANY_TASKS = 1000,
};

/* Tasks that await at one place. */
struct checks_task_group {
	const char *function, *file;
	unsigned line;
	const char *say, *say_all; /* text for one task, for several tasks */
	bool possible;             /* the finding is not certain */
	uint64_t size;             /* of the largest future */
	const char *tasks[MAX_LISTED];
	size_t n;
};

struct checks_task_groups {
	struct arena *a;
	struct map
		by_place; /* hash of a place -> its group; places whose hashes collide share one */
	VEC(struct checks_task_group *) list;
};

static uint64_t checks_task_hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static struct checks_task_group *checks_task_group_of(struct checks_task_groups *g,
                                                      const struct task *task, const char *say,
                                                      const char *say_all)
{
	const struct future *at = future_awaiting(task->root);
	const struct future *f = at ? at : future_named(task->root);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = checks_task_hash_text(checks_task_hash_text(hash, say),
	                             f ? f->function : task->type);
	hash = (checks_task_hash_text(hash, at ? at->file_short : NULL) ^ (at ? at->line : 0)) | 1;
	struct checks_task_group *group = map_get(&g->by_place, hash);
	if (!group) {
		group = NEW(g->a, struct checks_task_group);
		group->function = f && f->function ? f->function : task->type;
		group->file = at ? at->file_short : NULL;
		group->line = at ? at->line : 0;
		group->say = say;
		group->say_all = say_all;
		map_put(&g->by_place, hash, group);
		*vec_push(&g->list) = group;
	}
	if (group->n < MAX_LISTED)
		group->tasks[group->n] = task->id;
	group->n++;
	group->size = task->size > group->size ? task->size : group->size;
	return group;
}

static void groups_free(struct checks_task_groups *g)
{
	map_free(&g->by_place);
	vec_free(&g->list);
}

static const char *place_text(struct arena *a, const struct checks_task_group *g)
{
	const char *name = g->function ? g->function : "?";

	if (!g->file)
		return arena_printf(a, "in %s", name);
	return arena_printf(a, "in %s at %s:%u", name, g->file, g->line);
}

static struct finding *report_group(struct checks *c, const struct check *check,
                                    enum severity severity, const struct checks_task_group *g,
                                    const char *more)
{
	const char *place = place_text(c->a, g);
	struct finding *f;

	if (g->n == 1)
		f = checks_add_finding(c, check, severity, "task %s %s%s, %s", g->tasks[0], g->say,
		                       more, place);
	else
		f = checks_add_finding(c, check, severity,
		                       "%zu tasks %s%s, %s; the first is task %s", g->n, g->say_all,
		                       more, place, g->tasks[0]);
	f->ntasks = g->n < MAX_LISTED ? g->n : MAX_LISTED;
	f->tasks = arena_memdup(c->a, g->tasks, f->ntasks * sizeof(*f->tasks));
	f->all_tasks = g->n;
	f->possible = g->possible;
	f->more = arena_printf(c->a, "async task %s", g->tasks[0]);
	return f;
}

static void report_groups(struct checks *c, const struct check *check, enum severity severity,
                          struct checks_task_groups *g)
{
	size_t left = 0;

	for (size_t i = 0; i < g->list.n; i++) {
		if (i < MAX_GROUPS)
			report_group(c, check, severity, g->list.data[i], "");
		else
			left += g->list.data[i]->n;
	}
	if (left)
		checks_add_finding(c, check, severity, "%zu more tasks at other places", left)
			->all_tasks = left;
	groups_free(g);
}

/* ---- predicates of trees ---- */

static bool has_panicked(const struct future *f)
{
	if (f->state == FUTURE_PANICKED)
		return true;
	for (size_t i = 0; i < f->nchildren; i++) {
		if (has_panicked(f->children[i]))
			return true;
	}
	return false;
}

void checks_panicked(struct checks *c, const struct check *check)
{
	struct checks_task_groups g = { .a = c->a };

	for (size_t i = 0; i < c->s->ntasks; i++) {
		if (c->s->tasks[i]->root && has_panicked(c->s->tasks[i]->root))
			checks_task_group_of(&g, c->s->tasks[i], "has a future that panicked",
			                     "have a future that panicked");
	}
	report_groups(c, check, SEVERITY_WARNING, &g);
}

enum certainty { CERTAINLY_NOT, POSSIBLY, CERTAINLY };

/*
 * Whether the future may be unpolled: a hand-written future may have stopped polling a future that
 * it still owns.
 */
static bool may_be_unpolled(const struct future *f)
{
	return (f->edge && strcmp(f->edge, "holds") == 0) || (f->wait && f->wait->within);
}

static enum certainty waits_at_closed(const struct future *f)
{
	enum certainty found = CERTAINLY_NOT;
	bool leaf = true;

	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch != BRANCH_POLLED)
			continue;
		enum certainty child = waits_at_closed(f->children[i]);
		leaf = false;
		found = child > found ? child : found;
	}
	if (leaf && f->wait && wait_is_closed(f->wait))
		found = CERTAINLY;
	return found && may_be_unpolled(f) ? POSSIBLY : found;
}

void checks_closed_channel(struct checks *c, const struct check *check)
{
	struct checks_task_groups g = { .a = c->a };

	for (size_t i = 0; i < c->s->ntasks; i++) {
		const struct task *task = c->s->tasks[i];
		enum certainty sure = CERTAINLY_NOT;

		if (task->state == TASK_IDLE && !task->changed && task->root)
			sure = waits_at_closed(task->root);
		if (sure == CERTAINLY)
			checks_task_group_of(&g, task, "waits on a channel whose other end is gone",
			                     "wait on a channel whose other end is gone");
		else if (sure == POSSIBLY)
			checks_task_group_of(&g, task,
			                     "may wait on a channel whose other end is gone",
			                     "may wait on a channel whose other end is gone")
				->possible = true;
	}
	report_groups(c, check, SEVERITY_WARNING, &g);
}

/* Summary of the leaves that a task waits for. */
struct leaves {
	bool all_unarmed; /* each is certain not to have its waker */
	bool all_nobody;  /* each was found to have nothing in reach that wakes it */
	bool any_event;   /* one waits for something: not just for ever, on purpose */
};

static void add_leaves(const struct future *f, struct leaves *l)
{
	bool leaf = true;

	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch != BRANCH_POLLED)
			continue;
		leaf = false;
		add_leaves(f->children[i], l);
	}
	enum wait_target target = wait_kind_of(f->wait)->target;
	if (!f->wait && !leaf)
		return;
	l->all_nobody &= target == WAIT_NOBODY;
	l->all_unarmed &=
		target == WAIT_NOBODY || (f->wait && f->wait->armed == WAKER_REGISTERED_NO);
	l->any_event |= target != WAIT_FOREVER;
}

bool checks_nothing_wakes(const struct task *task)
{
	struct leaves l = { .all_unarmed = true, .all_nobody = true };

	if (task->state != TASK_IDLE || task->changed || !task->root || task->wakers)
		return false;
	add_leaves(task->root, &l);
	return l.all_unarmed && l.any_event && (task->has_wakers || l.all_nobody);
}

void checks_no_waker(struct checks *c, const struct check *check)
{
	struct checks_task_groups g = { .a = c->a };

	for (size_t i = 0; i < c->s->ntasks; i++) {
		if (checks_nothing_wakes(c->s->tasks[i]))
			checks_task_group_of(
				&g, c->s->tasks[i],
				"is suspended and has no waker: nothing can wake it",
				"are suspended and have no waker: nothing can wake them");
	}
	report_groups(c, check, SEVERITY_WARNING, &g);
}

void checks_huge_future(struct checks *c, const struct check *check)
{
	struct checks_task_groups g = { .a = c->a };
	struct map seen = { 0 };

	for (size_t i = 0; i < c->s->ntasks; i++) {
		const struct task *task = c->s->tasks[i];

		if (task->size < HUGE_FUTURE || !task->type)
			continue;
		/* Grouped by type of task, not by place. */
		struct checks_task_group *group = map_get(&seen, (uintptr_t)task->type);
		if (!group) {
			group = NEW(c->a, struct checks_task_group);
			group->function = task->type;
			group->say = "has a future";
			group->say_all = "have a future";
			map_put(&seen, (uintptr_t)task->type, group);
			*vec_push(&g.list) = group;
		}
		if (group->n < MAX_LISTED)
			group->tasks[group->n] = task->id;
		group->n++;
		group->size = task->size;
	}
	for (size_t i = 0; i < g.list.n && i < MAX_GROUPS; i++)
		report_group(c, check, SEVERITY_INFO, g.list.data[i],
		             arena_printf(c->a, " of %" PRIu64 " bytes%s", g.list.data[i]->size,
		                          name_is_pinned_box(g.list.data[i]->function)
		                                  ? ", in a box"
		                                  : ""));
	map_free(&seen);
	groups_free(&g);
}

void checks_identical(struct checks *c, const struct check *check)
{
	struct checks_task_groups g = { .a = c->a };
	size_t n = c->s->ntasks;

	for (size_t i = 0; i < n && n > MANY_TASKS; i++) {
		if (c->s->tasks[i]->root)
			checks_task_group_of(&g, c->s->tasks[i], "awaits at one place",
			                     "await at one place");
	}
	for (size_t i = 0; i < g.list.n; i++) {
		if (g.list.data[i]->n > n / 2)
			report_group(c, check, SEVERITY_INFO, g.list.data[i],
			             arena_printf(c->a, " (of %zu)", n));
	}
	groups_free(&g);
}
