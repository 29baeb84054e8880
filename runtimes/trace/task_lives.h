/*
 * The tasks that live now, of runtimes whose ids are addresses: when one has ended another may get
 * its address.
 */
#ifndef RUNTIMES_TRACE_TASK_LIVES_H
#define RUNTIMES_TRACE_TASK_LIVES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"

/* State of the task at an address, as seen so far. */
struct task_life {
	bool lives;
	bool queued;    /* in a queue since its last poll began, as from its spawn on */
	bool polled;    /* being polled */
	pid_t tid;      /* the thread that polled it last; 0: none was seen to */
	uint64_t table; /* of its functions; 0: not seen yet */
};

/* All zeros: none lives. */
struct task_lives {
	struct map by_key;
	struct arena arena;
	struct task_life other; /* shared by all addresses beyond the limit */
};

enum { TASK_LIVES_MAX = 1 << 22 /* addresses; events at others are not kept */ };

/* The entry of the task with that key; it stays where it is. */
struct task_life *task_lives_at(struct task_lives *lives, uint64_t key);
/* Marks it as alive; true if it was not before. */
bool task_lives_begin(struct task_lives *lives, uint64_t key);
void task_lives_end(struct task_lives *lives, uint64_t key);
void task_lives_free(struct task_lives *lives);

#endif
