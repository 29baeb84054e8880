/*
 * The wrappers of std that a path looks through. The path engine knows nothing else about std. A
 * struct with a single member that has a size needs no row: the path engine takes that member by
 * itself.
 */
#ifndef DWARF_VALUES_UNWRAP_NEWTYPE_H
#define DWARF_VALUES_UNWRAP_NEWTYPE_H

#include "dwarf/types/type.h"

/* The member, or the variant of an enum, inside the wrapper; both NULL when t is not a wrapper. */
struct unwrapped_newtype {
	const struct member *member;
	const struct variant *variant;
};
struct unwrapped_newtype unwrap_newtype(const struct type *t);

#endif
