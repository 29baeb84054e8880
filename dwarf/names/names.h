/* The part of names.c that demangle.c needs. All other users include demangle.h. */
#ifndef DWARF_NAMES_NAMES_H
#define DWARF_NAMES_NAMES_H

#include <stdbool.h>

#include "debugger/base/str.h"

/*
 * Writes name_without_generics() to out, which must be empty. *self_len is the length of the text
 * up to the end of a method's self type, 0 when the name does not show it ("a::T::f", unlike
 * "<a::T>::f"). False when full does not parse; out is then full.
 */
bool name_parse_plain(struct str *out, const char *full, size_t *self_len);

#endif
