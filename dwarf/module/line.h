/*
 * Source files of a unit, read from the header of its line program alone. libdw would decode the
 * rows too, which costs a hundred times more.
 */
#ifndef DWARF_MODULE_LINE_H
#define DWARF_MODULE_LINE_H

#include "dwarf/module/debuginfo.h"

/* Full path of entry index of the unit's file table (DW_AT_decl_file); NULL when absent. */
const char *line_file(struct dwarf_module *dm, struct unit *u, unsigned index);
/* Number of entries of the unit's file table, absent ones included. */
size_t line_nfiles(struct dwarf_module *dm, struct unit *u);

#endif
