/*
 * The alternate debug file of a module (.gnu_debugaltlink, what dwz puts names and DIEs into that
 * several files share). libdw would look for it by itself, wait for whatever lies there, and
 * believe it.
 */
#ifndef DWARF_MODULE_ALTERNATE_H
#define DWARF_MODULE_ALTERNATE_H

#include "dwarf/module/debuginfo.h"

/*
 * Finds it by debugger/target/debug_file.h and gives it to dm->dwarf, or in its place one in which
 * there is nothing. For a module whose DWARF was just opened.
 */
void alternate_open(struct dwarf_module *dm);
/* Nothing where none was opened. */
void alternate_close(struct dwarf_module *dm);

#endif
