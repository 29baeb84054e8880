/*
 * Prints values as a derived Debug does with `{:?}`, on one line and bounded: "..." replaces what
 * is left out. Target memory is not trusted: unreadable memory is printed as "<unreadable>", bytes
 * that are not a value of their type as "<invalid>", and the rest is still printed. A type without
 * a text (coroutines, closures, unions) is printed as its short name in braces: "{async fn
 * app::leaf}".
 *
 * Cells and locks are printed with their content, even where Rust's Debug would not access it. The
 * text says when they are locked or mutably borrowed.
 */
#ifndef DWARF_VALUES_SHOW_H
#define DWARF_VALUES_SHOW_H

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/names/secrets.h"
#include "dwarf/values/value.h"

struct show_row;

/* A cache of paths into types, independent of memory. Zero it; free it with show_free(). */
struct show_cache {
	struct map paths;
	struct arena arena;
	VEC(const struct show_row *) rows; /* tables of show_register() */
	struct map plans;                  /* type -> how it is printed; see show_std.c */
	struct map counts;                 /* of show_count_put(), in counts_epoch */
	uint64_t counts_epoch;
	void *context; /* for functions of rows: of the layer above; NULL: none */
};
void show_free(struct show_cache *cache);

enum {
	SHOW_DEPTH = 8,     /* nesting of values; pointers do not count */
	SHOW_ELEMENTS = 32, /* elements of one list, map or array */
	SHOW_STRING = 256,  /* bytes of one string */
	SHOW_BYTES = 1024,  /* bytes of the whole text */
	SHOW_VALUES = 1024, /* values that are read for one text */
};

#define REDACTED "<redacted>"

/*
 * Values that are replaced by REDACTED: those of members, of map entries and of second parts of
 * pairs, whose name or key is secret.
 */
struct redaction {
	const struct secrets *secrets; /* NULL: nothing is redacted */
	bool done;                     /* a value was redacted */
};

/*
 * Returns the text of v, sanitised, allocated in a. Reads target memory as needed; never fails.
 * redaction may be NULL: nothing is redacted.
 */
const char *show_value(struct target *t, struct debuginfo *di, struct show_cache *cache,
                       struct arena *a, struct value v, struct redaction *redaction);
/*
 * Returns the text of a value of at most 8 bytes that is not in memory: a scalar or a reference.
 * NULL when the type is neither.
 */
const char *show_word(struct target *t, struct debuginfo *di, struct show_cache *cache,
                      struct arena *a, const struct type *type, uint64_t word,
                      struct redaction *redaction);

/*
 * Makes the queries about a module, besides those about types, that show_value() may make later:
 * their answers are then in its records, for a layout file.
 */
void show_learn(struct dwarf_module *dm);

/*
 * A step of Rust's auto-deref: the place behind a reference, raw pointer, Box, Rc, Arc, Pin, lock
 * guard or trait object. *found is false when v is none of these, or null.
 */
struct error *show_deref(struct target *t, struct show_cache *cache, struct value v,
                         struct value *ret, bool *found) MUST_CHECK;
/*
 * The element at index of an array, slice, Vec or VecDeque. ERR_USAGE when index is too large,
 * ERR_LAYOUT when v is none of these.
 */
struct error *show_index(struct target *t, struct show_cache *cache, struct value v, uint64_t index,
                         struct value *ret) MUST_CHECK;

/* The number of elements of such a value. ERR_LAYOUT when v is none of these. */
struct error *show_length(struct target *t, struct show_cache *cache, struct value v, uint64_t *ret)
	MUST_CHECK;

#endif
