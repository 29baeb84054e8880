/* Abbreviates names of types that are too long for a line. */
#ifndef DWARF_NAMES_FOLD_H
#define DWARF_NAMES_FOLD_H

#include "debugger/base/arena.h"

enum { FOLD_LENGTH = 200 };

/*
 * Replaces type parameters of a name longer than FOLD_LENGTH bytes by <..>: the innermost first,
 * then those around them, until the name fits: "Then<Map<..>, Ready<..>>". Returns text in arena a,
 * or name itself. A name with unbalanced brackets is returned unchanged.
 */
const char *name_fold(struct arena *a, const char *name);

#endif
