/*
 * Splits typed text: lines into commands at `;`, commands into words at blanks. 'a b' and "a b" are
 * one word. `#` at the start of a word begins a comment. The condition of a breakpoint is one word,
 * with its quotes, unless these enclose all of it; so is the literal of `set PATH = LITERAL`,
 * unless double ones enclose it.
 */
#ifndef COMMANDS_BASE_WORDS_H
#define COMMANDS_BASE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* The words of one command; at least one unless stated otherwise. */
struct words {
	const char **word;
	size_t n;
};

/*
 * Splits a line into commands, in arena a. Empty commands are left out, so *nret may be 0.
 * ERR_USAGE when a quote is not closed.
 */
struct error *words_split(struct arena *a, const char *line, struct words **ret, size_t *nret)
	MUST_CHECK;

/*
 * Parses a decimal number, at most max. Otherwise ERR_USAGE; what describes the expected value: "a
 * frame number".
 */
struct error *words_number(const char *word, const char *what, uint64_t max, uint64_t *ret)
	MUST_CHECK;
/* Parses "65536", "64K", "16M" or "2G" into bytes, at most max. ERR_USAGE. */
struct error *words_size(const char *word, uint64_t max, uint64_t *ret) MUST_CHECK;
/* Checks the name of an output file: ERR_USAGE for "". */
struct error *words_file(const char *word) MUST_CHECK;
/* Parses an address: hexadecimal after 0x, else decimal. */
struct error *words_address(const char *word, uint64_t *ret) MUST_CHECK;

#endif
