/* Names of types that a line has no room for. */
#ifndef DWARF_NAMES_FOLD_H
#define DWARF_NAMES_FOLD_H

#include "debugger/base/arena.h"

enum { FOLD_LENGTH = 200 };

/*
 * The name, where it is longer than FOLD_LENGTH bytes with its innermost type parameters as <..>,
 * then those around them, until it is not: "Then<Map<..>, Ready<..>>". In arena a, or name itself.
 * Brackets that do not match are left alone.
 */
const char *name_fold(struct arena *a, const char *name);

#endif
