/*
 * Does a place look like a value of its type? For finding a future on a stack, where the
 * compiler keeps no record of its address: enums must hold a variant that exists, bools 0 or 1,
 * references and Arcs must lead somewhere.
 */
#ifndef RUNTIMES_PLAUSIBLE_H
#define RUNTIMES_PLAUSIBLE_H

#include "dwarf/value.h"

bool value_is_plausible(struct target *t, struct value v);

#endif
