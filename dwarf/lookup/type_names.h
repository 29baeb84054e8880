/*
 * An index of types by their qualified names, for who asks for many: a large program has a million
 * types, and a search through their names costs a millisecond for each unit. It grows as it is
 * asked, unit by unit in the order of the search that it stands for, and scans no unit that this
 * would not have scanned.
 */
#ifndef DWARF_LOOKUP_TYPE_NAMES_H
#define DWARF_LOOKUP_TYPE_NAMES_H

#include "dwarf/module/debuginfo.h"

/* Is it a DIE of a type that has a name of its own? Those alone are in the index. */
bool type_names_tag(unsigned tag);

/*
 * The DIE of the first complete type of that name, in units of the crate that it begins with
 * (crate_len bytes) before others; 0 when no unit has one. It goes by a hash of the name, which the
 * caller compares.
 */
uint64_t type_names_find(struct dwarf_module *dm, const char *name, size_t crate_len);

/* Frees the index; it may be made anew. */
void type_names_forget(struct dwarf_module *dm);

#endif
