/* The part of names.c that demangle.c needs; for everyone else there is demangle.h. */
#ifndef DWARF_NAMES_NAMES_H
#define DWARF_NAMES_NAMES_H

#include <stdbool.h>

#include "debugger/base/str.h"

/*
 * Puts name_without_generics() into the empty out. *self_len is where in it the self type of
 * a method ends, 0 when the name does not say ("a::T::f", unlike "<a::T>::f"). False when full
 * does not parse; out is then full.
 */
bool name_parse_plain(struct str *out, const char *full, size_t *self_len);

#endif
