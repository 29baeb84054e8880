/* How memory is to be shown: see memory_dump.h. */
#ifndef DWARF_CODE_MEMORY_FORMAT_H
#define DWARF_CODE_MEMORY_FORMAT_H

#include <stdint.h>

enum { MEMORY_MAX_UNITS = 1 << 16 };

/* What a unit is, and how it is written. */
struct memory_format {
	uint64_t count; /* units; at most MEMORY_MAX_UNITS */
	/*
	 * x hexadecimal, d signed, u unsigned, o octal, t binary, c character, f floating-point, a
	 * address with its symbol, s string, i instruction.
	 */
	char letter;
	unsigned size; /* bytes of a unit: 1, 2, 4 or 8; of strings and instructions meaningless */
};

#endif
