/*
 * Finds resource owners: guards, permits and channel ends in the variables of futures.
 *
 * Whether a type may hold anything is computed once per type (ownership_type.c), so that a walk
 * over a hundred thousand tasks skips types that hold nothing. A walk (ownership.c) begins at the
 * variables of each frame of a tree, in the order of locals.c and with its doubts. It goes no
 * further than what the frame owns: values behind a reference, or shared ones, belong to someone
 * else. At the end (ownership_resolve.c) the state of the locks themselves is compared with what
 * was found.
 *
 * To add a type, add a row to ownership_rows.c, or to the table of its runtime.
 */
#ifndef RUNTIMES_OWNERSHIP_OWNERSHIP_H
#define RUNTIMES_OWNERSHIP_OWNERSHIP_H

#include "runtimes/common/runtime.h"
#include "runtimes/future/future.h"

/*
 * A variable that may hold something. Its declaration is looked up only when a holding in it is
 * reported.
 */
struct ownership_variable {
	const struct type *coroutine; /* saves it in `state`; NULL: a variable of a frame: */
	struct dwarf_module *dm;
	uint64_t die; /* 0 unknown */
	unsigned state;
	const char *name;
	const struct type *type;
	uint64_t offset;               /* from the coroutine */
	bool known;                    /* the members below are filled in */
	const char *file, *file_short; /* NULL unknown */
	unsigned line;
};

/* A holding that was found, with the data that ownership_resolve() needs to judge it. */
struct found {
	struct holding h;
	const struct ownership_row *row;     /* NULL: permits of a lock future */
	const struct future *root;           /* of its tree; NULL: found on a stack */
	struct ownership_variable *variable; /* the last one of its path, NULL none */
	struct value within; /* the value of that variable, or of a temporary; type NULL: unknown */
	const struct type *type;   /* its own; NULL: it is in a register */
	size_t order;              /* of the tree: by tasks, then by threads */
	uint64_t available, total; /* permits of the primitive */
	bool has_available, has_total;
	struct {
		uint64_t at, handle, strong, weak;
	} sharing;  /* of what an Arc shares: where it is, where the Arc is, and how many strong and
	               weak references it counts, all strong ones together as one of these; at 0: no
	               Arc leads to it; strong 0, weak 0: unknown */
	bool free;  /* the lock is free, so this is stale memory of a moved value */
	bool trace; /* uncertain, and not within a polled frame: it may have moved elsewhere, or its
	               memory was reused */
	bool duplicate; /* a trace of a value that other tasks or threads have traces of too */
	bool by_move;   /* uncertain, because the variable may have been moved out, and nothing else
	                 */
	bool crowded;   /* there are more candidates than its lock counts, or its channel */
	bool extra;     /* not the first trace of that value: its permits are not counted again */
	bool gone;      /* not reported */
};

typedef VEC(struct found) found_vec;

/* The search of one snapshot; belongs to struct collector. */
struct ownership_data {
	found_vec list;
	VEC(const char *) unsearched;
	struct map noted;  /* hashes of those texts */
	struct map names;  /* address of what is waited for -> name, NULL unknown */
	size_t visited;    /* values visited, in all trees and stacks */
	size_t messages;   /* queued messages visited, in all channels */
	struct map shared; /* struct shared_owner (ownership_walk.c) of what Arcs share that was
	                      searched for descriptors */
	bool shared_cut;   /* there are more owners of shared descriptors than the list may have */
	bool quiet;        /* unsearched values may only have descriptors: nothing is recorded */
	bool over;         /* the search ended: a limit was reached, or the user interrupted */
};

/* ---- ownership_rows.c ---- */

/* The row for values of that type, NULL none. type_class.c caches it. */
const struct ownership_row *ownership_find_row(const struct type *t);
/*
 * The type of the lock that a guard of this type may belong to, looked up by name, for guards whose
 * members do not lead to it. NULL for all other types.
 */
const struct type *ownership_whole_type(const struct type *guard);
/*
 * Reads what value v of a row's type holds: fills object, primitive and permits of ret->h, and the
 * state of the primitive. *found false: v is empty, for example a sender that was taken.
 */
struct error *ownership_read(struct collector *c, struct value v, const struct ownership_row *row,
                             struct found *ret, bool *found) MUST_CHECK;
/*
 * ownership_read() for a guard of a native lock of which only one word is known, at offset. *found
 * only when that word is its reference to the lock.
 */
struct error *ownership_read_word(struct collector *c, const struct type *t, uint64_t offset,
                                  uint64_t word, struct found *ret, bool *found) MUST_CHECK;
/* ownership_read() for a lock future (SPECIAL_ACQUIRE) that has been granted permits. */
struct error *ownership_read_acquire(struct collector *c, struct value v, struct found *ret,
                                     bool *found) MUST_CHECK;

/* ---- ownership_account.c ---- */

/*
 * Drops uncertain findings where the certain ones account for all that the object counts. A
 * descriptor that nobody shares has one owner.
 */
void ownership_account(struct collector *c, found_vec *list);

/* ---- ownership_boxed.c ---- */

/*
 * Drops crowded findings beside a Box that another crowded finding has: a Box has one owner, and
 * they are what a move left behind. Reads memory.
 */
void ownership_strike_moved(struct collector *c, found_vec *list);

/* ---- ownership_type.c ---- */

enum ownership_special ownership_special(const struct type *t);
/* Fills the members of a type's class that this folder owns. */
classify_fn ownership_classify;
/* May a value of this type hold something that has a row, in itself or in what it owns? */
bool ownership_is_inside(const struct type *t);
/*
 * May a value of this type hold something that owns a file descriptor, in itself or in what it
 * owns?
 */
bool ownership_has_descriptor(const struct type *t);
/* May a value of this type hold something that this collector looks for? */
bool ownership_is_sought(const struct collector *c, const struct type *t);
/* The type that an Arc or Rc shares; NULL unknown. */
const struct type *ownership_shared_type(const struct type *t);
/* Does a pointer of this type own its target? */
bool ownership_is_box(const struct type *t);

/* ---- ownership.c ---- */

/*
 * Searches all trees of the snapshot that were not searched yet, for what WANT_OWNERS names. Reads
 * memory. Called once when all
 * suspended futures are decoded, and again when the trees of running ones are known.
 */
void ownership_search(struct collector *c);
/*
 * ownership_search() for one task of a warm-up walk, while the debug info of its future is in
 * memory. Looks up the declarations of what it finds, then discards the findings.
 * ownership_search() then skips the task.
 */
void ownership_warm_up_task(struct collector *c, const struct task *task);
/* Whether to continue the search. When not, notes once what is left out. */
bool ownership_within_budget(struct collector *c);
/* Records that something cannot be searched. Each text is kept once. */
void ownership_unsearched(struct collector *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A variable that a walk begins at. */
struct ownership_start {
	struct found template; /* task, thread, future, file and line are filled in */
	const char *name;      /* of the variable, NULL none */
	struct value v;
	bool uncertain;
};
/* Searches a variable of a native frame. */
void ownership_walk_variable(struct collector *c, const struct ownership_start *start);

/* ---- ownership_declared.c ---- */

/*
 * A variable of a coroutine's state (given by index); a variable of a frame. The latter is in the
 * scratch arena.
 */
struct ownership_variable *ownership_saved_variable(struct arena *a, const struct type *coroutine,
                                                    size_t state, const char *name,
                                                    const struct type *type, uint64_t offset);
struct ownership_variable *ownership_running_variable(struct collector *c, const struct type *type,
                                                      struct dwarf_module *dm, uint64_t die);
/* Looks up the declarations of the variables of its states in advance, so that they are cached. */
void ownership_warm_up(const struct type *coroutine);
/* Fills file, line and declared of f->h from the declaration of its variable, if that is known. */
void ownership_declare(struct collector *c, struct found *f);

/* ---- ownership_stack.c ---- */

/* Searches the variables of native frames, of running and of blocked threads. */
void ownership_search_stacks(struct collector *c);

/* ---- ownership_resolve.c ---- */

/*
 * Call it when the search is complete. Publishes the findings to the snapshot, without refuted
 * ones.
 */
void ownership_resolve(struct collector *c);
void ownership_free(struct collector *c);

#endif
