/* Types whose values are one number. */
#ifndef DWARF_TYPES_SCALAR_H
#define DWARF_TYPES_SCALAR_H

#include "dwarf/types/type.h"

/* Whether the type is a bool, a char, a number or a raw pointer. */
bool type_is_scalar(const struct type *t);

#endif
