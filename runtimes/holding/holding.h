/*
 * Who holds what others wait for: guards, permits, ends of channels in the variables of futures.
 *
 * What a value may hold is asked of its type once (holding_type.c), so that a walk over a hundred
 * thousand tasks passes by what can hold nothing. A walk (holding.c) begins at the variables of
 * each frame of a tree, in the order of locals.c and with its doubts, and goes no further than what
 * the frame owns: what lies behind a reference, or is shared, belongs to somebody else. In the end
 * (holding_settle.c) what the locks themselves say is compared with what was found.
 *
 * To add a type, add a row to holding_rows.c, or to the table of its runtime.
 */
#ifndef RUNTIMES_HOLDING_HOLDING_H
#define RUNTIMES_HOLDING_HOLDING_H

#include "runtimes/common/runtime.h"
#include "runtimes/future/future.h"

/* A variable that something may be found in, and where it is declared: asked for when it is told.
 */
struct holding_variable {
	const struct type *coroutine; /* that has it in that state; NULL: it is one of a frame: */
	struct dwarf_module *dm;
	uint64_t die; /* 0 unknown */
	unsigned state;
	const char *name;
	const struct type *type;
	uint64_t offset;               /* from the coroutine */
	bool known;                    /* what follows is filled in */
	const char *file, *file_short; /* NULL unknown */
	unsigned line;
};

/* One that was found, with what is needed to judge it. */
struct found {
	struct holding h;
	const struct holding_row *row;     /* NULL: permits of a lock future */
	const struct future *root;         /* of its tree; NULL: of a stack */
	struct holding_variable *variable; /* the last one of its path, NULL none */
	size_t order;                      /* of the tree: by tasks, then by threads */
	uint64_t available, total;         /* permits of the primitive */
	bool has_available, has_total;
	bool free;  /* nobody holds the lock, so this is what is left of a value that was moved */
	bool trace; /* uncertain, and where it lies does not belong to a frame that is polled: it
	               may have been given to somebody else, or its memory used again */
	bool twin;  /* a trace, and others have traces that lead to it as well: */
	bool extra; /* it is not the first of them, they are all one value */
	bool gone;  /* left out of the answer */
};

typedef VEC(struct found) found_vec;

/* Of one snapshot: struct collector's. */
struct holdings {
	found_vec list;
	VEC(const char *) unsearched;
	struct map noted;   /* hashes of those texts */
	struct map names;   /* address of what is waited for -> what it is called, NULL: unknown */
	struct map scanned; /* roots of trees that were searched */
	size_t visited;     /* values of all trees and stacks */
	size_t messages;    /* queued ones that were looked at, of all channels */
	bool over;          /* no more is searched: there was too much, or the user said stop */
};

/* ---- holding_rows.c ---- */

/* The row for values of that type, NULL none: for type_class.c, which keeps it. */
const struct holding_row *holding_find_row(const struct type *t);
/*
 * The lock that a guard of this type may be of, which its members do not lead to: looked up by its
 * name. NULL for all else.
 */
const struct type *holding_whole_type(const struct type *guard);
/*
 * What value v of a row's type holds: fills object, primitive and permits of ret->h, and what the
 * primitive says. *found false: v is empty, a sender that was taken for example.
 */
struct error *holding_read(struct collector *c, struct value v, const struct holding_row *row,
                           struct found *ret, bool *found) MUST_CHECK;
/*
 * The same of a guard of a thread's lock of which but one word is known, at offset: *found only
 * where that is its reference to the lock.
 */
struct error *holding_read_word(struct collector *c, const struct type *t, uint64_t offset,
                                uint64_t word, struct found *ret, bool *found) MUST_CHECK;
/* The same for a lock future (SPECIAL_ACQUIRE) that has got permits. */
struct error *holding_read_acquire(struct collector *c, struct value v, struct found *ret,
                                   bool *found) MUST_CHECK;

/* ---- holding_type.c ---- */

enum holding_special holding_special(const struct type *t);
/* Fills what this folder knows of a type. */
classify_fn holding_classify;
/* May a value of this type hold something that a row knows, in itself or in what it owns? */
bool holding_is_inside(const struct type *t);
/* What an Arc or Rc shares; NULL unknown. */
const struct type *holding_shared_type(const struct type *t);
/* Whether a pointer is one that owns what it leads to. */
bool holding_is_box(const struct type *t);

/* ---- holding.c ---- */

/*
 * Searches all trees of the snapshot that were not searched yet. Reads memory: once when all
 * that is suspended is decoded, and again when the trees of what runs are known.
 */
void holding_search(struct collector *c);
/*
 * The same for one task of a rehearsal, while debug info of its future is at hand: what is found is
 * declared and thrown away, and holding_search() passes it by.
 */
void holding_rehearse_task(struct collector *c, const struct task *task);
/* Whether to search on; notes, once, what is left out when not. */
bool holding_goes_on(struct collector *c);
/* Notes what cannot be searched, once for each text. */
void holding_unsearched(struct collector *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* One variable that a walk begins at. */
struct holding_start {
	struct found like; /* task, thread, future, file and line are filled in */
	const char *name;  /* of the variable, NULL none */
	struct value v;
	bool uncertain;
};
/* Walks from a variable of a native frame. */
void holding_walk_variable(struct collector *c, const struct holding_start *start);

/* ---- holding_declared.c ---- */

/* A variable of a coroutine's state, by its number; of a frame, in the scratch arena. */
struct holding_variable *holding_saved_variable(struct arena *a, const struct type *coroutine,
                                                size_t state, const char *name,
                                                const struct type *type, uint64_t offset);
struct holding_variable *holding_running_variable(struct collector *c, const struct type *type,
                                                  struct dwarf_module *dm, uint64_t die);
/* Asks where the variables of its states are declared, so that it becomes known. */
void holding_rehearse(const struct type *coroutine);
/* Says where its variable is declared, if that is known: file, line and declared of f->h. */
void holding_declare(struct collector *c, struct found *f);

/* ---- holding_stack.c ---- */

/* Searches the variables of native frames: of whatever runs, or is blocked, on a thread. */
void holding_search_stacks(struct collector *c);

/* ---- holding_settle.c ---- */

/* Once all is found: into the snapshot, without what cannot be. */
void holding_settle(struct collector *c);
void holding_free(struct collector *c);

#endif
