/*
 * The wrappers of std that a path looks through: the only knowledge of std here. A struct with
 * one member that has a size needs no row: the path engine takes that member by itself.
 */
#ifndef DWARF_VALUES_PEEL_H
#define DWARF_VALUES_PEEL_H

#include "dwarf/types/type.h"

/* The member, or the variant of an enum, to go on with; both NULL when t is no wrapper. */
struct peeled {
	const struct member *member;
	const struct variant *variant;
};
struct peeled peel(const struct type *t);

#endif
