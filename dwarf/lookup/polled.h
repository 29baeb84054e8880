/* Which types a unit polls: the T of every poll(Pin<&mut T>, ...) that it describes. */
#ifndef DWARF_LOOKUP_POLLED_H
#define DWARF_LOOKUP_POLLED_H

#include "dwarf/module/debuginfo.h"

/*
 * Notes the poll functions of a unit in its module, once: polled and coroutine_polls. Scans the
 * unit, and those that its functions' types lie in.
 */
void polled_read(struct dwarf_module *dm, struct unit *u);

/* The same of the one function whose code begins at a link-time address. */
void polled_read_function(struct dwarf_module *dm, struct unit *u, uint64_t pc);

/*
 * The same of the functions that are inlined into it: their abstract ones may stand in any unit,
 * and those that poll nothing are told without a scan.
 */
void polled_read_inlined(struct dwarf_module *dm, struct unit *u, uint64_t pc);

/*
 * Can a type of that name be no future at all, by Rust's rules alone? A trait of core can be
 * implemented for a type of core, alloc or std only there, for a tuple, an array, a raw
 * pointer and a closure nowhere else.
 */
bool polled_never(const char *type_name);
/*
 * The same of what is behind a Box, a `&mut` or a Pin of one, which are futures when that is one:
 * an object of a trait of core, alloc or std is none, but of Future.
 */
bool polled_never_behind(const char *type_name);

#endif
