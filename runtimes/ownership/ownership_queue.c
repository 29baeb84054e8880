/* Walks the messages queued in mpsc channels: the receiver owns them until it receives them. */
#include <inttypes.h>

#include "runtimes/common/type_class.h"
#include "runtimes/ownership/ownership_walk.h"

enum {
	MAX_MESSAGES = 1024, /* visited messages of one channel */
	MAX_ALL = 1 << 17,   /* visited messages of all channels */
	MAX_CAPACITY = 32,   /* slots of a block: one bit each in a word that also has two flags */
	MAX_WRAPPERS = 8,
};

/* A channel: blocks in a linked list, numbered by the position of their first message. */
struct ownership_queue_state {
	struct walk *w;
	const struct type *block, *element, *message;
	uint64_t capacity; /* messages of a block, a power of two */
	uint64_t index, n; /* position of the first message, number of positions */
	struct value at;   /* the current block */
	uint64_t start;    /* position of its first slot */
	uint64_t ready;    /* a bit per slot: the message is there */
	uint64_t values;   /* address of its slots */
	size_t hops;       /* blocks visited */
};

static struct error *ownership_queue_number_at(const struct ownership_queue_state *q,
                                               struct value from, const char *path, uint64_t *ret)
{
	struct value place;
	bool found;

	TRY(inspector_eval(q->w->c->in, from, path, &place, &found));
	return found ? value_uint(q->w->c->in->target, place, ret)
	             : error_new(ERR_LAYOUT, "no %s", path);
}

static const struct type *unwrap_to(const struct type *t, enum type_kind kind)
{
	for (int i = 0; i < MAX_WRAPPERS && t && type_kind(t) != kind; i++) {
		const struct member *m = type_single_member(t);

		t = m ? m->type : NULL;
	}
	return t && type_kind(t) == kind ? t : NULL;
}

static struct error *enter_block(struct ownership_queue_state *q, uint64_t addr)
{
	static const char start_path[] = "header.start_index | start_index";
	static const char ready_path[] = "header.ready_slots | ready_slots";
	static const char values_path[] = "values";
	struct value values;
	bool found;

	q->at = (struct value){ q->block, addr };
	TRY(ownership_queue_number_at(q, q->at, start_path, &q->start));
	TRY(ownership_queue_number_at(q, q->at, ready_path, &q->ready));
	TRY(inspector_eval(q->w->c->in, q->at, values_path, &values, &found));
	const struct type *array = found ? unwrap_to(values.type, TYPE_ARRAY) : NULL;
	if (!array || !type_target(array))
		return error_new(ERR_LAYOUT, "a block without values");
	q->values = values.addr;
	q->element = type_target(array);
	q->capacity = type_count(array);
	if (q->capacity == 0 || q->capacity > MAX_CAPACITY || (q->capacity & (q->capacity - 1)) ||
	    type_size(q->element) != type_size(q->message))
		return error_new(ERR_LAYOUT, "blocks of an unknown layout");
	return NULL;
}

/* Moves to the block of that position; *there false: it is not allocated yet. */
static struct error *find_block(struct ownership_queue_state *q, uint64_t position, bool *there)
{
	static const char next_path[] = "header.next | next";
	uint64_t next;

	*there = false;
	while (q->start != (position & ~(q->capacity - 1))) {
		if (q->hops++ > MAX_MESSAGES)
			return error_new(ERR_CORRUPT, "too many blocks");
		TRY(ownership_queue_number_at(q, q->at, next_path, &next));
		if (!next)
			return NULL;
		TRY(enter_block(q, next));
	}
	*there = true;
	return NULL;
}

/* Enters the first block, and counts the positions from the receiver's to the senders'. */
static struct error *ownership_queue_open(struct ownership_queue_state *q, struct value receiver)
{
	static const char tail_path[] = "chan.inner.tx.tail_position";
	static const char index_path[] = "chan.inner.rx_fields.list.index";
	static const char head_path[] = "chan.inner.rx_fields.list.head";
	struct inspector *in = q->w->c->in;
	const struct type *pointer;
	struct value head;
	uint64_t tail, first;
	bool found;

	TRY(ownership_queue_number_at(q, receiver, tail_path, &tail));
	TRY(ownership_queue_number_at(q, receiver, index_path, &q->index));
	if (tail - q->index > INT64_MAX)
		return error_new(ERR_CORRUPT, "the receiver is ahead of its senders");
	q->n = tail - q->index;
	if (!q->n)
		return NULL;
	TRY(inspector_eval(in, receiver, head_path, &head, &found));
	pointer = found ? unwrap_to(head.type, TYPE_POINTER) : NULL;
	q->block = pointer ? type_target(pointer) : NULL;
	if (!q->block)
		return error_new(ERR_LAYOUT, "no %s", head_path);
	TRY(value_uint(in->target, head, &first));
	return enter_block(q, first);
}

static void bound_queue(struct ownership_queue_state *q, struct value receiver)
{
	struct ownership_data *all = q->w->c->holdings;
	uint64_t left = all->messages < MAX_ALL ? MAX_ALL - all->messages : 0;
	uint64_t max = left < MAX_MESSAGES ? left : MAX_MESSAGES;

	if (q->n > max) {
		ownership_unsearched(q->w->c,
		                     "all but the first %" PRIu64 " of %" PRIu64
		                     " messages queued for a %s",
		                     max, q->n, type_class_of(receiver.type)->name);
		q->n = max;
	}
	all->messages += q->n;
}

struct error *ownership_walk_messages(struct walk *w, struct value v,
                                      const struct ownership_step *up, bool uncertain)
{
	struct ownership_queue_state q = { .w = w, .message = type_param(v.type, "T") };
	struct ownership_step queued = { .up = up, .name = "queued", .lasting = true };
	bool before = w->template.h.queued, there;

	if (!q.message || !type_size(q.message) || !ownership_is_sought(w->c, q.message))
		return NULL;
	TRY(ownership_queue_open(&q, v));
	bound_queue(&q, v);
	for (uint64_t i = 0; i < q.n; i++) {
		uint64_t position = q.index + i;
		struct ownership_step step = { .up = &queued, .index = i };

		TRY(find_block(&q, position, &there));
		if (!there)
			break;
		/* A message that is being written, or the mark of the last sender. */
		if (!(q.ready >> (position & (q.capacity - 1)) & 1))
			continue;
		w->template.h.queued = true;
		ownership_walk(w,
		               (struct value){ q.message, q.values + (position & (q.capacity - 1)) *
		                                                             type_size(q.message) },
		               &step, uncertain);
		w->template.h.queued = before;
	}
	return NULL;
}
