/*
 * Leaf futures: what a task waits for in the end. Each leaf_*.c of a runtime holds one family: a
 * table of the paths it reads, a decode function for each leaf, and a table of rows, which the
 * runtime registers (struct runtime's leaves).
 *
 * To add a leaf, write a decode function that fills the wait, and a row for it. To support a
 * version that moved a member, add an alternative to the path.
 */
#ifndef RUNTIMES_FUTURE_LEAF_H
#define RUNTIMES_FUTURE_LEAF_H

#include "runtimes/common/runtime.h"
#include "runtimes/future/future.h"

/* One leaf that is being decoded. */
struct leaf {
	struct decoder *d;
	struct value v;   /* of the row's type */
	struct future *f; /* its frame */
	struct wait *w;   /* to be filled; kind is set, object is v.addr */
	/*
	 * Set by rows for resources: does the resource hold this task's waker (d->waker), so that
	 * it is what the future waits for?
	 */
	bool registered;
	/* The same: nobody's waker is in it. False where that is not known. */
	bool vacant;
};

/* The leaves of no runtime. */
extern const struct leaf_row leaf_core_rows[];

/* Fills f->wait when v is a leaf that a row knows. */
bool leaf_decode(struct decoder *d, struct value v, struct future *f);
bool leaf_is_known(const struct type *t);
/* Is it a resource that some row knows? */
bool leaf_is_resource(const struct type *t);
/* Whose waker a resource holds. */
enum resource_waker {
	WAKER_UNKNOWN, /* another one's, or it cannot be told */
	WAKER_NONE,
	WAKER_OURS, /* d->waker */
};
/* Fills f->wait from the resource v when a row knows it. */
enum resource_waker leaf_decode_resource(struct decoder *d, struct value v, struct future *f);
/* Is decoding it evidence that the place holds one, as a handle of an existing task is? */
bool leaf_proves_itself(const struct type *t);

/* ---- for decode functions ---- */

/* The place that a path leads to; expr is a constant of the program, see inspector_path(). */
struct error *leaf_place(const struct leaf *l, struct value from, const char *expr,
                         struct value *ret, bool *found) MUST_CHECK;
/* The number there; ERR_CORRUPT when the path leads nowhere. */
struct error *leaf_uint(const struct leaf *l, struct value from, const char *expr, uint64_t *ret)
	MUST_CHECK;
/* The same for numbers that some versions do not have, or that lie behind a None. */
struct error *leaf_optional_uint(const struct leaf *l, struct value from, const char *expr,
                                 uint64_t *ret, bool *found) MUST_CHECK;

/* Does a value of that type have such a place? */
bool leaf_has_path(const struct leaf *l, const struct type *t, const char *expr);
/* Follows pointers and std's wrappers from v to a value of that type (path without generics). */
struct error *leaf_strip_to(const struct leaf *l, struct value v, const char *type,
                            struct value *ret, bool *found) MUST_CHECK;

/* Facts of the JSON object; a key that is there already is overwritten by nobody. */
void wait_int(const struct leaf *l, const char *key, int64_t number);
void wait_bool(const struct leaf *l, const char *key, bool yes);
void wait_string(const struct leaf *l, const char *key, const char *s);
void wait_list(const struct leaf *l, const char *key, const char *const *list, size_t n);
/* The line for people, of words that are clean, up to a NULL: for leaves that come by the million.
 */
void wait_words(const struct leaf *l, ...) __attribute__((sentinel));
/* The line for people. */
void wait_phrase(const struct leaf *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
