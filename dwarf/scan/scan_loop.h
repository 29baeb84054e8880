/* Private to scan.c: one pass over the DIEs of a unit. */
#ifndef DWARF_SCAN_SCAN_LOOP_H
#define DWARF_SCAN_SCAN_LOOP_H

#include "dwarf/scan/scan_record.h"

/* Adds the notes of scan_unit(). A corrupt unit has those before the fault. */
void scan_loop_record(const struct dwarf_sections *s, struct unit *u,
                      const struct abbrev_table *abbrevs, struct notes *out);
/* Whether the unit has a DIE of that tag; stops at the first. */
bool scan_loop_has_tag(const struct dwarf_sections *s, struct unit *u,
                       const struct abbrev_table *abbrevs, unsigned tag);

#endif
