/* Decodes non-ASCII identifiers in symbols: RFC 3492, with '_' in place of '-'. */
#ifndef DWARF_NAMES_PUNYCODE_H
#define DWARF_NAMES_PUNYCODE_H

#include <stddef.h>
#include <stdint.h>

enum { PUNYCODE_MAX = 512 };

/* The code points of text; 0 when it is not punycode or is longer than PUNYCODE_MAX. */
size_t punycode_decode(const char *text, size_t len, uint32_t chars[static PUNYCODE_MAX]);

#endif
