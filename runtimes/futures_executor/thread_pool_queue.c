/*
 * Lists the tasks in the channel of a pool: those that were spawned and not polled yet, and those
 * that were woken. The channel is a list of blocks of 31 slots (std,
 * library/std/src/sync/mpmc/list.rs).
 */
#include <inttypes.h>

#include "dwarf/values/queue_length.h"
#include "runtimes/futures_executor/thread_pool.h"

enum {
	SHIFT = 1,   /* of a position: the bit below it is a mark */
	LAP = 32,    /* positions a block; the last one has no slot */
	WRITTEN = 1, /* bit of a slot's state */
	TAKEN = 2,
	MAX_TASKS = 1 << 24,
};

struct thread_pool_queue_state {
	struct collector *c;
	const struct thread_pool *pool;
	uint64_t at, end; /* positions */
	uint64_t block;   /* address; 0: there is none yet */
};

static struct error *thread_pool_queue_read_row(const struct thread_pool_queue_state *q,
                                                enum thread_pool_row row, uint64_t *ret)
{
	struct value state = { q->pool->copy->state, q->pool->state };
	const struct bindings *l = &q->pool->copy->layout;
	bool found;

	TRY(bindings_uint(q->c->in->target, l, row, state, ret, &found));
	return found ? NULL
	             : error_new(ERR_LAYOUT, "its channel was not found: %s", l->slots[row].tried);
}

static struct error *thread_pool_queue_open(struct thread_pool_queue_state *q)
{
	struct runtime_info *info = q->pool->info;
	uint64_t head, tail;

	TRY(thread_pool_queue_read_row(q, THREAD_POOL_HEAD, &head));
	TRY(thread_pool_queue_read_row(q, THREAD_POOL_TAIL, &tail));
	TRY(thread_pool_queue_read_row(q, THREAD_POOL_BLOCK, &q->block));
	if (!queue_length_unbounded(head, tail, &info->inject_len) || info->inject_len > MAX_TASKS)
		return error_new(ERR_CORRUPT, "the positions of its channel are impossible");
	info->has_inject = true;
	q->at = head >> SHIFT;
	q->end = tail >> SHIFT;
	return NULL;
}

/* A message that asks a thread to end has no task. */
static struct error *add_message(struct thread_pool_queue_state *q, struct value slot)
{
	static const char run[] = "msg.Run.0", state[] = "state", object[] = "future.0";
	const struct thread_pool_copy *copy = q->pool->copy;
	struct value task, future;
	const struct path *p;
	uint64_t bits, handle;
	bool found;

	TRY(inspector_path(q->c->in, slot.type, state, &p));
	TRY(path_uint(q->c->in->target, p, slot, &bits, &found));
	/* A thread that sends or receives it is just there. */
	if (!found || !(bits & WRITTEN) || bits & TAKEN)
		return NULL;
	TRY(inspector_eval(q->c->in, slot, run, &task, &found));
	if (!found)
		return NULL;
	TRY(thread_pool_handle_of(q->c, copy, task, &handle));
	if (map_has(&q->c->tasks, handle))
		return error_new(ERR_CORRUPT, "task 0x%" PRIx64 " is in its channel twice", handle);
	TRY(inspector_eval(q->c->in, task, object, &future, &found));
	thread_pool_add_task(q->c, q->pool, handle, found ? future : (struct value){ 0 },
	                     TASK_SCHEDULED);
	return NULL;
}

static struct error *go_to_next_block(struct thread_pool_queue_state *q)
{
	static const char next[] = "next";
	struct value block = { q->pool->copy->block, q->block };
	const struct path *p;
	bool found;

	TRY(inspector_path(q->c->in, block.type, next, &p));
	TRY(path_uint(q->c->in->target, p, block, &q->block, &found));
	return NULL;
}

/* The slot at the position of the queue. */
static struct error *thread_pool_queue_add_slot(struct thread_pool_queue_state *q)
{
	const struct thread_pool_copy *copy = q->pool->copy;
	const struct member *slots = type_member(copy->block, "slots");
	uint64_t i = q->at % LAP;

	if (i >= type_count(slots->type))
		return error_new(ERR_CORRUPT, "a block of its channel has another size");
	return add_message(q, (struct value){ copy->slot, q->block + slots->offset +
	                                                          i * type_size(copy->slot) });
}

struct error *thread_pool_list_queue(struct collector *c, const struct thread_pool *pool)
{
	struct thread_pool_queue_state q = { .c = c, .pool = pool };
	CLEANUP(error_freep) struct error *bad = NULL;

	TRY(thread_pool_queue_open(&q));
	if (!pool->copy->object || !pool->copy->slot)
		return error_new(ERR_LAYOUT, "the types of its messages were not found");
	for (; q.at < q.end; q.at++) {
		struct error *err;

		if (!q.block)
			return error_new(ERR_CORRUPT, "its channel has no block");
		err = q.at % LAP == LAP - 1 ? go_to_next_block(&q) : thread_pool_queue_add_slot(&q);
		error_free(bad ? err : NULL);
		bad = bad ? bad : err;
	}
	struct error *ret = bad;
	bad = NULL;
	return ret;
}
