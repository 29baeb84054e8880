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

/* What was seen of the task at an address. */
struct task_life {
	bool lives;
	bool queued;    /* it has been in a queue since its last poll began, as from its spawn on */
	bool polled;    /* it is being polled */
	pid_t tid;      /* that polled it last; 0: none was seen to */
	uint64_t table; /* of its functions; 0: not seen yet */
};

/* All zeros: none lives. */
struct task_lives {
	struct map by_key;
	struct arena arena;
	struct task_life other; /* of all addresses beyond the limit */
};

enum { TASK_LIVES_MAX = 1 << 22 /* addresses; what happens at others is not kept */ };

/* Of the task of that key; it stays where it is. */
struct task_life *task_lives_at(struct task_lives *lives, uint64_t key);
/* Notes that it lives; true if it did not before. */
bool task_lives_begin(struct task_lives *lives, uint64_t key);
void task_lives_end(struct task_lives *lives, uint64_t key);
void task_lives_free(struct task_lives *lives);

#endif
