/*
 * The bindings to another crate's types: a table of paths that asyncdbg reads. Each row is resolved
 * once against the target's DWARF; `info layout` prints the result.
 *
 * To support a new version of a runtime, add an alternative to the row that `info layout` reports
 * as broken. Never test for a version.
 */
#ifndef RUNTIMES_COMMON_BINDINGS_H
#define RUNTIMES_COMMON_BINDINGS_H

#include "dwarf/lookup/lookup.h"
#include "dwarf/values/path.h"
#include "runtimes/model/model.h"

struct binding_row {
	const char *key;  /* "shard.head" */
	const char *root; /* "type:NAME", "given" (bindings_resolve's argument), the key of an
	                     earlier row, or "KEY[]": the elements of that row's slice */
	const char *path; /* see dwarf/values/path.h */
	bool optional;    /* some versions lack it: the row is then absent, not broken */
};

struct bindings_slot {
	const struct path *path; /* NULL: absent or broken */
	const struct type *root;
	enum row_status status;
	const char *tried; /* why the path did not resolve */
	bool fixed;        /* the path is a constant offset */
	uint64_t offset;
};

struct bindings {
	const struct binding_row *rows;
	struct bindings_slot *slots;
	size_t n;
};

/* Resolves all rows in dm. Never fails: the slot of a row that does not resolve has the reason. */
void bindings_resolve(struct arena *a, struct dwarf_module *dm, const struct type *given,
                      const struct binding_row *rows, size_t n, struct bindings *ret);

bool bindings_has(const struct bindings *l, size_t row);
/* The type at the end of the row's path; NULL when the row has no path. */
const struct type *bindings_type(const struct bindings *l, size_t row);

/*
 * The place that a row's path leads to from a value of its root's type. *found is false when the
 * row did not resolve, or a null pointer or another variant is on the way.
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

/* Writes the rows to out[0..n), as `info layout` prints them. */
void bindings_describe(const struct bindings *l, struct arena *a, const char *module,
                       struct layout_info *out);

#endif
