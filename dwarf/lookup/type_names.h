/*
 * An index of types by their qualified names, for callers that look up many. A large program has a
 * million types, and a linear search of names costs a millisecond for each unit. The index grows on
 * demand, unit by unit, in the order of the linear search that it replaces, and scans no unit that
 * this search would not scan.
 */
#ifndef DWARF_LOOKUP_TYPE_NAMES_H
#define DWARF_LOOKUP_TYPE_NAMES_H

#include "dwarf/module/debuginfo.h"

/* Has a type of this tag its own name? The index contains only those. */
bool type_names_tag(unsigned tag);

/*
 * The DIE of the first complete type of that name; 0 when no unit has one. Units of the crate that
 * the name begins with (crate_len bytes) come before others. The lookup compares only a hash of the
 * name; the caller must compare the name itself.
 */
uint64_t type_names_find(struct dwarf_module *dm, const char *name, size_t crate_len);

/* Frees the index; the next lookup builds it again. */
void type_names_forget(struct dwarf_module *dm);

#endif
