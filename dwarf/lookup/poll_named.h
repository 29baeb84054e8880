/*
 * The poll function of an async fn by its symbol's name, in a unit of megabytes that nobody has
 * scanned: for who wants to know one thing of it.
 */
#ifndef DWARF_LOOKUP_POLL_NAMED_H
#define DWARF_LOOKUP_POLL_NAMED_H

#include "dwarf/module/symtab.h"
#include "dwarf/types/type.h"

/*
 * The DIE of the poll function of an async fn that is no method, or of another instance of it. It
 * is found by the bytes of its address, and by the symbol's name, which a DIE with that address
 * has to say. 0: none is found so, or the unit is scanned, or is worth a scan, for it was looked
 * through before.
 */
uint64_t poll_named_die(const struct type *coroutine);

/*
 * The same in one unit: the DIE of the function at a place of that module whose own name is
 * "{async_fn#0}", with or without generics; 0 none.
 */
uint64_t poll_named_find(struct dwarf_module *dm, const struct poll_place *at, const char *own);

#endif
