/*
 * The alternate debug file of a module (.gnu_debugaltlink), into which dwz moves names and DIEs
 * that several files share. libdw would search for it by itself, block on whatever file is there,
 * and trust it.
 */
#ifndef DWARF_MODULE_ALTERNATE_H
#define DWARF_MODULE_ALTERNATE_H

#include "dwarf/module/debuginfo.h"

/*
 * Finds the file through debugger/target/debug_file.h and passes it to dm->dwarf, or passes an
 * empty one instead. Call it right after the module's DWARF was opened.
 */
void alternate_open(struct dwarf_module *dm);
/* Closes the alternate file; does nothing if none was opened. */
void alternate_close(struct dwarf_module *dm);

#endif
