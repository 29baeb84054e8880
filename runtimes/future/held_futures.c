#include "runtimes/future/held_futures.h"

#include <string.h>

#include "runtimes/common/plausible.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/leaf.h"
#include "runtimes/future/move_state.h"
#include "runtimes/future/object_walk.h"
#include "runtimes/future/task_set.h"

enum {
	MAX_SCAN = 1 << 20, /* bytes scanned for one coroutine */
	MAX_TARGETS = 1024, /* addresses in the coroutine that its awaitee refers to */
	BEHIND = 16,        /* bytes scanned at such an address for further references */
	MAX_NESTED = 3,     /* members of members of a set of tasks */
	AROUND = 512,       /* bytes scanned on each side of the target of an untyped pointer */
};

/* ---- what the awaitee may refer to ---- */

/* Addresses inside one coroutine that its awaitee refers to, directly or through a variable. */
struct uses {
	struct target *t;
	struct value coroutine;
	uint64_t targets[MAX_TARGETS];
	size_t n;
	size_t scanned;
	bool too_much;      /* a read failed: everything counts as used */
	bool unseen;        /* the awaitee may refer to more: a limit, or what cannot be read */
	size_t flags_clear; /* number of drop flags that are false */
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
		u->unseen = true;
	else
		u->targets[u->n++] = addr;
}

static bool held_futures_is_inside(uint64_t addr, const struct future_region *r)
{
	return addr >= r->addr && addr - r->addr < r->size;
}

/* Whether the word at addr overlaps the coroutine's state number: then it is no reference. */
static bool holds_state(const struct future_region *r, uint64_t addr)
{
	const struct member *state = type_is_coroutine(r->type) ? type_discr(r->type) : NULL;

	return state && r->addr + state->offset < addr + 8 &&
	       addr < r->addr + state->offset + type_size(state->type);
}

/* Whether the scan skips the word at addr: it is in a leaf, or overlaps a state number. */
static bool is_passed(uint64_t addr, const struct future_region *there, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((there[i].leaf && held_futures_is_inside(addr, &there[i])) ||
		    holds_state(&there[i], addr))
			return true;
	}
	return false;
}

/*
 * Records every word that may be a reference into the coroutine, because a polled future must not
 * be reported as unpolled. Leaves are skipped: tokio's lists of timers and waiters run through
 * them and connect unrelated futures.
 */
static void held_futures_scan(struct uses *u, uint64_t addr, uint64_t size,
                              const struct future_region *there, size_t nthere)
{
	if (size > MAX_SCAN - u->scanned) {
		u->unseen = true;
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
	const struct future_region *all = d->c->decoding.regions.data;
	size_t n = d->c->decoding.regions.n;

	/* Not cleared as a whole: the targets take 8 KiB, and most coroutines have few. */
	u->t = d->c->in->target;
	u->coroutine = v;
	u->n = u->scanned = u->flags_clear = 0;
	u->too_much = u->unseen = false;
	/* An awaitee is stored inside its parent unless it is boxed: scan nested regions once. */
	for (size_t i = first, inner; i < n; i += inner) {
		for (inner = 1;
		     i + inner < n && held_futures_is_inside(all[i + inner].addr, &all[i]);)
			inner++;
		held_futures_scan(u, all[i].addr, all[i].size, &all[i], inner);
	}
	for (size_t i = 0; i < u->n && !u->too_much; i++)
		held_futures_scan(u, u->targets[i], BEHIND, NULL, 0);
}

/* Scans around the target of an untyped pointer: a hash table has data on both sides of it. */
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

/* Whether the walk must not follow this type: lists of waiters connect unrelated futures. */
static bool leads_astray(const struct type *t)
{
	for (const struct crate_types *const *crate = crates_of(t); *crate; crate++) {
		if (runtime_begins_with_one(type_name(t), (*crate)->lists))
			return true;
	}
	return leaf_is_known(t) || leaf_is_resource(t);
}

/*
 * Whether addr comes from a dangling pointer: NonNull::dangling() is the alignment, Weak::new() is
 * all ones (alloc/src/sync.rs). Nothing is stored there, so the failing read is no doubt. The
 * address of a member is a few bytes higher and may wrap around.
 */
static bool is_dangling(uint64_t addr)
{
	enum { PAGE = 4096 };

	return addr + PAGE < 2 * PAGE;
}

static bool held_futures_visit(const struct reached *at, size_t index, void *arg)
{
	struct uses *u = arg;
	const struct type *t = at->v.type, *target = type_target(t);

	(void)index;
	if (leads_astray(t) || is_dangling(at->v.addr))
		return false;
	if (!at->name) /* elsewhere in memory, or an element */
		held_futures_scan(u, at->v.addr, type_size(t), NULL, 0);
	if (type_kind(t) == TYPE_POINTER && type_name(t)[0] == '*' && target &&
	    (type_size(target) <= 1 || type_kind(target) == TYPE_OPAQUE))
		scan_around(u, at->v.addr);
	return !u->too_much;
}

/* Adds references from heap objects that the awaitee leads to. */
static void find_uses_behind(struct decoder *d, size_t first, struct uses *u)
{
	for (size_t i = first; i < d->c->decoding.regions.n && !u->too_much; i++) {
		struct future_region region = d->c->decoding.regions.data[i];
		struct reach r;

		if (region.leaf)
			continue;
		object_walk(d->c, (struct value){ region.type, region.addr }, held_futures_visit, u,
		            &r);
		u->unseen |= !r.complete;
	}
	for (size_t i = 0; i < u->n && !u->too_much; i++)
		held_futures_scan(u, u->targets[i], BEHIND, NULL, 0);
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

/* ---- one coroutine ---- */

/* Whether a descendant of f is at addr. f itself may start where its first variable does. */
static bool held_futures_is_below(const struct future *f, uint64_t addr)
{
	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->addr == addr || held_futures_is_below(f->children[i], addr))
			return true;
	}
	return false;
}

/* Rejects futures in a box that was dropped: their memory may have been reused. */
static bool held_futures_is_plausible(struct target *t, struct value v, struct value place)
{
	return plausible_value(t, v) && (place.addr == v.addr || plausible_value(t, place));
}

/* Whether the future is unpolled: no plain leaf, not used by the awaitee, and plausible. */
static bool held_futures_is_held(struct decoder *d, const struct uses *u, struct value v,
                                 struct value place, const struct future *f)
{
	return !leaf_is_known(place.type) && !held_futures_is_below(f, place.addr) &&
	       !is_used(u, place) && held_futures_is_plausible(d->c->in->target, v, place);
}

/* A place that a Pin of a reference leads to was pinned, which excludes a move. */
static bool held_futures_may_be_moved(const struct uses *u, struct value local)
{
	switch (move_rule_of_future(u->coroutine.type, local.type)) {
	case MOVE_NEVER:
		return !type_is(local.type, "core::pin::Pin");
	case MOVE_BY_FLAGS:
		return u->flags_clear;
	default:
		return true;
	}
}

static enum uncertainty held_futures_uncertainty_of(const struct uses *u, struct value local,
                                                    struct value place)
{
	const struct value *frame = &u->coroutine;
	bool inside =
		place.addr >= frame->addr && place.addr - frame->addr < type_size(frame->type);
	bool moved = held_futures_may_be_moved(u, local);

	if (moved && !inside)
		return UNCERTAINTY_MOVED;
	if (u->unseen)
		return UNCERTAINTY_POLLED;
	return moved ? UNCERTAINTY_UNPOLLED : UNCERTAINTY_NONE;
}

/* The first Arc in v, as its address; 0: there is none. */
static uint64_t first_shared(struct target *t, struct value v, int depth)
{
	uint64_t addr = 0;
	size_t n;

	if (type_class_of(v.type)->special == SPECIAL_SHARED) {
		error_free(target_read_uint(t, v.addr, 8, &addr));
		return addr;
	}
	const struct member *members = type_members(v.type, &n);
	for (size_t i = 0; depth < MAX_NESTED && i < n && !addr; i++) {
		struct value member = { members[i].type, v.addr + members[i].offset };

		addr = member.type ? first_shared(t, member, depth + 1) : 0;
	}
	return addr;
}

/*
 * The key that two variables leading to one future share: its place. A set of tasks lies in the
 * variable itself; no other set has its lists.
 */
static uint64_t held_futures_key_of(struct target *t, struct value place)
{
	uint64_t lists = leaf_owns_tasks(place.type) ? first_shared(t, place, 0) : 0;

	return lists ? lists : place.addr;
}

/*
 * Keeps the unpolled futures of list[from..]. A future that two variables lead to counts as in use
 * if one of the two is: the other may have been moved from and still have the bits.
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
		if (usable && map_put(seen, held_futures_key_of(d->c->in->target, place), NULL) &&
		    !local_is_used && held_futures_is_held(d, u, v, place, f)) {
			list->data[i].doubt = held_futures_uncertainty_of(u, local, place);
			list->data[n++] = list->data[i];
		}
	}
	list->n = n;
}

/*
 * Whether the variable may hold futures that combinator_held() has not searched. err: what that
 * returned. found: it has returned futures. kept: some of them are held.
 */
static bool may_hold_more(struct decoder *d, struct value local, const struct error *err,
                          bool found, bool kept)
{
	bool limited = d->left_out || (err && err->kind == ERR_UNSUPPORTED);

	/* Where others poll all that were found, or these were moved, the rest was, too. */
	return limited && (found ? kept : plausible_value(d->c->in->target, local));
}

/* Returns whether one of the variables may hold more futures than were searched. */
static bool held_futures_look_at(struct decoder *d, struct value v, const struct coroutine_state *s,
                                 const struct uses *u, bool used, const struct future *f,
                                 struct map *seen, child_vec *out)
{
	bool more = false;

	for (size_t i = 0; i < s->nheld; i++) {
		const struct member *m = s->held[i];
		struct value local = { m->type, v.addr + s->variant->offset + m->offset };
		size_t n = out->n;

		if (is_used(u, local) != used)
			continue;
		if (type_class_of(m->type)->task_set)
			task_set_met(d, type_class_of(m->type)->task_set, local, NULL);
		d->left_out = false;
		struct error *err = combinator_held(d, v, local, out);
		bool found = out->n > n;
		sift(d, u, local, used, f, seen, out, n);
		more |= !used && may_hold_more(d, local, err, found, out->n > n);
		error_free(err);
		for (; n < out->n; n++)
			out->data[n].variable = m->name;
	}
	return more;
}

bool held_futures_find_captured(struct decoder *d, struct value v, const struct coroutine_state *s,
                                const struct future *f, child_vec *out)
{
	const struct uses nothing = { .t = d->c->in->target, .coroutine = v };
	struct map seen = { 0 };

	bool more = held_futures_look_at(d, v, s, &nothing, false, f, &seen, out);
	for (size_t i = 0; i < out->n; i++)
		out->data[i].doubt = UNCERTAINTY_NONE;
	map_free(&seen);
	return more;
}

static bool look_at_all(struct decoder *d, struct value v, const struct coroutine_state *s,
                        const struct uses *u, const struct future *f, child_vec *out)
{
	struct map seen = { 0 };

	held_futures_look_at(d, v, s, u, true, f, &seen, out);
	bool more = held_futures_look_at(d, v, s, u, false, f, &seen, out);
	map_free(&seen);
	return more;
}

bool held_futures_find(struct decoder *d, struct value v, const struct coroutine_state *s,
                       const struct future *f, size_t first, child_vec *out)
{
	size_t before = out->n;
	struct uses uses;

	find_uses(d, v, first, &uses);
	uses.flags_clear = move_state_flags_clear(d->c->in->target, v, s);
	uses.too_much |= uses.flags_clear && uses.flags_clear == s->nflags &&
	                 uses.flags_clear >= s->nvariables;
	bool more = look_at_all(d, v, s, &uses, f, out);
	if (out->n == before && !more)
		return false;
	out->n = before;
	find_uses_behind(d, first, &uses);
	return look_at_all(d, v, s, &uses, f, out);
}
