/* Suggests the word that a mistyped word probably means. */
#ifndef DEBUGGER_BASE_NEAREST_H
#define DEBUGGER_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/error.h"

/* The nearest of the candidates so far. */
struct nearest {
	const char *typed;
	size_t distance; /* of the best candidate; 0: none yet */
	size_t unlike;   /* difference of its length */
};

/*
 * Offers a candidate of len bytes. Returns true when it is near enough and nearer than all earlier
 * ones. One letter in three may be changed, missing, added or swapped with its neighbour. Among
 * equally near candidates the nearest length wins, then the first one.
 */
bool nearest_offer(struct nearest *n, const char *word, size_t len);
/*
 * Whether a word is near enough by itself. *letters: how many of them differ, 0: it is what was
 * typed; *unlike: the difference of lengths.
 */
bool nearest_is_near(const char *typed, const char *word, size_t *letters, size_t *unlike);

/*
 * The error for a word that is none of the names: 'PROBLEM "TYPED": did you mean NAME?', or all
 * names where none is near. shown: what is printed in place of each name; NULL: the names.
 */
struct error *nearest_error(const char *problem, const char *typed, const char *const *names,
                            const char *const *shown, size_t n);

#endif
