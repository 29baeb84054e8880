/*
 * Qualified names as DWARF spells them: "a::b<c::D, fn(e) -> f>::g<h>". Only the nesting of
 * brackets matters here. For shortening names see demangle.h.
 */
#ifndef DWARF_NAMES_QUALIFIED_H
#define DWARF_NAMES_QUALIFIED_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/arena.h"

/* qualified_is() without the test of the first character. */
bool qualified_is_path(const char *name, const char *path);
/*
 * Is name that path, with or without generics? Called for each row of a table: most names differ in
 * the first character.
 */
static inline bool qualified_is(const char *name, const char *path)
{
	return *name == *path && qualified_is_path(name, path);
}
/* Start of the last component, in name: "g<h>". */
const char *qualified_last(const char *name);
/* Bytes of a component before its generics: 1 for "g<h>". */
size_t qualified_base_len(const char *component);
/* The first generic argument of the last component, "h"; NULL when it has none. Allocated in a. */
const char *qualified_first_generic(struct arena *a, const char *name);
/*
 * All generic arguments of the last component, "h": *n of them, each with the spaces around it
 * removed; 0 when it has none. Allocated in a.
 */
const char *const *qualified_generics(struct arena *a, const char *name, size_t *n);
/*
 * The path as it is written without generics: "a::b::g". "<A as B>::g" gives the part behind the
 * brackets: "g". Allocated in a.
 */
const char *qualified_plain(struct arena *a, const char *name);

#endif
