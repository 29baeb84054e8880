#include "runtimes/analysis/diff.h"
#include "debugger/base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"
#include "runtimes/model/wait_kind.h"

const char *diff_kind_name(enum diff_kind kind)
{
	static const char *const names[] = {
		[DIFF_MOVED] = "moved", [DIFF_REARMED] = "rearmed", [DIFF_NEW] = "new",
		[DIFF_GONE] = "gone",   [DIFF_UNKNOWN] = "unknown", [DIFF_UNCHANGED] = "unchanged",
	};

	return names[kind];
}

/* ---- two trees ---- */

/* The first two frames that differ; NULL where a tree has no such frame. */
struct difference {
	const struct future *before, *after;
	bool rearmed; /* only a deadline has changed */
};

/*
 * Compares only the targets of two waits. The time left to a deadline, or the position in a queue,
 * can change while a task does not move.
 */
static bool same_wait(const struct wait *a, const struct wait *b, bool *rearmed)
{
	if (!a || !b)
		return a == b;
	if (!str_same(a->kind, b->kind) || a->object != b->object || !str_same(a->task, b->task))
		return false;
	int64_t then, now;

	*rearmed |= wait_number(a, "deadline_ns", &then) && wait_number(b, "deadline_ns", &now) &&
	            then != now;
	return true;
}

static bool diff_same_frame(const struct future *a, const struct future *b, bool *rearmed)
{
	return a->line == b->line && a->await_point == b->await_point && a->kind == b->kind &&
	       a->state == b->state && a->branch == b->branch && a->running == b->running &&
	       a->addr == b->addr && a->nchildren == b->nchildren &&
	       str_same(a->function, b->function) && str_same(a->type, b->type) &&
	       str_same(a->file, b->file) && same_wait(a->wait, b->wait, rearmed);
}

static bool same_tree(const struct future *a, const struct future *b, struct difference *d)
{
	bool same = a && b ? diff_same_frame(a, b, &d->rearmed) : a == b;

	for (size_t i = 0; same && a && i < a->nchildren; i++) {
		if (!same_tree(a->children[i], b->children[i], d))
			return false;
	}
	if (!same) {
		d->before = a;
		d->after = b;
	}
	return same;
}

/* ---- places ---- */

static struct diff_place diff_place_of_frame(const struct future *f)
{
	return (struct diff_place){
		.function = f->function ? f->function : f->type,
		.file = f->file_short,
		.line = f->file_short ? f->line : 0,
	};
}

static struct diff_place diff_place_of_tree(const struct future *root)
{
	const struct future *f = future_awaiting(root), *leaf = future_leaf(root);

	if (!root)
		return (struct diff_place){ 0 };
	f = f ? f : future_named(root);
	struct diff_place place = diff_place_of_frame(f);

	if (leaf->wait && leaf->wait->kind && !leaf->wait->anonymous)
		place.on = leaf->wait->kind;
	else if (leaf != f)
		place.on = leaf->function ? leaf->function : leaf->type;
	return place;
}

static struct diff_place place_of_task(const struct task *task)
{
	struct diff_place place = diff_place_of_tree(task->root);

	if (task->state != TASK_IDLE)
		place.state = task_state_name(task->state);
	return place;
}

static bool diff_same_place(const struct diff_place *a, const struct diff_place *b)
{
	return a->line == b->line && str_same(a->function, b->function) &&
	       str_same(a->file, b->file) && str_same(a->on, b->on) && str_same(a->state, b->state);
}

/* Uses the frame that differs as the place when the usual places are equal. */
static void report_difference(struct diff_item *item, const struct difference *d)
{
	if (!diff_same_place(&item->from, &item->to))
		return;
	item->again = !d->before || !d->after;
	if (item->again)
		return;
	struct diff_place from = diff_place_of_frame(d->before), to = diff_place_of_frame(d->after);

	if (diff_same_place(&from, &to)) {
		item->again = true;
		return;
	}
	item->from = from;
	item->to = to;
}

/* ---- two snapshots ---- */

struct differ {
	struct diff *d;
	const struct diff *earlier;
	VEC(struct diff_item) items;
	struct map tasks;   /* of the first snapshot: index + 1 by header address */
	bool *met;          /* by index: the second snapshot has it too */
	size_t *runtime_of; /* by index in the second snapshot: index + 1 in the first; 0: new */
};

static unsigned looks_before(const struct differ *x, uint64_t key)
{
	uintptr_t looks = x->earlier && key ? (uintptr_t)map_get(&x->earlier->looks, key) : 0;

	return looks ? (unsigned)looks : 1;
}

static void count_look(struct differ *x, struct diff_item *item, uint64_t key)
{
	item->looks = 1;
	if (item->kind != DIFF_UNCHANGED)
		return;
	item->looks = looks_before(x, key) + 1;
	if (key)
		map_put(&x->d->looks, key, (void *)(uintptr_t)item->looks);
}

static bool is_unread(const struct task *task)
{
	return task->problem && !task->root;
}

static enum diff_kind compare_trees(const struct future *a, const struct future *b,
                                    struct difference *d)
{
	if (same_tree(a, b, d))
		return d->rearmed ? DIFF_REARMED : DIFF_UNCHANGED;
	/* A frame that could not be read does not show that the task moved. */
	if ((d->before && d->before->problem) || (d->after && d->after->problem))
		return DIFF_UNKNOWN;
	return DIFF_MOVED;
}

static void compare_task(struct differ *x, const struct task *a, const struct task *b)
{
	struct diff_item *item = vec_push(&x->items);
	struct difference d = { 0 };

	item->before = a;
	item->after = b;
	item->from = place_of_task(a);
	item->to = place_of_task(b);
	if (a->state != b->state)
		item->kind = DIFF_MOVED;
	else if (is_unread(a) || is_unread(b))
		item->kind = DIFF_UNKNOWN;
	else
		item->kind = compare_trees(a->root, b->root, &d);
	if (item->kind == DIFF_MOVED)
		report_difference(item, &d);
	count_look(x, item, b->addr);
}

/* The task's counterpart in the first snapshot; NULL: it is new. */
static const struct task *earlier_task(struct differ *x, const struct task *b)
{
	const struct snapshot *before = x->d->before;
	uintptr_t number = b->addr ? (uintptr_t)map_get(&x->tasks, b->addr) : 0;

	if (!number || x->met[number - 1] || b->runtime >= x->d->after->nruntimes)
		return NULL;
	const struct task *a = before->tasks[number - 1];

	if (a->runtime + (size_t)1 != x->runtime_of[b->runtime] || strcmp(a->id, b->id) != 0)
		return NULL;
	x->met[number - 1] = true;
	return a;
}

static void add_only(struct differ *x, enum diff_kind kind, const struct task *a,
                     const struct task *b)
{
	*vec_push(&x->items) = (struct diff_item){
		.kind = kind,
		.before = a,
		.after = b,
		.from = place_of_task(a ? a : b),
		.looks = 1,
	};
}

static void compare_tasks(struct differ *x)
{
	const struct snapshot *before = x->d->before, *after = x->d->after;

	for (size_t i = 0; i < before->ntasks; i++) {
		if (before->tasks[i]->addr)
			map_put(&x->tasks, before->tasks[i]->addr, (void *)(i + 1));
	}
	for (size_t i = 0; i < after->ntasks; i++) {
		const struct task *b = after->tasks[i], *a = earlier_task(x, b);

		if (a)
			compare_task(x, a, b);
		else
			add_only(x, DIFF_NEW, NULL, b);
	}
	for (size_t i = 0; i < before->ntasks; i++) {
		if (!x->met[i])
			add_only(x, DIFF_GONE, before->tasks[i], NULL);
	}
}

/*
 * The index + 1 of the only runtime without a handle that is of the same kind and flavor; 0: there
 * is none, or more than one.
 */
static size_t only_without_handle(const struct snapshot *s, const struct runtime_info *like)
{
	size_t found = 0;

	for (size_t i = 0; i < s->nruntimes; i++) {
		const struct runtime_info *r = &s->runtimes[i];

		if (r->addr || !str_same(r->kind, like->kind) || !str_same(r->flavor, like->flavor))
			continue;
		if (found)
			return 0;
		found = i + 1;
	}
	return found;
}

/*
 * Matches runtimes by the address of their handle, which never moves. The pool of the crate
 * blocking has none: smol's jobs would be new and gone at each look.
 */
static void match_runtimes(struct differ *x)
{
	const struct snapshot *before = x->d->before, *after = x->d->after;
	struct map of_handle CLEANUP(map_free) = { 0 };

	for (size_t i = 0; i < before->nruntimes; i++) {
		if (before->runtimes[i].addr)
			map_put(&of_handle, before->runtimes[i].addr, (void *)(i + 1));
	}
	for (size_t i = 0; i < after->nruntimes; i++) {
		const struct runtime_info *r = &after->runtimes[i];

		if (r->addr)
			x->runtime_of[i] = (uintptr_t)map_get(&of_handle, r->addr);
		else if (only_without_handle(after, r))
			x->runtime_of[i] = only_without_handle(before, r);
	}
}

static bool diff_blocks_on(const struct thread_info *th)
{
	return th && th->role == THREAD_BLOCK_ON && th->root;
}

/* Whether the thread may block on a future that this snapshot could not read. */
static bool diff_may_block_on(const struct snapshot *s, pid_t tid)
{
	const struct thread_info *th = snapshot_thread_by_tid(s, tid);

	return th && (th->role == THREAD_BLOCK_ON || (!s->complete && th->role == THREAD_OTHER));
}

static enum diff_kind kind_of_only(const struct differ *x, const struct thread_info *a,
                                   const struct thread_info *b)
{
	if (diff_may_block_on(a ? x->d->after : x->d->before, (a ? a : b)->tid))
		return DIFF_UNKNOWN;
	return a ? DIFF_GONE : DIFF_NEW;
}

/* a or b is NULL when the thread is in only one snapshot. */
static void compare_thread(struct differ *x, const struct thread_info *a,
                           const struct thread_info *b)
{
	struct diff_item *item = vec_push(&x->items);
	struct difference d = { 0 };

	item->thread_before = a;
	item->thread_after = b;
	item->from = diff_place_of_tree(a ? a->root : b->root);
	if (a && b) {
		item->to = diff_place_of_tree(b->root);
		item->kind = compare_trees(a->root, b->root, &d);
	} else {
		item->kind = kind_of_only(x, a, b);
	}
	if (item->kind == DIFF_MOVED)
		report_difference(item, &d);
	count_look(x, item, (uint64_t)(b ? b : a)->tid);
}

static void compare_threads(struct differ *x)
{
	const struct snapshot *before = x->d->before, *after = x->d->after;
	struct map of_tid CLEANUP(map_free) = { 0 };

	for (size_t i = 0; i < before->nthreads; i++) {
		if (diff_blocks_on(&before->threads[i]) && before->threads[i].tid > 0)
			map_put(&of_tid, (uint64_t)before->threads[i].tid, &before->threads[i]);
	}
	for (size_t i = 0; i < after->nthreads; i++) {
		const struct thread_info *b = &after->threads[i];

		if (!diff_blocks_on(b) || b->tid <= 0)
			continue;
		compare_thread(x, map_get(&of_tid, (uint64_t)b->tid), b);
		map_put(&of_tid, (uint64_t)b->tid, NULL);
	}
	for (size_t i = 0; i < before->nthreads; i++) {
		const struct thread_info *a = &before->threads[i];

		if (diff_blocks_on(a) && a->tid > 0 && map_get(&of_tid, (uint64_t)a->tid) == a)
			compare_thread(x, a, NULL);
	}
}

/* ---- groups ---- */

static uint64_t diff_hash_bytes(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t hash_place(uint64_t hash, const struct diff_place *p)
{
	hash = diff_hash_bytes(diff_hash_bytes(hash, p->function), p->file);
	hash = diff_hash_bytes(diff_hash_bytes(hash, p->on), p->state);
	return (hash ^ p->line) * UINT64_C(0x100000001b3);
}

static uint64_t hash_item(const struct diff_item *item)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)item->kind << 32 ^ item->looks;

	hash = hash_place(hash, &item->from);
	if (item->kind == DIFF_MOVED)
		hash = hash_place(hash, &item->to);
	return hash ? hash : 1;
}

static bool same_group(const struct diff_item *a, const struct diff_item *b)
{
	return a->kind == b->kind && a->looks == b->looks && diff_same_place(&a->from, &b->from) &&
	       (a->kind != DIFF_MOVED || diff_same_place(&a->to, &b->to));
}

/* A group that is being built. Groups with the same hash form a chain. */
struct diff_growing {
	VEC(const struct diff_item *) items;
	size_t next; /* index + 1 of the next group with the same hash, 0 none */
};
typedef VEC(struct diff_growing) growing_vec;

static struct diff_growing *diff_group_of(growing_vec *groups, struct map *heads,
                                          const struct diff_item *item)
{
	uint64_t hash = hash_item(item);
	size_t head = (uintptr_t)map_get(heads, hash);

	for (size_t i = head; i; i = groups->data[i - 1].next) {
		if (same_group(groups->data[i - 1].items.data[0], item))
			return &groups->data[i - 1];
	}
	struct diff_growing *new = vec_push(groups);

	new->next = head;
	map_put(heads, hash, (void *)groups->n);
	return new;
}

static int by_weight(const void *a, const void *b)
{
	const struct diff_group *x = a, *y = b;
	const struct diff_item *i = x->items[0], *j = y->items[0];

	if (i->kind != j->kind)
		return i->kind < j->kind ? -1 : 1;
	if (i->looks != j->looks)
		return i->looks > j->looks ? -1 : 1;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void group_items(struct diff *d)
{
	growing_vec groups = { 0 };
	struct map heads CLEANUP(map_free) = { 0 };

	for (size_t i = 0; i < d->nitems; i++) {
		struct diff_growing *g = diff_group_of(&groups, &heads, &d->items[i]);

		*vec_push(&g->items) = &d->items[i];
		d->counts[d->items[i].kind]++;
	}
	d->ngroups = groups.n;
	d->groups = NEW_ARRAY(&d->arena, struct diff_group, groups.n);
	for (size_t i = 0; i < groups.n; i++) {
		d->groups[i].n = groups.data[i].items.n;
		d->groups[i].items = vec_to_arena(&groups.data[i].items, &d->arena);
	}
	vec_free(&groups);
	if (d->ngroups)
		qsort(d->groups, d->ngroups, sizeof(*d->groups), by_weight);
}

void diff_compute(const struct snapshot *before, const struct snapshot *after,
                  const struct diff *earlier, struct diff *ret)
{
	SCRATCH(tmp);
	struct differ x = { .d = ret, .earlier = earlier };

	*ret = (struct diff){ .before = before, .after = after };
	x.met = NEW_ARRAY(&tmp, bool, before->ntasks);
	x.runtime_of = NEW_ARRAY(&tmp, size_t, after->nruntimes);
	match_runtimes(&x);
	compare_threads(&x);
	compare_tasks(&x);
	ret->nitems = x.items.n;
	ret->items = vec_to_arena(&x.items, &ret->arena);
	map_free(&x.tasks);
	group_items(ret);
}

void diff_free(struct diff *d)
{
	map_free(&d->looks);
	arena_free(&d->arena);
	*d = (struct diff){ 0 };
}

bool diff_has_moved(const struct diff *d)
{
	return d->counts[DIFF_MOVED] || d->counts[DIFF_NEW] || d->counts[DIFF_GONE];
}
