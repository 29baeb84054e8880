/*
 * Source files of a unit, read from the header of its line program alone. libdw would decode the
 * rows too, which costs a hundred times more.
 */
#ifndef DWARF_MODULE_LINE_H
#define DWARF_MODULE_LINE_H

#include <elfutils/libdw.h>

#include "dwarf/module/debuginfo.h"

/* Full path of entry index of the unit's file table (DW_AT_decl_file); NULL when absent. */
const char *line_file(struct dwarf_module *dm, struct unit *u, unsigned index);
/*
 * The file of the declaration of a DIE, or of that of its origin; NULL: unknown. dwarf_decl_file()
 * decodes the whole line table of the unit for it.
 */
const char *line_file_of(struct dwarf_module *dm, Dwarf_Die *die);
/* Number of entries of the unit's file table, absent ones included. */
size_t line_nfiles(struct dwarf_module *dm, struct unit *u);

/*
 * Calls visit with the full path of each entry of the unit's file table in whose directory or name
 * part occurs. The table is not kept.
 */
typedef void line_file_fn(const char *full, const struct unit *u, void *arg);
void line_each_file(struct dwarf_module *dm, const struct unit *u, const char *part,
                    line_file_fn *visit, void *arg);

/* Whether a full path is the one that was typed, whose last component is also that of the path. */
typedef bool line_file_is_fn(const char *full, const char *typed);
/* Whether the unit's file table has a file for which it is so. The table is not kept. */
bool line_has_file(struct dwarf_module *dm, const struct unit *u, const char *typed,
                   line_file_is_fn *is);

#endif
