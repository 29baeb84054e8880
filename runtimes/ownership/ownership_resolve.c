/* Judges the findings by the state of the locks themselves, and publishes the rest. */
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/type_class.h"
#include "runtimes/model/wait_kind.h"
#include "runtimes/ownership/ownership.h"

/* All findings at one primitive. */
struct ownership_resolve_lock {
	uint64_t primitive;
	uint64_t object; /* 0 unknown */
	const char *kind;
	uint64_t candidates; /* permits of all candidates */
	uint64_t sure;       /* permits of the certain ones */
	size_t n;            /* number of candidates */
	uint64_t available, total;
	bool has_available, has_total;
	bool written; /* certain: one holder has it exclusively */
	bool held;    /* certain: it has a holder */
	bool busy;    /* its own word says that it is taken, without a count */
	bool pool;    /* a pool's: kind, object and numbers are those of the pool */
	bool unclear; /* the number of permits of a candidate is unknown */
};

struct locks {
	struct map by_primitive;
	struct arena *a;
};

static bool ownership_resolve_is_lock(const struct found *f)
{
	return !f->gone && f->h.role == HOLDING_LOCK && f->h.primitive;
}

/* Is it in a future that may be of another type? Then there may be no lock at all. */
static bool ownership_resolve_may_be_misread(const struct found *f)
{
	return f->root && f->root->aliases;
}

static struct ownership_resolve_lock *ownership_resolve_lock_of(struct locks *locks,
                                                                uint64_t primitive)
{
	struct ownership_resolve_lock *l = map_get(&locks->by_primitive, primitive);

	if (!l) {
		l = NEW(locks->a, struct ownership_resolve_lock);
		l->primitive = primitive;
		map_put(&locks->by_primitive, primitive, l);
	}
	return l;
}

/* ---- one value, found twice ---- */

static uint64_t ownership_resolve_identity(const struct found *f)
{
	uint64_t key = (f->h.addr * UINT64_C(0x9e3779b97f4a7c15)) ^ map_key_of_text(f->h.type) ^
	               f->h.object;

	return key ? key : 1;
}

/* ownership_resolve_identity(), combined with the task or thread. */
static uint64_t identity_there(const struct found *f)
{
	uint64_t key =
		ownership_resolve_identity(f) ^ ((f->order + 1) * UINT64_C(0xff51afd7ed558ccd));

	return key ? key : 1;
}

/* False for HOLDING_WAKER: many may refer to one Notify; and for what several share. */
static bool is_one_value(const struct found *f)
{
	return !f->gone && f->h.addr && f->h.role != HOLDING_WAKER && !f->h.shared;
}

/*
 * Maps each identity to the most credible finding: one that a polled frame leads to, else the
 * first.
 */
static void find_best(const found_vec *list, struct map *best)
{
	for (int traces = 0; traces < 2; traces++) {
		for (size_t i = 0; i < list->n; i++) {
			struct found *f = &list->data[i];

			if (is_one_value(f) && f->trace == traces &&
			    !map_has(best, ownership_resolve_identity(f)))
				map_put(best, ownership_resolve_identity(f), f);
		}
	}
}

/*
 * Drops findings of a value that was found before. A value in a polled future belongs to whoever
 * polls it; other findings of it come from stale pointers to that future. When all of them are
 * traces, any may be the owner: one per task or thread stays, marked as duplicate.
 */
static void drop_duplicates(found_vec *list)
{
	struct map best = { 0 }, traces = { 0 };

	find_best(list, &best);
	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i], *first;

		first = is_one_value(f) ? map_get(&best, ownership_resolve_identity(f)) : NULL;
		if (!first || first == f)
			continue;
		if (!first->trace || first->order == f->order ||
		    !map_put(&traces, identity_there(f), NULL)) {
			first->h.uncertain &= f->h.uncertain;
			f->gone = true;
		} else {
			first->duplicate = f->duplicate = f->extra = true;
		}
	}
	map_free(&best);
	map_free(&traces);
}

/* Drops findings in trees that the trees of running tasks and threads have replaced. */
static void drop_replaced(struct collector *c, found_vec *list)
{
	struct snapshot *s = c->out;

	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];
		const struct future *root;

		if (!f->root)
			continue;
		root = f->order < s->ntasks ? s->tasks[f->order]->root
		                            : s->threads[f->order - s->ntasks].root;
		f->gone |= root != f->root;
	}
}

/* ---- locks ---- */

static void learn_lock(struct locks *locks, const struct found *f)
{
	struct ownership_resolve_lock *l = ownership_resolve_lock_of(locks, f->h.primitive);

	bool pool = f->row && f->row->pool;

	if (ownership_resolve_may_be_misread(f) || (l->pool && !pool))
		return;
	l->pool = pool;
	if (f->row && (!l->kind || pool))
		l->kind = f->h.kind;
	if (f->h.object)
		l->object = f->h.object;
	if (pool)
		l->has_available = l->has_total = false;
	if (f->has_available) {
		l->available = f->available;
		l->has_available = true;
	}
	if (f->has_total) {
		l->total = f->total;
		l->has_total = true;
	}
}

static bool ownership_resolve_is_exclusive(const struct found *f)
{
	enum wait_access access = wait_kind(f->h.kind)->access;

	return access == WAIT_WHOLE || access == WAIT_WRITE;
}

static void count_candidate(struct locks *locks, const struct found *f)
{
	struct ownership_resolve_lock *l = ownership_resolve_lock_of(locks, f->h.primitive);

	if (!f->extra) {
		l->candidates += f->h.permits;
		l->n++;
	}
	l->busy |= f->row && f->row->busy && !f->free && !ownership_resolve_may_be_misread(f);
	l->unclear |= f->h.permits == 0;
	if (f->h.uncertain)
		return;
	l->sure += f->h.permits;
	l->held = true;
	l->written |= (f->row && ownership_resolve_is_exclusive(f)) ||
	              (l->has_total && f->h.permits >= l->total);
}

/* Are all permits that are taken those of certain holders? */
static bool is_accounted_for(const struct ownership_resolve_lock *l)
{
	return l->pool && l->has_total && l->has_available && l->available < l->total &&
	       l->sure >= l->total - l->available;
}

/* Do certain holders exclude this uncertain one? */
static bool is_refuted(const struct ownership_resolve_lock *l, const struct found *f)
{
	return f->h.uncertain && (l->written || (l->held && ownership_resolve_is_exclusive(f)) ||
	                          is_accounted_for(l));
}

static bool is_sole(const struct ownership_resolve_lock *l, const struct found *f)
{
	if (ownership_resolve_may_be_misread(f))
		return false;
	if (f->h.uncertain && l->busy && l->n == 1)
		return true;
	return f->h.uncertain && !l->unclear && l->has_total && l->has_available &&
	       l->available < l->total && l->candidates <= l->total - l->available;
}

/* The permits of a lock future have the kind of its wait. */
static void name_after_wait(struct found *f, struct ownership_resolve_lock *l)
{
	const struct wait *wait = f->h.future ? f->h.future->wait : NULL;

	if (wait && wait->primitive == f->h.primitive) {
		f->h.kind = wait->kind;
		f->h.object = wait->object;
	} else if (l->kind) {
		f->h.kind = l->kind;
	}
	if (strcmp(f->h.kind, "mpsc_send") == 0)
		f->h.kind = "mpsc";
	if (strcmp(f->h.kind, "mutex") == 0) {
		l->total = 1;
		l->has_total = true;
	}
}

/* Fills objects and kinds that a lock future or a bare guard does not refer to. */
static void name_all(struct locks *locks, found_vec *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];
		struct ownership_resolve_lock *l =
			ownership_resolve_is_lock(f)
				? ownership_resolve_lock_of(locks, f->h.primitive)
				: NULL;

		if (l && !f->h.object)
			f->h.object = l->object;
		if (l && l->pool) {
			f->h.kind = l->kind;
			f->h.object = l->object;
		} else if (l && !f->row) {
			name_after_wait(f, l);
		}
	}
}

static void count_candidates(struct locks *locks, const found_vec *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (ownership_resolve_is_lock(&list->data[i]))
			count_candidate(locks, &list->data[i]);
	}
}

static void forget_candidates(struct locks *locks, const found_vec *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct ownership_resolve_lock *l =
			ownership_resolve_is_lock(&list->data[i])
				? ownership_resolve_lock_of(locks, list->data[i].h.primitive)
				: NULL;

		if (!l)
			continue;
		l->candidates = l->sure = 0;
		l->n = 0;
		l->written = l->held = l->unclear = false;
	}
}

/* Are more permits in what was found than were taken? */
static bool is_crowded(const struct ownership_resolve_lock *l)
{
	return !l->unclear && l->has_total && l->has_available && l->available < l->total &&
	       l->candidates > l->total - l->available;
}

/* Drops candidates that a move has left behind, where there are too many. */
static void strike_moved(struct collector *c, struct locks *locks, found_vec *list)
{
	bool any = false;

	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];

		f->crowded = ownership_resolve_is_lock(f) &&
		             is_crowded(ownership_resolve_lock_of(locks, f->h.primitive));
		any |= f->crowded;
	}
	if (!any)
		return;
	forget_candidates(locks, list);
	ownership_strike_moved(c, list);
	count_candidates(locks, list);
}

static void ownership_resolve_judge(struct collector *c, struct locks *locks, found_vec *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (ownership_resolve_is_lock(&list->data[i])) {
			learn_lock(locks, &list->data[i]);
			list->data[i].gone |= list->data[i].free;
		}
	}
	name_all(locks, list);
	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];
		const struct ownership_resolve_lock *l =
			ownership_resolve_is_lock(f)
				? ownership_resolve_lock_of(locks, f->h.primitive)
				: NULL;

		if (l && l->has_total && l->has_available && l->available >= l->total)
			f->gone = true;
	}
	count_candidates(locks, list);
	strike_moved(c, locks, list);
	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];

		if (ownership_resolve_is_lock(f) &&
		    is_refuted(ownership_resolve_lock_of(locks, f->h.primitive), f))
			f->gone = true;
		else if (ownership_resolve_is_lock(f))
			f->h.sole = !f->duplicate &&
			            is_sole(ownership_resolve_lock_of(locks, f->h.primitive), f);
	}
}

/* ---- objects, from those who wait for them ---- */

static void ownership_resolve_learn_wait(struct locks *locks, const struct future *f)
{
	if (f->wait && f->wait->primitive) {
		struct ownership_resolve_lock *l =
			map_get(&locks->by_primitive, f->wait->primitive);

		if (l) {
			l->object = f->wait->object;
			l->kind = f->wait->kind;
		}
	}
	for (size_t i = 0; i < f->nchildren; i++)
		ownership_resolve_learn_wait(locks, f->children[i]);
}

static bool needs_waits(const found_vec *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct found *f = &list->data[i];

		if (ownership_resolve_is_lock(f) && (!f->h.object || !f->row))
			return true;
	}
	return false;
}

static void learn_waits(struct collector *c, struct locks *locks, const found_vec *list)
{
	struct snapshot *s = c->out;

	if (!needs_waits(list))
		return;
	for (size_t i = 0; i < list->n; i++) {
		if (ownership_resolve_is_lock(&list->data[i]))
			ownership_resolve_lock_of(locks, list->data[i].h.primitive);
	}
	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->root)
			ownership_resolve_learn_wait(locks, s->tasks[i]->root);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].root)
			ownership_resolve_learn_wait(locks, s->threads[i].root);
	}
}

/* ---- guards of the program's own pools ---- */

struct ownership_resolve_slots {
	struct map waits; /* object -> wait of a semaphore */
	struct map held;  /* objects of which values that are permits were found */
};

static void ownership_resolve_note_waits(struct ownership_resolve_slots *slots,
                                         const struct future *f)
{
	if (f->wait && f->wait->object && wait_kind_ended_by(wait_kind_of(f->wait), HOLDING_SLOT))
		map_put(&slots->waits, f->wait->object, f->wait);
	for (size_t i = 0; i < f->nchildren; i++)
		ownership_resolve_note_waits(slots, f->children[i]);
}

static void note_all_waits(struct ownership_resolve_slots *slots, const struct snapshot *s)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->root)
			ownership_resolve_note_waits(slots, s->tasks[i]->root);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].root)
			ownership_resolve_note_waits(slots, s->threads[i].root);
	}
}

/*
 * A value that may have a permit is of interest only where somebody waits for one. It has none
 * where permits are values: the guard then has such a value in itself.
 */
static void resolve_slots(struct collector *c, found_vec *list)
{
	struct ownership_resolve_slots slots = { 0 };
	bool any = false;

	for (size_t i = 0; i < list->n; i++)
		any |= !list->data[i].gone && list->data[i].h.role == HOLDING_SLOT;
	if (any)
		note_all_waits(&slots, c->out);
	for (size_t i = 0; any && i < list->n; i++) {
		const struct found *f = &list->data[i];

		if (ownership_resolve_is_lock(f) && f->row)
			map_put(&slots.held, f->h.object ? f->h.object : f->h.primitive, NULL);
	}
	for (size_t i = 0; any && i < list->n; i++) {
		struct found *f = &list->data[i];
		const struct wait *wait = map_get(&slots.waits, f->h.object);

		if (f->h.role != HOLDING_SLOT)
			continue;
		f->gone |= !wait || map_has(&slots.held, f->h.object);
		f->h.primitive = wait ? wait->primitive : 0;
	}
	map_free(&slots.waits);
	map_free(&slots.held);
}

/* ---- into the snapshot ---- */

struct ordered {
	size_t order, index;
};

static int by_order(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void ownership_resolve_publish(struct collector *c, const found_vec *list)
{
	struct snapshot *s = c->out;
	struct ordered *order = NEW_ARRAY(&c->scratch, struct ordered, list->n);
	size_t n = 0, ndescriptors = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (list->data[i].gone)
			continue;
		order[n++] = (struct ordered){ list->data[i].order, i };
		ndescriptors += list->data[i].h.role == HOLDING_DESCRIPTOR;
	}
	if (n)
		qsort(order, n, sizeof(*order), by_order);
	s->holdings = NEW_ARRAY(c->a, struct holding, n - ndescriptors);
	s->descriptors = NEW_ARRAY(c->a, struct holding, ndescriptors);
	for (size_t i = 0; i < n; i++) {
		struct found *f = &list->data[order[i].index];

		ownership_declare(c, f);
		if (f->h.role == HOLDING_DESCRIPTOR)
			s->descriptors[s->ndescriptors++] = f->h;
		else
			s->holdings[s->nholdings++] = f->h;
	}
}

/* "tokio's mpsc" */
static const char *searched_queues(struct collector *c)
{
	STR(text);

	for (const struct crate_types *const *crate = crates_in(c->in->di); *crate; crate++) {
		if ((*crate)->queue)
			str_printf(&text, "%s%s", text.len ? ", " : "", (*crate)->queue);
	}
	return arena_strdup(&c->scratch, str_text(&text));
}

static void note_always(struct collector *c)
{
	const struct snapshot *s = c->out;

	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->problem)
			ownership_unsearched(c, "task %s: %s", s->tasks[i]->id,
			                     s->tasks[i]->problem);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].problem)
			ownership_unsearched(c, "thread %u: %s", s->threads[i].number,
			                     s->threads[i].problem);
	}
	ownership_unsearched(c,
	                     "statics and thread-local variables, messages queued in channels "
	                     "other than %s, targets of raw pointers, and variables of running "
	                     "code whose location the debug info lacks",
	                     searched_queues(c));
}

void ownership_resolve(struct collector *c)
{
	struct locks locks = { .a = &c->scratch };
	found_vec *list = &c->holdings->list;

	drop_replaced(c, list);
	drop_duplicates(list);
	learn_waits(c, &locks, list);
	ownership_resolve_judge(c, &locks, list);
	ownership_account(c, list);
	resolve_slots(c, list);
	map_free(&locks.by_primitive);
	ownership_resolve_publish(c, list);
	if (c->holdings->shared_cut)
		snapshot_incomplete(c->out, "not all who share a descriptor are named: there are "
		                            "too many of them");
	note_always(c);
	c->out->nunsearched = c->holdings->unsearched.n;
	c->out->unsearched =
		arena_memdup(c->a, c->holdings->unsearched.data,
	                     c->holdings->unsearched.n * sizeof(*c->holdings->unsearched.data));
}

void ownership_free(struct collector *c)
{
	if (!c->holdings)
		return;
	vec_free(&c->holdings->list);
	vec_free(&c->holdings->unsearched);
	map_free(&c->holdings->noted);
	map_free(&c->holdings->names);
	map_free(&c->holdings->shared);
	free(c->holdings);
}
