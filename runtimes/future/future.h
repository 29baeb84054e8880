/*
 * From a typed place to the tree of futures that a poll of it would poll: coroutines to their
 * awaitee, wrappers to what they wrap, down to leaves.
 *
 * A new leaf is a row of a leaf_*.c, a new combinator a row of combinator.c.
 */
#ifndef RUNTIMES_FUTURE_FUTURE_H
#define RUNTIMES_FUTURE_FUTURE_H

#include "dwarf/values/value.h"
#include "runtimes/common/inspector.h"

/* Boxes that point back at an ancestor would make a tree without end. */
enum { FUTURE_MAX_DEPTH = 128, FUTURE_MAX_NODES = 1 << 14 };

/* The futures around the one that is being decoded, innermost first. */
struct ancestor {
	const struct ancestor *up;
	struct value v;
	const struct future *future;
};

struct decoder {
	struct collector *c;
	const struct ancestor *above; /* NULL at the root */
	/*
	 * What a waker of this task has as its data: the task's header, or the node of the set
	 * that polls this branch. 0 unknown.
	 */
	uint64_t waker;
	unsigned runtime; /* that drives this tree: index into the snapshot's */
	/* IO_READS or IO_WRITES: what the future does with the resource that is being decoded; 0
	 * unknown, or both */
	unsigned direction;
	bool idle;      /* nobody has woken it since it was polled */
	bool forgotten; /* the same, and no waker of it exists anywhere */
	bool unpolled;  /* what is decoded is not polled: see enum branch; */
	bool doubted;   /* but it may be, or it may have been moved from here */
	unsigned depth, nodes;
	bool strict;         /* a candidate place is being judged: any doubt counts */
	unsigned faults;     /* problems met below */
	unsigned suspended;  /* coroutines met that are suspended */
	struct task_set set; /* strict: the last one met */
};

/* Never NULL: what cannot be read becomes a future with a problem. */
struct future *future_decode(struct decoder *d, struct value v);

/*
 * Looks through pointers, trait objects and transparent wrappers to the future itself; f learns
 * whether a vtable was on the way, and how sure its type is.
 */
struct error *future_strip(struct decoder *d, struct value *v, struct future *f) MUST_CHECK;

/*
 * Is f, down to its innermost only child, a timer that nobody has polled since it was made or
 * reset, or an async fn that is not between its first poll and its return? A pending future that
 * polls f would have changed that.
 */
bool future_is_at_rest(const struct future *f);

/* A future of which only the type's name is known. */
struct future *future_by_name(struct collector *c, const char *type_name);

/* ---- coroutine.c: what DWARF says about a compiler-made future, once per type ---- */

struct coroutine_state {
	const struct variant *variant;
	enum future_state state;
	int await_point; /* N of SuspendN, -1 */
	const char *file, *file_short;
	bool library; /* the file is of one: see struct future */
	unsigned line;
	const struct member *awaitee; /* NULL unless suspended */
	const struct member **held;   /* variables in which futures may lie, awaitee aside */
	size_t nheld;
	const struct member **runtimes; /* variables that have a handle of a runtime in them */
	size_t nruntimes;
	const struct member *
		*flags; /* drop flags: false for a variable that was moved or not set */
	size_t nflags;
	const struct holding_local *holding; /* see holding_locals() */
	size_t nholding;
	bool holding_known;
	size_t nvariables; /* saved variables that a flag may be for */
	bool complete;     /* file, line, held and flags are filled in */
};

struct coroutine_plan {
	enum future_kind kind;
	const char *function, *type;
	struct coroutine_state **states; /* by variant; NULL: nobody has asked for it yet */
	const struct variant *variants;  /* the type's: as many */
	size_t nstates;
};

const struct coroutine_plan *coroutine_plan(struct inspector *in, const struct type *t);
/* A state of a plan by its index: the variant, what state that is, and what it awaits. */
struct coroutine_state *coroutine_outline(struct inspector *in, const struct coroutine_plan *plan,
                                          size_t index);
/*
 * The state of a plan of t by its index, complete: where it awaits in the user's code and what
 * variables it has cost questions that are asked of no state that nothing is in.
 */
const struct coroutine_state *coroutine_state(struct inspector *in, const struct type *t,
                                              const struct coroutine_plan *plan, size_t index);
/* The function of a location for people, without generics; NULL unknown. */
const char *coroutine_function_name(struct collector *c, const struct location *l);
/* Is it the poll function of a coroutine? */
bool coroutine_is_poll(const struct location *l);
/* Of such a one the path, with `{impl#N}` resolved by its symbol. */
const char *coroutine_poll_path(struct collector *c, const struct location *l);
/* Kind and readable path of a coroutine type's or poll function's name; OTHER when it is none. */
enum future_kind coroutine_kind(const char *qualified_name);

#endif
