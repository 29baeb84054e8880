/*
 * Recursive predicates over types, such as "does a part of it hold a future?". The result is cached
 * for each type.
 */
#ifndef RUNTIMES_COMMON_TYPE_PREDICATE_H
#define RUNTIMES_COMMON_TYPE_PREDICATE_H

#include "debugger/base/vec.h"
#include "dwarf/types/type.h"

/*
 * A predicate. asker: the caller's context; depth: the number of types between the first one and t.
 */
typedef bool ask_fn(void *asker, const struct type *t, int depth);

/*
 * An evaluation in progress; starts as {0}. A recursive type that is reached again during its own
 * evaluation counts as "no" there. A "no" that depends on this is certain only if the result for
 * the first type is "no" too.
 */
struct type_predicate {
	VEC(unsigned char *) denied; /* provisional "no" results, of enum type_answer */
	bool cycle;                  /* a type was reached again during its own evaluation */
	bool cut;                    /* the recursion was cut off: no "no" is certain */
};

/*
 * Returns the cached result in *known (enum type_answer). If there is none, calls ask and caches
 * its result.
 */
bool type_predicate_once(struct type_predicate *a, unsigned char *known, ask_fn *ask, void *asker,
                         const struct type *t, int depth);
/* Ends the evaluation, whose result for the first type is `is`; returns `is`. */
bool type_predicate_end(struct type_predicate *a, bool is);

/* Does the predicate hold for a member of non-zero size of t, or of one of its variants? */
bool type_predicate_any_part(const struct type *t, ask_fn *ask, void *asker, int depth);

#endif
