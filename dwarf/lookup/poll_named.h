/*
 * Finds the poll function of an async fn by the name of its symbol, in a unit of megabytes that is
 * not scanned yet. For callers that need a single function of the unit.
 */
#ifndef DWARF_LOOKUP_POLL_NAMED_H
#define DWARF_LOOKUP_POLL_NAMED_H

#include "dwarf/module/symtab.h"
#include "dwarf/types/type.h"

/*
 * The DIE of the poll function of an async fn that is not a method, or of another instance of it.
 * The unit is searched for the bytes of the function's address; a DIE with that address must also
 * have the symbol's name. 0: none is found this way, or the unit is scanned already, or it was
 * searched before, so that a scan is worth its cost.
 */
uint64_t poll_named_die(const struct type *coroutine);

/*
 * Searches one unit: the DIE of the function at a place of that module whose own name is
 * "{async_fn#0}", with or without generics; 0: none.
 */
uint64_t poll_named_find(struct dwarf_module *dm, const struct poll_place *at, const char *own);

#endif
