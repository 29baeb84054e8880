/*
 * Qualified names as DWARF spells them: "a::b<c::D, fn(e) -> f>::g<h>". Only the nesting of
 * brackets matters here; for making names readable see demangle.h.
 */
#ifndef DWARF_QUALIFIED_H
#define DWARF_QUALIFIED_H

#include <stddef.h>

#include "debugger/base/arena.h"

/* Where the last component starts: "g<h>". Points into name. */
const char *qualified_last(const char *name);
/* Bytes of a component before its generics: 1 for "g<h>". */
size_t qualified_base_len(const char *component);
/* The first generic argument of the last component, "h"; NULL when it has none. In a. */
const char *qualified_first_generic(struct arena *a, const char *name);

#endif
