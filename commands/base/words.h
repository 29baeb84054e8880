/*
 * What a user typed, split: lines into commands at `;`, commands into words at blanks. 'a b'
 * and "a b" are one word, `#` at the start of a word begins a comment.
 */
#ifndef COMMANDS_BASE_WORDS_H
#define COMMANDS_BASE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* The words of one command; at least one unless said otherwise. */
struct words {
	const char **word;
	size_t n;
};

/*
 * The commands of a line, in arena a; empty ones are left out, so *nret may be 0.
 * ERR_USAGE when a quote is not closed.
 */
struct error *words_split(struct arena *a, const char *line, struct words **ret, size_t *nret)
	MUST_CHECK;

/*
 * The number that a word is: decimal digits, at most max. ERR_USAGE otherwise, with what it
 * should be: "a frame number".
 */
struct error *words_number(const char *word, const char *what, uint64_t max, uint64_t *ret)
	MUST_CHECK;
/* The name of a file to be written: ERR_USAGE for "". */
struct error *words_file(const char *word) MUST_CHECK;
/* An address: hexadecimal behind 0x, else decimal. */
struct error *words_address(const char *word, uint64_t *ret) MUST_CHECK;

#endif
