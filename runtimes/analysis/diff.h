/*
 * Compares two snapshots of one program. A task is the same in both when its runtime, id and header
 * address are equal; a runtime is the same when its handle address is equal. Futures that threads
 * block on are compared too, by thread id.
 *
 * Time is linear in the number of tasks. Neither snapshot is changed.
 */
#ifndef RUNTIMES_ANALYSIS_DIFF_H
#define RUNTIMES_ANALYSIS_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/map.h"
#include "runtimes/model/model.h"

enum diff_kind {
	DIFF_MOVED,     /* its state, a frame of its tree, or its wait has changed */
	DIFF_REARMED,   /* only the deadline of a timer has changed */
	DIFF_NEW,       /* only in the later snapshot */
	DIFF_GONE,      /* only in the earlier snapshot */
	DIFF_UNKNOWN,   /* it could not be read in one of the snapshots */
	DIFF_UNCHANGED, /* all frames and their waits are the same */
	DIFF_KINDS,
};

/* The position of a task: its innermost frame in the user's own code, and its leaf. */
struct diff_place {
	const char *function, *file; /* NULL: it has no tree */
	unsigned line;
	const char *on;    /* kind of the leaf's wait, else its type; NULL: it is that function */
	const char *state; /* NULL: idle, or of a thread */
};

struct diff_item {
	enum diff_kind kind;
	const struct task *before, *after;                      /* NULL: not in that snapshot */
	const struct thread_info *thread_before, *thread_after; /* set for a block_on future */
	struct diff_place from, to; /* to: DIFF_MOVED only; from: of the only snapshot otherwise */
	bool again;                 /* DIFF_MOVED: it was polled and is at the same place again */
	unsigned looks; /* consecutive snapshots in which it was unchanged; 1: it moved */
};

/* Items with the same kind, places and number of snapshots. */
struct diff_group {
	const struct diff_item *const *items; /* in the order of the snapshots */
	size_t n;
};

enum { DIFF_MAX_DOUBTS = 4 };

struct diff {
	const struct snapshot *before, *after;
	const char *before_name, *after_name; /* for text output; set by the caller, may be NULL */
	const char *doubts[DIFF_MAX_DOUBTS];  /* see diff_find_uncertainties() */
	size_t ndoubts;
	struct diff_item *items;
	size_t nitems;
	struct diff_group *groups; /* by kind, then number of snapshots and size, descending */
	size_t ngroups;
	size_t counts[DIFF_KINDS];
	struct map
		looks; /* number of snapshots of unchanged items, by header address or thread id */
	struct arena arena;
};

/*
 * earlier: the diff whose later snapshot is before; its counts of snapshots are continued. NULL:
 * there is none. Both snapshots must outlive *ret and must have been taken with WANT_TASKS. Free
 * with diff_free().
 */
void diff_compute(const struct snapshot *before, const struct snapshot *after,
                  const struct diff *earlier, struct diff *ret);
void diff_free(struct diff *d);

/*
 * Fills in doubts; before_name and after_name must be set. A doubt is that the snapshots are of
 * different processes (by pid, instance, build-id, or by path when a build-id is missing), or that
 * one of them is incomplete.
 */
void diff_find_uncertainties(struct diff *d);

/* Whether any item is new, gone or moved. DIFF_REARMED does not count. */
bool diff_has_moved(const struct diff *d);
/* The word that docs/json.md defines. */
const char *diff_kind_name(enum diff_kind kind);

#endif
