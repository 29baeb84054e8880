/* Whether the code of a DIE covers an address. */
#ifndef DWARF_MODULE_RANGES_H
#define DWARF_MODULE_RANGES_H

#include "dwarf/module/debuginfo.h"

/*
 * Tests the DIE's low_pc and high_pc, or its ranges (DWARF 4, 2.17). libdw would read the headers
 * of all units before this one, and the abbreviations of each. It is only used for the ranges of
 * DWARF 5.
 */
bool ranges_have(struct dwarf_module *dm, struct unit *u, uint64_t die, uint64_t pc);

#endif
