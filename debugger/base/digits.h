/* The decimal digits of a number. */
#ifndef DEBUGGER_BASE_DIGITS_H
#define DEBUGGER_BASE_DIGITS_H

#include <stdint.h>

enum { DIGITS_MAX = 20 }; /* of a uint64_t */

/* Writes the digits to the end of the buffer, without a NUL; returns the first one. */
static inline const char *digits_of(char digits[DIGITS_MAX], uint64_t number)
{
	char *first = digits + DIGITS_MAX;

	do {
		*--first = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return first;
}

#endif
