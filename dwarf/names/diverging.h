/* Functions of std and core that never return, by their names. */
#ifndef DWARF_NAMES_DIVERGING_H
#define DWARF_NAMES_DIVERGING_H

#include <stdbool.h>

/*
 * Whether a call of it is the last instruction of its way, behind which the code of another place
 * follows: overflow checks, `unwrap`, the end of cleanup. A function that is missing here costs a
 * doubt, no truth.
 */
bool diverging_is(const char *name);

#endif
