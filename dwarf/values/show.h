/*
 * Values as text, as a derived Debug would print them with `{:?}`, on one line and bounded: where
 * something is left out stands "...". Memory is hostile: what cannot be read is "<unreadable>",
 * bytes that are no value of their type are "<invalid>", and the rest is shown all the same. What
 * has a type but no text (coroutines, closures, unions) is its short name in braces: "{async fn
 * app::leaf}".
 *
 * Cells and locks that Rust would not look into are shown with what they hold, and say when
 * they are locked or mutably borrowed.
 */
#ifndef DWARF_VALUES_SHOW_H
#define DWARF_VALUES_SHOW_H

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/names/secrets.h"
#include "dwarf/values/value.h"

struct show_row;

/* What does not depend on memory: paths into types. Zero it; free it with show_free(). */
struct show_cache {
	struct map paths;
	struct arena arena;
	VEC(const struct show_row *) rows; /* tables of show_register() */
};
void show_free(struct show_cache *cache);

enum {
	SHOW_DEPTH = 8,     /* values within each other; pointers do not count */
	SHOW_ELEMENTS = 32, /* of one list, map or array */
	SHOW_STRING = 256,  /* bytes of one string */
	SHOW_BYTES = 1024,  /* of the whole text */
	SHOW_VALUES = 1024, /* that are looked at for one text */
};

#define REDACTED "<redacted>"

/*
 * REDACTED stands in place of the values of members, entries of maps and second parts of pairs
 * whose names or keys are secret.
 */
struct redaction {
	const struct secrets *secrets; /* NULL: all is shown */
	bool done;                     /* something was secret */
};

/*
 * The text of v, sanitised, in a. Reads what it needs; never fails. redaction may be NULL: all is
 * shown.
 */
const char *show_value(struct target *t, struct debuginfo *di, struct show_cache *cache,
                       struct arena *a, struct value v, struct redaction *redaction);
/*
 * The text of a value of at most 8 bytes that is not in memory: a scalar, or a reference. NULL
 * when the type is neither.
 */
const char *show_word(struct target *t, struct debuginfo *di, struct show_cache *cache,
                      struct arena *a, const struct type *type, uint64_t word,
                      struct redaction *redaction);

/*
 * What Rust's auto-deref goes on with: the place behind a reference, raw pointer, Box, Rc, Arc,
 * Pin, a guard of a lock, a trait object. *found false: v is none of these, or null.
 */
struct error *show_deref(struct target *t, struct debuginfo *di, struct show_cache *cache,
                         struct value v, struct value *ret, bool *found) MUST_CHECK;
/*
 * Element index of an array, slice, Vec or VecDeque; ERR_USAGE when there are fewer,
 * ERR_LAYOUT when v is none of these.
 */
struct error *show_index(struct target *t, struct show_cache *cache, struct value v, uint64_t index,
                         struct value *ret) MUST_CHECK;

#endif
