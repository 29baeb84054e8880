/*
 * Futures that poll other futures, and values that hold them.
 *
 * The general rule follows the types: a struct, or the active variant of an enum, polls the futures
 * that it holds, in itself or behind Box, Pin, &mut, Option, Vec, a slice or a set. A row of a
 * table is for what the rule cannot see, and for names.
 */
#ifndef RUNTIMES_FUTURE_COMBINATOR_H
#define RUNTIMES_FUTURE_COMBINATOR_H

#include "debugger/base/vec.h"
#include "runtimes/future/future.h"

/* One future that another one has. */
/* Of what is held: a variable that was moved from keeps its bits. */
enum doubt {
	DOUBT_NONE,
	DOUBT_UNPOLLED, /* it may have been moved, unless it has been polled where it lies */
	DOUBT_MOVED,    /* it may have been moved */
	DOUBT_POLLED,   /* the awaitee may poll it in a way that cannot be seen */
};

struct child {
	struct value v;   /* addr 0: it has ended, only its type is known */
	const char *edge; /* "await", "select arm 1", "set", ... */
	enum branch branch;
	uint64_t waker; /* data of the waker it is polled with where that is not its parent's; 0 */
	enum doubt doubt;
	bool joined; /* as in struct future */
};
typedef VEC(struct child) child_vec;

/* Is a value of this type a future, as far as its type says? */
bool future_is_type(struct inspector *in, const struct type *t);
/*
 * The same, or has it a future somewhere in itself, or behind what it owns or borrows alone? Costs
 * little where the types say it; what only a search can tell is asked last.
 */
bool future_is_or_has(struct inspector *in, const struct type *t);

/*
 * Adds the futures that v, which is no coroutine and no leaf, holds and polls. On failure those
 * that were added are good all the same. The caller frees out.
 */
struct error *combinator_children(struct decoder *d, struct value v, child_vec *out) MUST_CHECK;

/* Do the tables say all that a future of this type polls? Then nothing is searched for beside it.
 */
bool combinator_is_exact(const struct type *t);

/*
 * Is a future of type t, whose children are those, for what another future is for that it was made
 * of: Timeout<F>, Instrumented<F>, Map<F, _>? Then that is the only child on the edge "await".
 */
bool combinator_wraps(struct inspector *in, const struct type *t, const struct child *list,
                      size_t n);

/*
 * Adds the futures that a local variable of a coroutine owns, itself included, or refers to within
 * that coroutine (pin! hides what it pins): edge and branch say held.
 */
struct error *combinator_held(struct decoder *d, struct value coroutine, struct value local,
                              child_vec *out) MUST_CHECK;

/* ---- for the files of this family ---- */

enum { MAX_MEMBER_DEPTH = 16 /* structs inside structs: hyper's connections are 8 deep */ };

struct finder {
	struct decoder *d;
	child_vec *out;
	const char *edge; /* of what is found next */
	const char
		*word; /* "select" where the members of the next struct are alternatives, or NULL */
	enum branch branch; /* of what is found next */
	uint64_t waker;
	struct value
		owner; /* leave out what lies behind a reference out of it; type NULL: do not */
};

/* The row for t of combinator.c or of a runtime, NULL none: kept with the type. */
const struct combinator_row *combinator_find_row(const struct type *t);
/* Adds v itself when it is a future, else the futures inside it. */
struct error *combinator_find_futures(struct finder *f, struct value v, int depth) MUST_CHECK;
void combinator_found(struct finder *f, struct value v, const char *edge);
/* An arm of join!: holds a future, or its output, or nothing any more. */
bool combinator_is_maybe_done(const struct type *t);

/* select_join.c: what a poll_fn polls: the arms of select! and join!, what its closure captured. */
bool select_join_is_poll_fn(const struct type *t);
struct error *select_join_find(struct finder *f, struct value poll_fn) MUST_CHECK;
/* Asks the debug info what select_join_find() would, of a type for which select_join_is_poll_fn().
 */
void select_join_learn(struct inspector *in, const struct type *poll_fn);
/* What else its closure captured, up to max: resources (leaf.h), and what may hold some. */
struct error *select_join_captures(struct finder *f, struct value poll_fn, struct value *ret,
                                   size_t max, size_t *nret) MUST_CHECK;

/* futures_unordered.c: FuturesUnordered. */
bool futures_unordered_is_type(const struct type *t);
struct error *futures_unordered_find(struct finder *f, struct value set) MUST_CHECK;

#endif
