/*
 * Leaf futures: the futures at the ends of the tree, which wait for a resource. Each leaf_*.c of a
 * runtime covers one family: it has the member paths that it reads, a decode function for each
 * leaf, and a table of rows, which the runtime registers (leaves of struct runtime).
 *
 * To add a leaf, write a decode function that fills the wait, and a row for it. To support a
 * version that moved a member, add an alternative to the path.
 */
#ifndef RUNTIMES_FUTURE_LEAF_H
#define RUNTIMES_FUTURE_LEAF_H

#include "runtimes/common/runtime.h"
#include "runtimes/future/future.h"

/* A leaf that is being decoded. */
struct leaf {
	struct decoder *d;
	struct value v;   /* of the row's type */
	struct future *f; /* its frame */
	struct wait *w;   /* to be filled; kind is set, object is v.addr */
	/*
	 * Set by rows for resources whose waker is not read: only the owner of this one polls it,
	 * and is waiting for it now.
	 */
	bool in_use;
	bool vacant; /* what is waited for contains no waker. False if that is unknown */
	/*
	 * For the text of a resource inside another one: wait_phrase() stores the marked text here,
	 * in c->words. NULL: nobody needs it.
	 */
	const char **marked;
};

/* The leaves of core. */
extern const struct leaf_row leaf_core_rows[];
/* Leaves that never complete, or that wait for nothing. */
leaf_fn leaf_decode_pending, leaf_decode_ready;

/* Fills f->wait and returns true if the tables have a leaf row for v's type. */
bool leaf_decode(struct decoder *d, struct value v, struct future *f);
/* Fills f->properties if v's type, which has a row of properties, can be read. */
void leaf_decode_properties(struct decoder *d, struct value v, struct future *f);
bool leaf_is_known(const struct type *t);
/* Like leaf_is_known(), by the name of the type in DWARF. */
bool leaf_is_known_name(const struct debuginfo *di, const char *name);
/* Whether the tables have a resource row for t. */
bool leaf_is_resource(const struct type *t);
/* Whether such a resource owns tasks, as a set of tasks does. */
bool leaf_owns_tasks(const struct type *t);
/* The owner of the waker that a resource holds. */
enum resource_waker {
	WAKER_UNKNOWN, /* another task's, or it is not known whose */
	WAKER_NONE,
	WAKER_OURS, /* d->waker */
};
/* Fills f->wait from the resource v if the tables have a row for its type. */
enum resource_waker leaf_decode_resource(struct decoder *d, struct value v, struct future *f);
/*
 * Whether a successful decode is evidence that the memory really holds such a value: for example, a
 * JoinHandle is checked against the list of existing tasks.
 */
bool leaf_proves_itself(const struct type *t);

/* ---- for decode functions ---- */

/* The place at the end of a path. expr must be a string constant: see inspector_path(). */
struct error *leaf_place(const struct leaf *l, struct value from, const char *expr,
                         struct value *ret, bool *found) MUST_CHECK;
/* The number at the end of a path; ERR_CORRUPT if the path ends at an inactive variant. */
struct error *leaf_uint(const struct leaf *l, struct value from, const char *expr, uint64_t *ret)
	MUST_CHECK;
/* Reads a number that some versions lack, or that may be behind a None. */
struct error *leaf_optional_uint(const struct leaf *l, struct value from, const char *expr,
                                 uint64_t *ret, bool *found) MUST_CHECK;

/* Fills w->armed and vacant from the waker at that place: an Option<Waker>, an AtomicWaker. */
struct error *leaf_arm(struct leaf *l, struct value place) MUST_CHECK;
/*
 * Like leaf_arm(), at the end of a path. Nothing is filled in where the type has no such path; no
 * waker is stored where the path ends at an inactive variant.
 */
struct error *leaf_arm_at(struct leaf *l, struct value from, const char *expr) MUST_CHECK;
/* Fills w->armed and vacant where it is known that no waker is stored. */
void leaf_arm_none(struct leaf *l);

/* Whether the path exists in that type. */
bool leaf_has_path(const struct leaf *l, const struct type *t, const char *expr);
/* Follows pointers and std's wrappers from v to a value of that type (path without generics). */
struct error *leaf_strip_to(const struct leaf *l, struct value v, const char *type,
                            struct value *ret, bool *found) MUST_CHECK;

/* ---- leaf_inside.c: resources inside other resources ---- */

/* The object of a trait object, where the type of its vtable is exact. */
bool leaf_dyn(struct collector *c, struct value v, struct value *ret);
/* The first resource in v: in itself, in a Box, behind a reference or a trait object. */
bool leaf_find_inside(const struct leaf *l, struct value v, struct value *ret);
/*
 * Decodes a resource as l is decoded, into a wait of its own: ret->w. *marked: its readable line,
 * marked, as a part of l's; "": it has none.
 */
struct error *leaf_decode_inside(const struct leaf *l, struct value inner, struct leaf *ret,
                                 const char **marked) MUST_CHECK;
/* Adds details of another wait, those with keys of the list (ends with NULL); NULL: all. */
void leaf_copy_details(const struct leaf *l, const struct wait *from, const char *const *keys);

/* Add a key to the JSON object of the wait. Do not add a key twice. */
void wait_int(const struct leaf *l, const char *key, int64_t number);
void wait_bool(const struct leaf *l, const char *key, bool yes);
void wait_string(const struct leaf *l, const char *key, const char *s);
void wait_list(const struct leaf *l, const char *key, const char *const *list, size_t n);
/*
 * Sets the readable line to the words up to a NULL, which may be marked. Fast: for common leaves.
 */
void wait_words(const struct leaf *l, ...) __attribute__((sentinel));
/* A part of the readable line, marked; in c->words. */
const char *leaf_text(const struct leaf *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Sets the readable line: a marked text (debugger/base/marked.h). */
void wait_phrase(const struct leaf *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
