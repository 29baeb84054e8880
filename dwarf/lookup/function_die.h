/* Visits the DIEs of one function. */
#ifndef DWARF_LOOKUP_FUNCTION_DIE_H
#define DWARF_LOOKUP_FUNCTION_DIE_H

#include "dwarf/types/die_attrs.h"

/* Visits the DIE of a function, before any of its attributes is read; true: the search is over. */
typedef bool function_fn(struct dwarf_module *dm, struct die *function, void *arg);
/*
 * Calls look with a function's DIE, its abstract origin and its declaration, until it returns true,
 * and returns whether it did.
 */
bool function_each_origin(struct dwarf_module *dm, uint64_t die, function_fn *look, void *arg);

#endif
