/*
 * Leaf futures: what a task waits for in the end. Each leaf_*.c holds one family: a table of the
 * paths it reads, a decode function for each leaf, and a table of rows that leaf.c searches.
 *
 * To add a leaf, write a decode function that fills the wait, and a row for it. To support a
 * version that moved a member, add an alternative to the path.
 */
#ifndef RUNTIMES_FUTURE_LEAF_H
#define RUNTIMES_FUTURE_LEAF_H

#include "runtimes/common/bindings.h"
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

typedef struct error *leaf_fn(struct leaf *l);

struct leaf_row {
	const char *type; /* path without generics */
	const char *kind; /* JSON "kind" */
	leaf_fn *decode;
	bool proves; /* decoding it succeeds on no stray bytes: it meets an object that exists */
	/*
	 * The type is no future but a resource (a channel's end, a socket) that the future around
	 * it polls: poll_fn's closure captured it, a hand-written future or a stream holds it.
	 */
	bool resource;
	bool directed; /* a resource that is read or written, as the future around it says */
};

/* Ended by a row without type. */
extern const struct leaf_row leaf_core_rows[], leaf_time_rows[], leaf_task_rows[], leaf_sync_rows[],
	leaf_io_rows[], leaf_process_rows[], leaf_stream_rows[];
/* The paths they read, for `info layout`; ended by a row without key. Roots are "type:...". */
extern const struct layout_row leaf_core_layout[], leaf_time_layout[], leaf_task_layout[],
	leaf_sync_layout[], leaf_io_layout[], leaf_process_layout[], leaf_stream_layout[];

/* Fills f->wait when v is a leaf that a row knows. */
bool leaf_decode(struct decoder *d, struct value v, struct future *f);
bool leaf_is_known(const struct type *t);
/* The row for a type, or for a resource, NULL when there is none: for records.c, which keeps it. */
const struct leaf_row *leaf_find_row(const struct type *t, bool resource);
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

/*
 * Where tokio keeps whom each signal wakes, if t is the future of one: which signal it is, is found
 * there. lookup_static() says the same of the type.
 */
bool signal_globals(const struct type *t, struct value *ret);

/* Frees what leaves keep in c. */
void queues_free(struct collector *c);

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

/*
 * The innermost future around the leaf whose type's name starts with path
 * ("tokio::sync::mutex::"), NULL when none does.
 */
const struct ancestor *leaf_above(const struct leaf *l, const char *path);

/* Facts of the JSON object; a key that is there already is overwritten by nobody. */
void wait_int(const struct leaf *l, const char *key, int64_t number);
void wait_bool(const struct leaf *l, const char *key, bool yes);
void wait_string(const struct leaf *l, const char *key, const char *s);
void wait_list(const struct leaf *l, const char *key, const char *const *list, size_t n);
/*
 * leaf_io.c: which file descriptor, and what the kernel says of it. What to append to the line for
 * people: ", fd 9, 127.0.0.1:80 -> 127.0.0.1:5123".
 */
const char *wait_descriptor(const struct leaf *l, int fd);
/* The line for people, of words that are clean, up to a NULL: for leaves that come by the million.
 */
void wait_words(const struct leaf *l, ...) __attribute__((sentinel));
/* The line for people. */
void wait_phrase(const struct leaf *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
