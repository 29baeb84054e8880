#include "runtimes/future/unpolled.h"

#include <string.h>

#include "runtimes/common/plausible.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/leaf.h"
#include "runtimes/future/object_walk.h"
#include "runtimes/future/task_set.h"

enum {
	MAX_SCAN = 1 << 20, /* bytes looked at for one coroutine */
	MAX_TARGETS = 256,  /* places in it that its awaitee refers to */
	BEHIND = 16,        /* bytes at such a place that may be a reference again */
	AROUND = 512,       /* bytes looked at before and after where an untyped pointer leads */
};

/* ---- what the awaitee may reach ---- */

/* Places within one coroutine that its awaitee refers to, directly or by way of another variable.
 */
struct uses {
	struct target *t;
	struct value coroutine;
	uint64_t targets[MAX_TARGETS];
	size_t n;
	size_t scanned;
	bool too_much;      /* then everything counts as used */
	bool unseen;        /* the awaitee may reach what was not seen */
	size_t flags_clear; /* variables that were moved or not set */
};

static void add_target(struct uses *u, uint64_t addr)
{
	if (addr < u->coroutine.addr || addr - u->coroutine.addr >= type_size(u->coroutine.type))
		return;
	for (size_t i = 0; i < u->n; i++) {
		if (u->targets[i] == addr)
			return;
	}
	if (u->n == MAX_TARGETS)
		u->too_much = true;
	else
		u->targets[u->n++] = addr;
}

static bool is_inside(uint64_t addr, const struct future_region *r)
{
	return addr >= r->addr && addr - r->addr < r->size;
}

/* Is the number of its state in the word at addr? Then that is no reference, or no longer one. */
static bool holds_state(const struct future_region *r, uint64_t addr)
{
	const struct member *state = type_is_coroutine(r->type) ? type_discr(r->type) : NULL;

	return state && r->addr + state->offset < addr + 8 &&
	       addr < r->addr + state->offset + type_size(state->type);
}

/* Does one of the futures there say that the word at addr leads to nothing it polls? */
static bool is_passed(uint64_t addr, const struct future_region *there, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((there[i].leaf && is_inside(addr, &there[i])) || holds_state(&there[i], addr))
			return true;
	}
	return false;
}

/*
 * Any word that could be a reference counts: nothing that is polled may be said to be not. But for
 * leaves: tokio's lists of timers and waiters run through them, from one future to any other.
 */
static void scan(struct uses *u, uint64_t addr, uint64_t size, const struct future_region *there,
                 size_t nthere)
{
	if (size > MAX_SCAN - u->scanned) {
		u->too_much = true;
		return;
	}
	u->scanned += size;
	for (uint64_t at = (addr + 7) & ~UINT64_C(7); at + 8 <= addr + size; at += 8) {
		uint64_t word;

		if (is_passed(at, there, nthere))
			continue;
		struct error *err = target_read_uint(u->t, at, 8, &word);
		u->too_much |= err != NULL;
		error_free(err);
		if (err)
			return;
		add_target(u, word);
	}
}

static void find_uses(struct decoder *d, struct value v, size_t first, struct uses *u)
{
	const struct future_region *all = d->c->regions.data;
	size_t n = d->c->regions.n;

	*u = (struct uses){ .t = d->c->in->target, .coroutine = v };
	/* The awaitee lies in the coroutine, and what it awaits in it, unless there is a box. */
	for (size_t i = first, inner; i < n; i += inner) {
		for (inner = 1; i + inner < n && is_inside(all[i + inner].addr, &all[i]);)
			inner++;
		scan(u, all[i].addr, all[i].size, &all[i], inner);
	}
	for (size_t i = 0; i < u->n && !u->too_much; i++)
		scan(u, u->targets[i], BEHIND, NULL, 0);
}

/* A pointer without a type: hash tables lie on both sides of theirs. */
static void scan_around(struct uses *u, uint64_t at)
{
	uint64_t addr, words[2 * AROUND / 8];
	size_t n = 0;

	error_free(target_read_some(u->t, at, &addr, sizeof(addr), &n));
	if (n != sizeof(addr) || addr < AROUND)
		return;
	addr &= ~UINT64_C(7);
	for (int half = 0; half < 2; half++) {
		error_free(target_read_some(u->t, addr - (half ? 0 : AROUND), words, AROUND, &n));
		for (size_t i = 0; i < n / 8; i++)
			add_target(u, words[i]);
	}
}

/* Lists of waiters lead from one future to any other. */
static bool leads_astray(const struct type *t)
{
	for (const struct runtime *const *r = runtimes_of(t); *r; r++) {
		if (runtime_begins_with_one(type_name(t), (*r)->lists))
			return true;
	}
	return leaf_is_known(t) || leaf_is_resource(t);
}

/*
 * NonNull::dangling() is the alignment, Weak::new() all ones (alloc/src/sync.rs): nothing lies
 * there, and that is no doubt. A member is a few bytes on, which may be past the end.
 */
static bool is_dangling(uint64_t addr)
{
	enum { PAGE = 4096 };

	return addr + PAGE < 2 * PAGE;
}

static bool visit(const struct reached *at, size_t index, void *arg)
{
	struct uses *u = arg;
	const struct type *t = at->v.type, *target = type_target(t);

	(void)index;
	if (leads_astray(t) || is_dangling(at->v.addr))
		return false;
	if (!at->name) /* elsewhere in memory, or an element */
		scan(u, at->v.addr, type_size(t), NULL, 0);
	if (type_kind(t) == TYPE_POINTER && type_name(t)[0] == '*' && target &&
	    (type_size(target) <= 1 || type_kind(target) == TYPE_OPAQUE))
		scan_around(u, at->v.addr);
	return !u->too_much;
}

/* What lies on the heap may refer to the coroutine too. */
static void find_uses_behind(struct decoder *d, size_t first, struct uses *u)
{
	for (size_t i = first; i < d->c->regions.n && !u->too_much; i++) {
		struct future_region region = d->c->regions.data[i];
		struct reach r;

		if (region.leaf)
			continue;
		object_walk(d->c, (struct value){ region.type, region.addr }, visit, u, &r);
		u->too_much |= r.cut;
		u->unseen |= !r.complete;
	}
	for (size_t i = 0; i < u->n && !u->too_much; i++)
		scan(u, u->targets[i], BEHIND, NULL, 0);
}

static bool is_used(const struct uses *u, struct value place)
{
	if (u->too_much)
		return true;
	for (size_t i = 0; i < u->n; i++) {
		if (u->targets[i] >= place.addr &&
		    u->targets[i] - place.addr < type_size(place.type))
			return true;
	}
	return false;
}

/* ---- in memory ---- */

/* Is a future at addr below f? f itself may begin where its first variable does. */
static bool is_below(const struct future *f, uint64_t addr)
{
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->addr == addr || is_below(f->children[i], addr))
			return true;
	}
	return false;
}

/* Where it is in a box that was dropped, its memory may be anything by now. */
static bool is_plausible(struct target *t, struct value v, struct value place)
{
	return plausible_value(t, v) && (place.addr == v.addr || plausible_value(t, place));
}

/* More than a handle, and out of the awaitee's reach. */
static bool is_held(struct decoder *d, const struct uses *u, struct value v, struct value place,
                    const struct future *f)
{
	return !leaf_is_known(place.type) && !is_below(f, place.addr) && !is_used(u, place) &&
	       is_plausible(d->c->in->target, v, place);
}

/*
 * A drop flag is for a variable, or for a part of one that was moved out in some branch; of a part
 * that is always moved out nothing tells.
 */
static enum doubt doubt_of(const struct uses *u, struct value local, struct value v,
                           struct value place)
{
	const struct value *frame = &u->coroutine;

	if (place.addr < frame->addr || place.addr - frame->addr >= type_size(frame->type))
		return DOUBT_MOVED;
	if (u->unseen)
		return DOUBT_POLLED;
	return u->flags_clear || v.type != local.type ? DOUBT_UNPOLLED : DOUBT_NONE;
}

/*
 * Keeps of list[from..] what is held. A future that was found twice is in use if one of the two is:
 * a variable that was moved from keeps its bits.
 */
static void sift(struct decoder *d, const struct uses *u, struct value local, bool local_is_used,
                 const struct future *f, struct map *seen, child_vec *list, size_t from)
{
	size_t n = from;

	for (size_t i = from; i < list->n; i++) {
		struct future unused = { 0 };
		struct value v = list->data[i].v, place = v;
		struct error *err = v.addr ? future_strip(d, &place, &unused) : NULL;
		bool usable = v.addr && !err && place.addr;

		error_free(err);
		if (usable && map_put(seen, place.addr, NULL) && !local_is_used &&
		    is_held(d, u, v, place, f)) {
			list->data[i].doubt = doubt_of(u, local, v, place);
			list->data[n++] = list->data[i];
		}
	}
	list->n = n;
}

static void look_at(struct decoder *d, struct value v, const struct coroutine_state *s,
                    const struct uses *u, bool used, const struct future *f, struct map *seen,
                    child_vec *out)
{
	for (size_t i = 0; i < s->nheld; i++) {
		const struct member *m = s->held[i];
		struct value local = { m->type, v.addr + s->variant->offset + m->offset };
		size_t n = out->n;

		if (is_used(u, local) != used)
			continue;
		if (type_class_of(m->type)->task_set)
			task_set_met(d, type_class_of(m->type)->task_set, local, NULL);
		error_free(combinator_held(d, v, local, out));
		sift(d, u, local, used, f, seen, out, n);
	}
}

static void look_at_all(struct decoder *d, struct value v, const struct coroutine_state *s,
                        const struct uses *u, const struct future *f, child_vec *out)
{
	struct map seen = { 0 };

	look_at(d, v, s, u, true, f, &seen, out);
	look_at(d, v, s, u, false, f, &seen, out);
	map_free(&seen);
}

/* One that cannot be read may be clear. */
static size_t count_clear(struct decoder *d, struct value v, const struct coroutine_state *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nflags; i++) {
		uint64_t addr = v.addr + s->variant->offset + s->flags[i]->offset, flag = 0;

		error_free(target_read_uint(d->c->in->target, addr, 1, &flag));
		n += flag == 0;
	}
	return n;
}

void unpolled_find(struct decoder *d, struct value v, const struct coroutine_state *s,
                   const struct future *f, size_t first, child_vec *out)
{
	size_t before = out->n;
	struct uses uses;

	find_uses(d, v, first, &uses);
	uses.flags_clear = count_clear(d, v, s);
	uses.too_much |= uses.flags_clear && uses.flags_clear >= s->nvariables;
	look_at_all(d, v, s, &uses, f, out);
	if (out->n == before)
		return;
	out->n = before;
	find_uses_behind(d, first, &uses);
	look_at_all(d, v, s, &uses, f, out);
}

/* ---- in all trees ---- */

/* Several futures may begin at one address. */
static uint64_t identity(const struct future *f)
{
	uint64_t hash = f->addr;

	for (const char *p = f->type; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return hash | 1;
}

struct settling {
	struct map held;   /* addresses of futures that some frame holds: few */
	struct map polled; /* identities of futures at such an address that some frame polls */
};

typedef void tree_fn(struct settling *s, struct future *root);

static void each_tree(struct snapshot *s, tree_fn *each, struct settling *settling)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->root)
			each(settling, s->tasks[i]->root);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].root)
			each(settling, s->threads[i].root);
	}
}

static void note_held(struct settling *s, struct future *f)
{
	if (f->branch == BRANCH_HELD && f->addr)
		map_put(&s->held, f->addr, NULL);
	for (size_t i = 0; i < f->nchildren; i++)
		note_held(s, f->children[i]);
}

static void note_polled(struct settling *s, struct future *f)
{
	if (f->branch == BRANCH_HELD)
		return;
	if (f->addr && map_has(&s->held, f->addr))
		map_put(&s->polled, identity(f), NULL);
	for (size_t i = 0; i < f->nchildren; i++)
		note_polled(s, f->children[i]);
}

static void remove_polled(struct settling *s, struct future *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nchildren; i++) {
		struct future *child = f->children[i];

		if (child->branch == BRANCH_HELD && map_has(&s->polled, identity(child)))
			continue;
		remove_polled(s, child);
		f->children[n++] = child;
	}
	f->nchildren = n;
}

void unpolled_settle(struct snapshot *s)
{
	struct settling settling = { 0 };

	each_tree(s, note_held, &settling);
	if (settling.held.n) {
		each_tree(s, note_polled, &settling);
		each_tree(s, remove_polled, &settling);
	}
	map_free(&settling.held);
	map_free(&settling.polled);
}
