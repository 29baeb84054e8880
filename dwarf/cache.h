/*
 * The files that facts (facts.h) are kept in: one for each module in the cache, by its build-id,
 * and the layout file that the user names.
 */
#ifndef DWARF_CACHE_H
#define DWARF_CACHE_H

#include "dwarf/debuginfo.h"
#include "dwarf/facts.h"

/* Lives as long as the debuginfo that uses it. */
struct facts_options {
	const char *cache; /* directory of the cache; NULL: none is used */
};

/* The facts of a module: what its file in the cache says, or nothing yet. Never NULL. */
struct facts *cache_open(struct dwarf_module *dm);
/* Writes what is new to the cache and frees the facts. */
void cache_close(struct dwarf_module *dm);

#endif
