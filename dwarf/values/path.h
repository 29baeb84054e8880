/*
 * Paths: textual descriptions of where another crate's types keep a value. A path is resolved once
 * against the target's types into a plan of offsets, dereferences and variant checks. The plan is
 * evaluated many times.
 *
 *     path = alternative { "|" alternative }    the first one whose every step exists wins
 *     alternative = step { "." step }           "" is the place itself
 *     step = member | Variant | digit           0 means DWARF's __0
 *
 * A wide pointer to a struct with an unsized tail (types/wide.h) is followed like any other; what
 * its tail is, the pointer says when it is read.
 *
 * A step is searched in the current type, then behind pointers, std's wrappers (unwrap_newtype.h),
 * and structs with a single member that has a size.
 */
#ifndef DWARF_VALUES_PATH_H
#define DWARF_VALUES_PATH_H

#include "dwarf/values/value.h"

struct path;

/*
 * Resolves expr, starting at the type from. ERR_LAYOUT lists every alternative and why it failed.
 * The path is allocated in a; expr must outlive it.
 */
struct error *path_resolve(struct arena *a, const struct type *from, const char *expr,
                           const struct path **ret) MUST_CHECK;
/*
 * Finds the place that p leads to from a value. *found is false when a null pointer or another
 * variant is on the way. Fails with ERR_FAULT, and with ERR_CORRUPT for an impossible discriminant.
 */
struct error *path_eval(struct target *t, const struct path *p, struct value from,
                        struct value *ret, bool *found) MUST_CHECK;
/* path_eval(), then value_uint() of the place. */
struct error *path_uint(struct target *t, const struct path *p, struct value from, uint64_t *ret,
                        bool *found) MUST_CHECK;

/* The alternative that matched, for display; in a. */
const char *path_matched(const struct path *p);
/* The plan for display: "+16 * +24 ?Some +0"; in a. */
const char *path_plan(struct arena *a, const struct path *p);
/* The type at the end of the path: of a tail, its type without the length or the object. */
const struct type *path_type(const struct path *p);
/*
 * The offset of the first pointer that the path follows, if only offsets precede it: equal pointers
 * then lead to equal places. False otherwise.
 */
bool path_first_pointer(const struct path *p, uint64_t *ret);
/* The constant offset of a path without pointers and variants; false for other paths. */
bool path_offset(const struct path *p, uint64_t *ret);
/* path_offset() of a path that has variants: where it leads if these are the active ones. */
bool path_offset_in_variants(const struct path *p, uint64_t *ret);
/*
 * Offsets of a path that follows n - 1 pointers, each to what one address tells: n offsets, each
 * but the last that of a pointer. False for other paths.
 */
bool path_offsets(const struct path *p, size_t n, uint64_t *ret);

#endif
