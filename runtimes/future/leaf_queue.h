/*
 * The place of a waiter in the queue of what it waits for: intrusive lists of nodes that lie in the
 * waiting futures. A queue is walked once per snapshot and cached. A torn one is known up to the
 * break; a cycle does not loop.
 */
#ifndef RUNTIMES_FUTURE_LEAF_QUEUE_H
#define RUNTIMES_FUTURE_LEAF_QUEUE_H

#include "runtimes/common/waker.h"
#include "runtimes/future/leaf.h"

enum { QUEUE_MAX_LISTED = 16 };

/* Paths, which must be string constants. Links are pointers to nodes; null ends the list. */
struct queue_layout {
	const char *first; /* from the list to the link to the oldest waiter */
	const char *next;  /* from a node to the link to the next younger one */
	const char *waker; /* from a node to its waker */
};

/* The waiters before one in a queue, oldest first. */
struct queue {
	bool found;   /* the waiter is in the queue. Otherwise whole, length and wakers are valid */
	bool whole;   /* the queue was read to its end */
	size_t ahead; /* how many are before it */
	size_t length;  /* how many waiters were read in all */
	bool all_tasks; /* each of them is known to wake a task; false when there are many */
	const char *const *tasks; /* the tasks that the first QUEUE_MAX_LISTED of them wake */
	size_t ntasks;
	bool distinct;              /* each of tasks is another one */
	const char *own;            /* the task whose waiter it is, NULL unknown */
	uint64_t first;             /* address of the oldest waiter: itself when ahead is 0 */
	const struct waker *wakers; /* of the first QUEUE_MAX_LISTED waiters of the queue */
};

/* Finds the place of node in a list all of whose nodes have its type. */
struct error *leaf_queue_read(const struct leaf *l, struct value list, struct value node,
                              const struct queue_layout *layout, struct queue *ret) MUST_CHECK;
/*
 * "first in its queue", "2 tasks ahead in its queue (tasks 5, 7)"; where several waiters are one
 * task's, or the waiter's own: "3 futures ahead in its queue (2 of this task, 1 of task 7)";
 * marked, in a.
 */
const char *leaf_queue_text(struct arena *a, const struct queue *q);
/* Text of the queue for the phrase of l; empty in a warm-up walk, whose phrases nobody sees. */
const char *leaf_queue_turn(const struct leaf *l, const struct queue *q);
/* Adds position (from 1) and tasks_ahead to the wait. */
void leaf_queue_details(const struct leaf *l, const struct queue *q);
/*
 * Adds behind and tasks_behind to the wait of a future that is in the queue, or has left it with
 * what it waited for. Returns ", 2 tasks behind it (tasks 5, 7)", or "" when there is none or the
 * queue is not whole. In c->words.
 */
const char *leaf_queue_behind(const struct leaf *l, const struct queue *q);
/* Frees what is cached in c. */
void leaf_queues_free(struct collector *c);

/*
 * The phrase for a future that has got what it waits for, as the word says ("granted"), and what
 * comes next: "granted, about to resume". Where its task is idle, a poll has consumed the wake-up
 * and has not reached this future: adds passed_over to the wait. That is certain at the second
 * look: at one look alone, the wake-up may be about to come. In c->words.
 */
const char *leaf_next(const struct leaf *l, const char *word);

/* "1 sender", "2 senders", marked; in c->words. */
const char *leaf_count(const struct leaf *l, uint64_t n, const char *what);

#endif
