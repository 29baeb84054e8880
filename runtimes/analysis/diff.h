/*
 * What moved between two looks at one program. A task is the same in both when runtime, id and
 * header are; a runtime is the same when its handle is. The futures that threads block on are
 * compared too, by thread id.
 *
 * Linear in the tasks; touches neither snapshot.
 */
#ifndef RUNTIMES_ANALYSIS_DIFF_H
#define RUNTIMES_ANALYSIS_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/map.h"
#include "runtimes/model/model.h"

enum diff_kind {
	DIFF_MOVED,     /* its state, a frame of its tree, or what it waits for is another */
	DIFF_REARMED,   /* all the same but for the deadline of a timer */
	DIFF_NEW,       /* only in the later look */
	DIFF_GONE,      /* only in the earlier look */
	DIFF_UNKNOWN,   /* it could not be read in one of them */
	DIFF_UNCHANGED, /* every frame and what each waits for is the same */
	DIFF_KINDS,
};

/* Where a task stands: its innermost frame in the user's own code, and the leaf. */
struct diff_place {
	const char *function, *file; /* NULL: it has no tree */
	unsigned line;
	const char *on;    /* kind of the leaf's wait, else its type; NULL: it is that function */
	const char *state; /* NULL: idle, or of a thread */
};

struct diff_item {
	enum diff_kind kind;
	const struct task *before, *after;                      /* NULL: not in that look */
	const struct thread_info *thread_before, *thread_after; /* of a block_on future instead */
	struct diff_place from, to; /* to: only of DIFF_MOVED; from: of the only look otherwise */
	bool again;     /* DIFF_MOVED: it was polled and stands at the same place again */
	unsigned looks; /* in so many looks in a row it was the same; 1 when it moved */
};

/* Items of one kind, places and number of looks. */
struct diff_group {
	const struct diff_item *const *items; /* in the order of the looks */
	size_t n;
};

enum { DIFF_MAX_DOUBTS = 4 };

struct diff {
	const struct snapshot *before, *after;
	const char *before_name, *after_name; /* for people; filled by who shows it, may be NULL */
	const char *doubts[DIFF_MAX_DOUBTS];  /* see diff_find_doubts() */
	size_t ndoubts;
	struct diff_item *items;
	size_t nitems;
	struct diff_group *groups; /* by kind, then looks and size descending */
	size_t ngroups;
	size_t counts[DIFF_KINDS];
	struct map looks; /* of what did not move, by address of the header, or by thread id */
	struct arena arena;
};

/*
 * earlier: the diff whose later look is this one's first, for counting looks; NULL: there is none.
 * Both snapshots must outlive *ret, and were taken with WANT_TASKS. Free with diff_free().
 */
void diff_compute(const struct snapshot *before, const struct snapshot *after,
                  const struct diff *earlier, struct diff *ret);
void diff_free(struct diff *d);

/*
 * Fills doubts, once the looks have names: they are of different processes (by pid, instance,
 * build-id, or by path where there is no build-id), or one of them is incomplete.
 */
void diff_find_doubts(struct diff *d);

/* Whether anything is new, gone or has moved: timers that only tick are no movement. */
bool diff_has_moved(const struct diff *d);
/* The word of docs/json.md. */
const char *diff_kind_name(enum diff_kind kind);

#endif
