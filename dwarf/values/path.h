/*
 * Paths: what we know about another crate's data, as text. Resolved once against the target's
 * types into a plan of offsets, dereferences and variant checks; evaluated many times.
 *
 *     path = alternative { "|" alternative }    the first one whose every step exists wins
 *     alternative = step { "." step }           "" is the place itself
 *     step = member | Variant | digit           0 means DWARF's __0
 *
 * A step is looked for in the type at hand, then behind pointers, std's wrappers (peel.h), and
 * structs with a single member that has a size.
 */
#ifndef DWARF_VALUES_PATH_H
#define DWARF_VALUES_PATH_H

#include "dwarf/values/value.h"

struct path;

/*
 * Resolves expr from type. ERR_LAYOUT lists every alternative tried and why it failed. The
 * path lives in a; expr must outlive it.
 */
struct error *path_resolve(struct arena *a, const struct type *from, const char *expr,
                           const struct path **ret) MUST_CHECK;
/*
 * The place that p leads to from v. *found false: a null pointer or another variant on the
 * way. Fails with ERR_FAULT, and ERR_CORRUPT for an impossible discriminant.
 */
struct error *path_eval(struct target *t, const struct path *p, struct value from,
                        struct value *ret, bool *found) MUST_CHECK;
/* path_eval() and value_uint() of the place. */
struct error *path_uint(struct target *t, const struct path *p, struct value from, uint64_t *ret,
                        bool *found) MUST_CHECK;

/* The alternative that matched, for people; in a. */
const char *path_matched(const struct path *p);
/* Its plan for people: "+16 * +24 ?Some +0"; in a. */
const char *path_plan(struct arena *a, const struct path *p);
/* The type at its end. */
const struct type *path_type(const struct path *p);
/*
 * Offset of the pointer that the path goes through first, when nothing but offsets comes before it:
 * equal pointers lead to equal places.
 */
bool path_first_pointer(const struct path *p, uint64_t *ret);
/* Offset from the start when the path has no pointer and no variant on its way. */
bool path_offset(const struct path *p, uint64_t *ret);

#endif
