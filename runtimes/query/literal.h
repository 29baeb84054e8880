/* Literals as a user types them, for variables of a type. */
#ifndef RUNTIMES_QUERY_LITERAL_H
#define RUNTIMES_QUERY_LITERAL_H

#include "dwarf/types/type.h"

enum { LITERAL_BYTES = 8 };

/* The bytes of a literal, and where in the variable they belong. */
struct literal {
	uint8_t bytes[LITERAL_BYTES];
	size_t size;
	uint64_t offset; /* within the variable: of the only scalar of a wrapper, as an atomic */
};

/*
 * Encodes a literal for a scalar type, or for a struct with a single scalar: true, false; 'x',
 * '\n', '\u{e9}'; -5, 1_000, 0x1f, 0o17, 0b1; 1.5e3, inf, NaN; the name of a variant of an enum
 * without data. ERR_USAGE if it is none of the type or out of its range, or if the type is no
 * scalar.
 */
struct error *literal_encode(const struct type *t, const char *text, struct literal *ret)
	MUST_CHECK;

#endif
