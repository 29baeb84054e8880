/*
 * Finds the futures that another future polls, and the futures that a value contains.
 *
 * The general rule follows the types: a struct, or the active variant of an enum, polls the futures
 * and streams that it contains, directly or behind Box, Pin, &mut, Option, Vec, a slice or a set.
 * Types for which the rule finds too little or too much, or whose edges need names, have a table
 * row. A stream differs from a future in that its owner polls it when it likes: one that is only
 * held in a variable is not reported, only the futures in it are.
 */
#ifndef RUNTIMES_FUTURE_COMBINATOR_H
#define RUNTIMES_FUTURE_COMBINATOR_H

#include "debugger/base/vec.h"
#include "runtimes/future/future.h"

/*
 * Why an unpolled future in a variable may not be what it seems: moving a value out of a variable
 * leaves its bits there.
 */
enum uncertainty {
	UNCERTAINTY_NONE,
	UNCERTAINTY_UNPOLLED, /* it may have been moved, unless it was polled at this address */
	UNCERTAINTY_MOVED,    /* it may have been moved */
	UNCERTAINTY_POLLED,   /* the awaitee may poll it by a reference that the search did not find
	                       */
};

/* A future that another future polls or contains. */
struct child {
	struct value v;       /* addr 0: it has ended, only its type is known */
	const char *edge;     /* "await", "select arm 1", "set", ... */
	const char *variable; /* as in struct future */
	const char *member;   /* of the parent, through which it was found; NULL: unknown */
	enum branch branch;
	uint64_t waker; /* data pointer of the waker that polls it; 0: the same as its parent's */
	enum waker_registered
		set_armed; /* where waker is not 0: does a wake-up of the set wake the task? */
	enum uncertainty doubt;
	const char *note; /* as in struct future; NULL: none */
	bool joined;      /* as in struct future */
	bool stream;      /* the same */
};
typedef VEC(struct child) child_vec;

/* Whether the type implements Future, as far as the debug info shows. */
bool future_is_type(struct inspector *in, const struct type *t);
/*
 * Whether the type is a future or contains one, directly or behind an owned or &mut pointer. A set
 * of tasks (leaf_owns_tasks()) counts as one, and so does a trait object of a stream: what is in
 * it depends on its vtable.
 * Checks the known types first, which is cheap, and searches for poll functions last.
 */
bool future_is_or_has(struct inspector *in, const struct type *t);

/*
 * Whether the type is a stream or a trait object of a sink, as far as the debug info shows, and no
 * future: whoever polls it calls poll_next() or the methods of Sink with a Context, and it polls
 * the streams and futures that it contains.
 */
bool future_is_stream(struct inspector *in, const struct type *t);
/*
 * Whether t is a trait object of Stream, or of Sink or an HTTP body, which are polled like streams.
 */
bool future_is_stream_object(const struct type *t);
/* Like future_is_or_has(), for futures and streams. */
bool future_is_or_has_polled(struct inspector *in, const struct type *t);

/*
 * Adds the futures and streams that v contains and polls. v is neither a coroutine nor a leaf.
 * After a failure the children already in out are valid. The caller frees out.
 */
struct error *combinator_children(struct decoder *d, struct value v, child_vec *out) MUST_CHECK;

/*
 * Whether the children are known to be all that a future of this type polls. If so,
 * sibling_resources_add() is not needed.
 */
bool combinator_is_exact(const struct type *t);

/*
 * Whether a future of type t with these children is a wrapper around one other future, as
 * Timeout<F>, Instrumented<F> and Map<F, _> are. The wrapped future is then the only child with the
 * edge "await".
 */
bool combinator_wraps(struct inspector *in, const struct type *t, const struct child *list,
                      size_t n);

enum { COMBINATOR_MAX_HELD = 1 << 10 /* elements of one collection that are searched */ };

/*
 * Adds the futures that a local variable of a coroutine is, owns, or refers to inside the same
 * coroutine (pin! hides the variable that it pins). Their edge is "held", their branch BRANCH_HELD.
 * Collections of std are searched as well; d->left_out: one of them has too many elements.
 */
struct error *combinator_held(struct decoder *d, struct value coroutine, struct value local,
                              child_vec *out) MUST_CHECK;

/* ---- for the files of this family ---- */

enum { MAX_MEMBER_DEPTH = 48 /* structs inside structs: stacks of services nest deep */ };

struct finder {
	struct decoder *d;
	child_vec *out;
	const char *edge;   /* for the next future found */
	const char *member; /* the same */
	const char
		*word; /* "select" where the members of the next struct are alternatives, or NULL */
	enum branch branch; /* for the next future found */
	uint64_t waker;     /* as in struct child */
	enum waker_registered set_armed;
	struct value
		owner;     /* references that lead out of it are not followed; type NULL: all are */
	const char *later; /* the member of the next struct that it does not poll yet; NULL: none */
};

/*
 * combinator_row.c: the row for t in its table or in a runtime's; NULL none. struct type_class
 * caches it.
 */
const struct combinator_row *combinator_find_row(const struct type *t);
/* Adds what v polls according to the row of its type. */
struct error *combinator_row_children(struct finder *f, struct value v,
                                      const struct combinator_row *row) MUST_CHECK;
/*
 * The row of a type that polls one member after another, in a crate's table; NULL: it has none.
 * struct type_class caches it.
 */
const struct sequence_row *combinator_sequence_row(const struct type *t);
/* The member of v that is held while another one is polled; NULL: all are polled. */
const char *combinator_later(const struct finder *f, struct value v,
                             const struct sequence_row *row);
/* Adds v itself if it is a future, else the futures inside it. */
struct error *combinator_find_futures(struct finder *f, struct value v, int depth) MUST_CHECK;
void combinator_found(struct finder *f, struct value v, const char *edge);
/* Whether t is an arm of join!: an enum of a future, its output, or nothing. */
bool combinator_is_maybe_done(const struct type *t);

/* select_join.c: what a poll_fn polls: arms of select! and join!, and captures of its closure. */
bool select_join_is_poll_fn(const struct type *t);
struct error *select_join_find(struct finder *f, struct value poll_fn) MUST_CHECK;
/* Makes the debug info queries of select_join_find() in advance. The type must be a poll_fn. */
void select_join_learn(struct inspector *in, const struct type *poll_fn);
/* The other captures of its closure: resources (leaf.h), or values without futures. The caller
 * frees ret, also after a failure. */
typedef VEC(struct value) value_vec;
struct error *select_join_captures(struct finder *f, struct value poll_fn, value_vec *ret)
	MUST_CHECK;

/* futures_unordered.c: FuturesUnordered. */
bool futures_unordered_is_type(const struct type *t);
struct error *futures_unordered_find(struct finder *f, struct value set) MUST_CHECK;
/*
 * Adds the nodes of a set, at most max, newest first. After a failure those before the bad one are
 * there. A node's address is the data of its future's waker. The caller frees nodes.
 */
struct error *futures_unordered_nodes(struct collector *c, struct value set, size_t max,
                                      value_vec *nodes) MUST_CHECK;

#endif
