/*
 * The layout contract: what we must find in another crate's types, as a table of paths. Each
 * row is resolved once against the target's DWARF; `info layout` shows what became of it.
 *
 * To support a new version of a runtime, add an alternative to the row that reports what it
 * tried. Never ask for a version.
 */
#ifndef RUNTIMES_COMMON_BINDINGS_H
#define RUNTIMES_COMMON_BINDINGS_H

#include "dwarf/lookup/lookup.h"
#include "dwarf/values/path.h"
#include "runtimes/model/model.h"

struct binding_row {
	const char *key;  /* "shard.head" */
	const char *root; /* "type:NAME", "given" (bindings_resolve's argument), an earlier row's
	                     key, or "KEY[]": the elements of its slice */
	const char *path; /* see dwarf/values/path.h */
	bool optional;    /* absent in some versions: then a feature is absent, nothing is broken */
};

struct bindings_slot {
	const struct path *path; /* NULL: absent or broken */
	const struct type *root;
	enum row_status status;
	const char *tried; /* why there is no path */
	bool fixed;        /* the path is but an offset */
	uint64_t offset;
};

struct bindings {
	const struct binding_row *rows;
	struct bindings_slot *slots;
	size_t n;
};

/* Resolves all rows in dm; never fails: a row that does not fit says so in its slot. */
void bindings_resolve(struct arena *a, struct dwarf_module *dm, const struct type *given,
                      const struct binding_row *rows, size_t n, struct bindings *ret);

bool bindings_has(const struct bindings *l, size_t row);
/* The type at the end of the row's path, NULL when it has none. */
const struct type *bindings_type(const struct bindings *l, size_t row);

/*
 * The place a row leads to from a value of its root's type. A row that did not resolve, a null
 * pointer or another variant on the way: *found false.
 */
struct error *bindings_eval(struct target *t, const struct bindings *l, size_t row,
                            struct value from, struct value *ret, bool *found) MUST_CHECK;
/* The number at that place. */
struct error *bindings_uint(struct target *t, const struct bindings *l, size_t row,
                            struct value from, uint64_t *ret, bool *found) MUST_CHECK;
/* The 8 bytes at that place: for pointers and Option<NonNull>, where 0 is None. */
struct error *bindings_word(struct target *t, const struct bindings *l, size_t row,
                            struct value from, uint64_t *ret, bool *found) MUST_CHECK;
/* The elements of the slice at that place. */
struct error *bindings_slice(struct target *t, const struct bindings *l, size_t row,
                             struct value from, struct slice *ret, bool *found) MUST_CHECK;

/* The rows as `info layout` prints them, appended at out[0..n). */
void bindings_describe(const struct bindings *l, struct arena *a, const char *module,
                       struct layout_info *out);

#endif
