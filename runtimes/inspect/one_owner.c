/*
 * A variable that was moved from keeps its bytes, and so the address in its Box: the boxed future
 * then looks held by each variable that it went through. Where a frame polls it, this frame has it.
 * If several only hold it, a certain holder has it, else the innermost frame, to which the outer
 * frames have given it, and within one frame the future that was made around it.
 */
#include "runtimes/inspect/one_owner.h"

#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "runtimes/model/wait_kind.h"

enum { LOWEST = 4096 /* what is below is the address of a value without bytes */ };

/* A held future that leads to another one, or is it. */
struct one_owner_claim {
	const struct future *held, *frame; /* the future, and who holds it */
	size_t tree;
	unsigned depth, height; /* of the frame below the root; of the held one above the other */
	bool doubted;
};

/* The frames around a future, innermost first. */
struct around {
	const struct around *up;
	const struct future *f;
	unsigned depth;
	bool doubted; /* of one of them it is not certain that it is held */
};

struct owners {
	struct arena a;
	struct map claims; /* by identity: the best struct one_owner_claim */
	struct map places; /* addresses of held futures, and of what these own */
	struct map polled; /* identity -> the polled future, or one of these */
	struct map counts; /* address -> number of polled futures there */
	size_t tree;
};

/* ---- identities ---- */

/*
 * A JoinHandle, or the receiver of a channel that has one, has no clones; it moves with its bytes,
 * so its task, or its channel, tells which one it is. 0: f is none.
 */
static uint64_t one_owner_handle_key(const struct future *f)
{
	if (f->wait && f->wait->task && strcmp(f->wait->kind, "join") == 0)
		return map_key_of_text(f->wait->task);
	if (f->wait && f->wait->object && wait_kind_of(f->wait)->one_waiter)
		return map_key_of_pair(f->wait->object, map_key_of_text(f->wait->kind));
	return 0;
}

/* Several futures may start at one address. 0: it has none. */
static uint64_t one_owner_identity(const struct future *f)
{
	uint64_t handle = one_owner_handle_key(f);

	if (handle)
		return handle;
	return f->addr >= LOWEST ? map_key_of_pair(f->addr, map_key_of_text(f->type)) : 0;
}

typedef void owned_fn(struct owners *o, const struct future *owned, unsigned height, void *arg);

/* Whether f has that child alone. A socket that it waits for may be the other half's, too. */
static bool one_owner_is_own(const struct future *f, const struct future *child)
{
	return child->branch != BRANCH_HELD && !f->shares && strcmp(child->edge, "waits") != 0;
}

/* Calls each of held and of what it owns: not of what it holds itself, which is held, too. */
static void one_owner_each_owned(struct owners *o, const struct future *f, unsigned height,
                                 owned_fn *each, void *arg)
{
	each(o, f, height, arg);
	for (size_t i = 0; i < f->nchildren; i++) {
		if (one_owner_is_own(f, f->children[i]))
			one_owner_each_owned(o, f->children[i], height + 1, each, arg);
	}
}

typedef bool tree_fn(struct owners *o, struct future *child, const struct around *around);

/* Calls each of the futures below f; each returns false to remove it. Returns their number. */
static unsigned each_below(struct owners *o, struct future *f, const struct around *up,
                           tree_fn *each)
{
	struct around around = { .up = up, .f = f, .depth = up ? up->depth + 1 : 0 };
	unsigned n = 0;

	around.doubted = f->doubted || (up && up->doubted);
	for (size_t i = 0; i < f->nchildren; i++) {
		if (!each(o, f->children[i], &around))
			continue;
		each_below(o, f->children[i], &around, each);
		f->children[n++] = f->children[i];
	}
	f->nchildren = n;
	return n;
}

static void one_owner_each_tree(struct owners *o, const struct snapshot *s, tree_fn *each)
{
	for (size_t i = 0; i < s->ntasks + s->nthreads; i++) {
		struct future *root =
			i < s->ntasks ? s->tasks[i]->root : s->threads[i - s->ntasks].root;

		o->tree = i;
		if (root && each(o, root, NULL))
			each_below(o, root, NULL, each);
	}
}

/* ---- who polls it ---- */

static void one_owner_note_place(struct owners *o, const struct future *owned, unsigned height,
                                 void *arg)
{
	(void)height;
	(void)arg;
	if (owned->addr >= LOWEST)
		map_put(&o->places, owned->addr, NULL);
}

static bool note_places(struct owners *o, struct future *f, const struct around *around)
{
	(void)around;
	if (f->branch == BRANCH_HELD)
		one_owner_each_owned(o, f, 0, one_owner_note_place, NULL);
	return true;
}

static bool one_owner_is_held(const struct future *f, const struct around *around)
{
	for (; f->branch != BRANCH_HELD && around; around = around->up)
		f = around->f;
	return f->branch == BRANCH_HELD;
}

static bool note_polled(struct owners *o, struct future *f, const struct around *around)
{
	if ((!one_owner_handle_key(f) && !map_has(&o->places, f->addr)) ||
	    one_owner_is_held(f, around))
		return true;
	if (one_owner_identity(f))
		map_put(&o->polled, one_owner_identity(f), f);
	uintptr_t n = (uintptr_t)map_get(&o->counts, f->addr);
	map_put(&o->counts, f->addr, (void *)(n + 1));
	return true;
}

/* ---- who holds it ---- */

static bool one_owner_is_below(const struct future *top, const struct future *f)
{
	bool below = false;

	for (size_t i = 0; i < top->nchildren && !below; i++)
		below = top->children[i] == f || one_owner_is_below(top->children[i], f);
	return below;
}

static bool is_better(const struct one_owner_claim *a, const struct one_owner_claim *b)
{
	if (a->doubted != b->doubted)
		return b->doubted;
	if (a->tree != b->tree)
		return false;
	if (a->frame == b->frame)
		return a->height > b->height;
	return a->depth > b->depth && one_owner_is_below(b->frame, a->frame);
}

static void claim(struct owners *o, const struct future *owned, unsigned height, void *arg)
{
	struct one_owner_claim *mine = arg;
	uint64_t key = one_owner_identity(owned);
	const struct one_owner_claim *best = key ? map_get(&o->claims, key) : NULL;

	mine->height = height;
	if (key && (!best || is_better(mine, best)))
		map_put(&o->claims, key, arena_memdup(&o->a, mine, sizeof(*mine)));
}

static struct one_owner_claim claim_of(const struct owners *o, const struct future *f,
                                       const struct around *around)
{
	return (struct one_owner_claim){ .held = f,
		                         .frame = around->f,
		                         .tree = o->tree,
		                         .depth = around->depth,
		                         .doubted = f->doubted || around->doubted };
}

static bool note_claims(struct owners *o, struct future *f, const struct around *around)
{
	if (f->branch == BRANCH_HELD && around) {
		struct one_owner_claim mine = claim_of(o, f, around);

		one_owner_each_owned(o, f, 0, claim, &mine);
	}
	return true;
}

/* ---- what is left of moves ---- */

struct one_owner_verdict {
	struct one_owner_claim mine;
	const struct around *around;
	bool stale;
};

/* Whether futures that are not around it are polled at that address: its memory was used again. */
static bool is_reused(const struct owners *o, uint64_t addr, const struct around *around)
{
	uintptr_t polled = (uintptr_t)map_get(&o->counts, addr), n = 0;

	for (; polled && around; around = around->up)
		n += around->f->addr == addr;
	return polled > n;
}

/*
 * Whether a frame polls what is owned, at another place. Where it polls a receiver by a `&mut`,
 * that one is still in the future that owns it.
 */
static bool is_polled_elsewhere(const struct owners *o, const struct future *owned)
{
	uint64_t key = one_owner_identity(owned);
	const struct future *polled = key ? map_get(&o->polled, key) : NULL;

	return polled && (!one_owner_handle_key(owned) || polled->addr != owned->addr);
}

static void one_owner_judge(struct owners *o, const struct future *owned, unsigned height,
                            void *arg)
{
	struct one_owner_verdict *v = arg;
	uint64_t key = one_owner_identity(owned);
	const struct one_owner_claim *best = key ? map_get(&o->claims, key) : NULL;

	v->mine.height = height;
	v->stale |= is_polled_elsewhere(o, owned);
	v->stale |= best && best->held != v->mine.held && is_better(best, &v->mine);
	v->stale |= v->mine.doubted && is_reused(o, owned->addr, v->around);
}

static bool keep_owned(struct owners *o, struct future *f, const struct around *around)
{
	if (f->branch != BRANCH_HELD || !around)
		return true;
	struct one_owner_verdict v = { .mine = claim_of(o, f, around), .around = around };
	one_owner_each_owned(o, f, 0, one_owner_judge, &v);
	return !v.stale;
}

void one_owner_resolve(struct snapshot *s)
{
	struct owners o = { 0 };

	one_owner_each_tree(&o, s, note_places);
	if (o.places.n) {
		one_owner_each_tree(&o, s, note_polled);
		one_owner_each_tree(&o, s, note_claims);
		one_owner_each_tree(&o, s, keep_owned);
	}
	map_free(&o.claims);
	map_free(&o.places);
	map_free(&o.polled);
	map_free(&o.counts);
	arena_free(&o.a);
}
