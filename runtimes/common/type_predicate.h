/* Questions about types that follow what a type is made of, each asked once of each type. */
#ifndef RUNTIMES_COMMON_TYPE_PREDICATE_H
#define RUNTIMES_COMMON_TYPE_PREDICATE_H

#include "debugger/base/vec.h"
#include "dwarf/types/type.h"

/* asker: of whoever asks; depth: how many types led to t. */
typedef bool ask_fn(void *asker, const struct type *t, int depth);

/*
 * One question in progress, {0} at first. A type that leads to itself is met again while it is
 * asked about: it adds nothing then. What was denied meanwhile is only sure where the type that was
 * asked first is denied too.
 */
struct type_predicate {
	VEC(unsigned char *) denied; /* as yet; enum answer */
	bool circle;                 /* a type that is being asked about was met */
	bool cut;                    /* not all was followed: nothing that is denied is sure */
};

/* What *known (enum answer) says of t; where that is nothing, ask says it, and it is kept. */
bool type_predicate_once(struct type_predicate *a, unsigned char *known, ask_fn *ask, void *asker,
                         const struct type *t, int depth);
/* Ends the question that the first type asked about answered so; returns that answer. */
bool type_predicate_end(struct type_predicate *a, bool is);

/* Does it hold for a member of t, or of one of its variants, that has a size? */
bool type_predicate_any_part(const struct type *t, ask_fn *ask, void *asker, int depth);

#endif
