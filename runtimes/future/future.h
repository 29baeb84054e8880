/*
 * Decodes the future at a typed address into the tree of futures that polling it would poll: from
 * a coroutine to its awaitee, from a wrapper to the wrapped future, down to the leaves.
 *
 * To add a leaf, add a row to a leaf_*.c; to add a combinator, add a row to combinator_row.c.
 */
#ifndef RUNTIMES_FUTURE_FUTURE_H
#define RUNTIMES_FUTURE_FUTURE_H

#include "dwarf/values/value.h"
#include "runtimes/common/inspector.h"

/* Limits: boxes that point back at an ancestor would make the tree infinite. */
enum { FUTURE_MAX_DEPTH = 128, FUTURE_MAX_NODES = 1 << 14 };

/* The futures around the one that is being decoded, innermost first. */
struct ancestor {
	const struct ancestor *up;
	struct value v;
	const struct future *future;
};

/* The direction in which a future uses a resource: IO_READS or IO_WRITES; 0: unknown, or both. */
struct io_direction {
	unsigned sure; /* every type from the future to the resource is known to pass it on */
	/*
	 * The direction that the future asks of the stream above the resource: a type in between,
	 * such as one of TLS, may do the other.
	 */
	unsigned meant;
};

struct decoder {
	struct collector *c;
	const struct ancestor *above; /* NULL at the root */
	/*
	 * The data pointer of this task's wakers: the address of the task's header, or of the node
	 * of the set that polls this branch. 0 unknown.
	 */
	uint64_t waker;
	bool in_set; /* a set such as FuturesUnordered polls it by a waker of its own */
	enum waker_registered set_armed; /* of in_set: does a wake-up of the set wake the task? */
	unsigned runtime; /* that drives this tree: index into the snapshot's runtimes, or
	                     NO_RUNTIME */
	struct io_direction direction; /* of the resource being decoded */
	bool idle;                     /* the task was not woken since its last poll */
	bool woken;                    /* the task was woken, or runs: it will be polled */
	bool forgotten;                /* idle, and no waker of the task exists */
	bool unpolled;                 /* the future being decoded is not polled: see enum branch */
	bool doubted;  /* the same, but it may be polled, or may have been moved from here */
	bool stream;   /* the future decoded next is a stream or a sink */
	bool left_out; /* not all elements of a collection that is held were searched */
	unsigned depth, nodes;
	bool strict;         /* checks whether a candidate address holds a future: see root.c */
	unsigned faults;     /* number of problems found */
	unsigned suspended;  /* number of suspended coroutines found */
	struct task_set set; /* strict: the last one found */
};

/* Never NULL: a future that cannot be read is returned with its problem set. */
struct future *future_decode(struct decoder *d, struct value v);

/*
 * Follows pointers, trait objects and transparent wrappers from *v to the future itself. Sets
 * f->dyn if a vtable was on the way, and f->uncertain if the vtable's type is not exact.
 */
struct error *future_strip(struct decoder *d, struct value *v, struct future *f) MUST_CHECK;

/* Whether a task in that state will be polled: decoder.woken. */
bool future_is_woken(enum task_state state);

/*
 * Whether nothing has f in progress. Follows f to its innermost only child, which is a timer that
 * was not polled since it was created or reset, or a coroutine that was not yet polled or has
 * returned. A pending future that polls f would have changed that.
 */
bool future_is_at_rest(const struct future *f);

/* A future for which only the name of its type is known. */
struct future *future_by_name(struct collector *c, const char *type_name);

/* ---- coroutine.c: the DWARF description of a compiler-made future, read once per type ---- */

struct coroutine_state {
	const struct variant *variant;
	enum future_state state;
	int await_point; /* N of SuspendN, -1 */
	const char *file, *file_short;
	bool library; /* the file belongs to a library: see struct future */
	unsigned line;
	const struct member *awaitee; /* NULL unless suspended */
	const struct member **held;   /* variables that may contain futures, without the awaitee */
	size_t nheld;
	const struct member **runtimes; /* variables that contain a runtime handle */
	size_t nruntimes;
	const struct member **flags; /* drop flags: false if the variable was moved or not set */
	size_t nflags;
	const struct ownership_local *holding; /* see ownership_locals() */
	size_t nholding;
	bool holding_known;
	size_t nvariables; /* saved variables that may have a drop flag */
	bool complete;     /* file and line are filled in, and the variables of a suspended one */
	bool captured;     /* the variables of an unresumed one are filled in */
};

/* The answer of merged_code_polled(), kept for each coroutine type. */
struct coroutine_merged {
	const char *others; /* of its crate that may have its code; NULL: none */
	bool known;
};

struct coroutine_plan {
	enum future_kind kind;
	const char *function, *type;
	struct coroutine_state **states; /* by variant; NULL: not read yet */
	const struct variant *variants;  /* of the type, nstates of them */
	size_t nstates;
	const struct source_place *defined; /* see coroutine_defined_at() */
	bool defined_known;
	struct coroutine_merged *merged; /* never NULL */
};

const struct coroutine_plan *coroutine_plan(struct inspector *in, const struct type *t);
/* Reads only the variant, the kind of state and the awaitee of one state of a plan. */
struct coroutine_state *coroutine_outline(struct inspector *in, const struct coroutine_plan *plan,
                                          size_t index);
/*
 * Completes one state of a plan of t: its source line and its variables. Their lookups are
 * expensive, so this is called only for states that some future is in.
 */
const struct coroutine_state *coroutine_state(struct inspector *in, const struct type *t,
                                              const struct coroutine_plan *plan, size_t index);
/*
 * Reads the variables of an unresumed state: what the coroutine captured. This is separate, because
 * that state is completed for each type of a task's future, only for its source line.
 */
const struct coroutine_state *coroutine_captured(struct inspector *in, const struct type *t,
                                                 const struct coroutine_plan *plan, size_t index);
/*
 * Where the async fn, block or closure of coroutine type t is defined: the line that its state
 * before the first poll has. NULL: the debug info does not tell.
 */
const struct source_place *coroutine_defined_at(struct inspector *in, const struct type *t);
/*
 * Like coroutine_defined_at(), by future.type of one of its futures; NULL also for a type that is
 * no coroutine.
 */
const struct source_place *coroutine_defined_by_name(struct inspector *in, const char *type);
/*
 * Like coroutine_defined_at(), for the future that a tree is about; wrappers around it are skipped.
 */
const struct source_place *coroutine_defined_by_tree(struct inspector *in,
                                                     const struct future *root);
/* The readable function name of a location, without generics; NULL unknown. */
const char *coroutine_function_name(struct arena *a, const struct location *l);
/* Whether the location is in the poll function of a coroutine. */
bool coroutine_is_poll(const struct location *l);
/* The path of such a poll function; `{impl#N}` is resolved with the help of its symbol. */
const char *coroutine_poll_path(struct arena *a, const struct location *l);
/*
 * A function's whole name, but for the poll function of a coroutine in an impl, which has that
 * path, and at its end what kind of coroutine it is: "app::Server::serve::{async_fn#0}" for
 * "app::{impl#0}::serve::{async_fn#0}<u8>". name_short() makes the path of it that
 * coroutine_function_name() has. NULL unknown.
 */
const char *coroutine_whole_name(struct arena *a, const struct location *l);
/* Kind of coroutine by the name of its type or poll function; FUTURE_OTHER if it is none. */
enum future_kind coroutine_kind(const char *qualified_name);

#endif
