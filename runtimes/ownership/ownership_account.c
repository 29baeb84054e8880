/*
 * Compares what was found with what an object counts itself: a channel its ends, an Arc its
 * references. Where certain holders account for the whole count, a value in a variable that may
 * have been moved out is what the move left behind: `drop(sender)` leaves the bytes of the sender
 * in the frame.
 */
#include "runtimes/future/leaf.h"
#include "runtimes/model/wait_kind.h"
#include "runtimes/ownership/ownership.h"

struct account {
	uint64_t total, sure, all;
	struct map handles; /* of an Arc: the places of those that are counted in `sure` */
};

struct accounts {
	struct map by_key; /* struct account */
	struct arena *a;
};

/* ---- ends of channels ---- */

static uint64_t ownership_account_key_of(uint64_t object, enum holding_role role)
{
	return map_key_of_pair(object, (uint64_t)role + 1);
}

static struct account *account_of(const struct accounts *x, const struct found *f)
{
	bool is_end = f->h.role == HOLDING_SENDER || f->h.role == HOLDING_RECEIVER;

	return !f->gone && f->h.object && is_end
	               ? map_get(&x->by_key, ownership_account_key_of(f->h.object, f->h.role))
	               : NULL;
}

/* Adds what is an end besides what it was found as: an OwnedPermit has a Sender in itself. */
static void add_ends(found_vec *list)
{
	const size_t n = list->n;

	for (size_t i = 0; i < n; i++) {
		const struct found *f = &list->data[i];

		if (f->gone || f->h.role != HOLDING_LOCK || !f->row || f->row->end == HOLDING_LOCK)
			continue;
		struct found end = *f;
		end.h.role = f->row->end;
		end.h.primitive = end.h.permits = 0;
		end.h.sole = false;
		*vec_push(list) = end;
	}
}

/* A wait for a channel has the number of its ends. */
static void ownership_account_learn_ends(struct accounts *x, const struct future *f)
{
	const struct wait_kind *kind = f->wait ? wait_kind_of(f->wait) : NULL;
	int64_t total;

	if (kind && kind->target == WAIT_CHANNEL && kind->ends && f->wait->object &&
	    wait_number(f->wait, kind->ends, &total) && total >= 0) {
		bool senders = wait_kind_ended_by(kind, HOLDING_SENDER);
		struct account *account = NEW(x->a, struct account);

		account->total = (uint64_t)total;
		map_put(&x->by_key,
		        ownership_account_key_of(f->wait->object,
		                                 senders ? HOLDING_SENDER : HOLDING_RECEIVER),
		        account);
	}
	for (size_t i = 0; i < f->nchildren; i++)
		ownership_account_learn_ends(x, f->children[i]);
}

/* Drops ends that a move has left behind, where more were found than there are. */
static void strike_moved_ends(struct collector *c, const struct accounts *x, found_vec *list)
{
	bool any = false;

	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];
		const struct account *account = account_of(x, f);

		f->crowded = account && account->all > account->total;
		any |= f->crowded;
	}
	if (any)
		ownership_strike_moved(c, list);
}

static void resolve_ends(struct collector *c, found_vec *list)
{
	struct accounts x = { .a = &c->scratch };
	const struct snapshot *s = c->out;

	for (size_t i = 0; i < s->ntasks; i++) {
		if (s->tasks[i]->root)
			ownership_account_learn_ends(&x, s->tasks[i]->root);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].root)
			ownership_account_learn_ends(&x, s->threads[i].root);
	}
	for (size_t i = 0; i < list->n; i++) {
		struct account *account = account_of(&x, &list->data[i]);

		if (!account)
			continue;
		account->all++;
		account->sure += !list->data[i].h.uncertain;
	}
	strike_moved_ends(c, &x, list);
	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];
		const struct account *account = account_of(&x, f);

		if (account && f->h.uncertain && account->sure >= account->total)
			f->gone = true;
	}
	map_free(&x.by_key);
}

/* ---- references to what an Arc shares ---- */

static bool ownership_account_is_shared(const struct found *f)
{
	return !f->gone && (f->h.role == HOLDING_WAKER || f->h.role == HOLDING_DESCRIPTOR) &&
	       f->sharing.at && f->sharing.strong;
}

static void count_handle(struct accounts *x, const struct found *f)
{
	struct account *account = map_get(&x->by_key, f->sharing.at);

	if (!account) {
		account = NEW(x->a, struct account);
		account->total = f->sharing.strong;
		map_put(&x->by_key, f->sharing.at, account);
	}
	if (!f->h.uncertain && map_put(&account->handles, f->sharing.handle, NULL))
		account->sure++;
}

static void resolve_shared(struct collector *c, found_vec *list)
{
	struct accounts x = { .a = &c->scratch };

	for (size_t i = 0; i < list->n; i++) {
		if (ownership_account_is_shared(&list->data[i]))
			count_handle(&x, &list->data[i]);
	}
	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];
		const struct account *account =
			ownership_account_is_shared(f) ? map_get(&x.by_key, f->sharing.at) : NULL;

		if (!account || account->sure < account->total)
			continue;
		f->gone |= f->h.uncertain;
		f->h.nobody_else = f->sharing.weak == 1;
	}
	for (size_t i = 0; i < x.by_key.capacity; i++) {
		struct account *account = x.by_key.slots[i].value;

		if (account)
			map_free(&account->handles);
	}
	map_free(&x.by_key);
}

/* ---- file descriptors ---- */

static bool ownership_account_is_descriptor(const struct found *f)
{
	return !f->gone && f->h.role == HOLDING_DESCRIPTOR;
}

/*
 * A descriptor has one owner, or the owners of one shared value: where a certain one is known, what
 * is elsewhere, and uncertain, was left behind by a move.
 */
static void resolve_descriptors(found_vec *list)
{
	struct map owners = { 0 };

	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];

		if (ownership_account_is_descriptor(f) && !f->h.uncertain)
			map_put(&owners, (uint64_t)f->h.fd + 1, f);
	}
	for (size_t i = 0; i < list->n; i++) {
		struct found *f = &list->data[i];
		const struct found *owner = ownership_account_is_descriptor(f)
		                                    ? map_get(&owners, (uint64_t)f->h.fd + 1)
		                                    : NULL;

		if (owner && f->h.uncertain)
			f->gone |= !owner->h.shared || f->h.addr != owner->h.addr;
	}
	map_free(&owners);
}

void ownership_account(struct collector *c, found_vec *list)
{
	add_ends(list);
	resolve_ends(c, list);
	resolve_shared(c, list);
	resolve_descriptors(list);
}
