/* Which word somebody probably meant who typed another one. */
#ifndef COMMANDS_SHELL_NEAREST_H
#define COMMANDS_SHELL_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The nearest of the words that were offered so far. */
struct nearest {
	const char *typed;
	size_t distance; /* of the best word; 0: there is none yet */
	size_t unlike;   /* by how many letters its length differs */
};

/*
 * Is the word, of len bytes, near enough to be meant, and nearer than all that were offered before?
 * A letter in three may be wrong: changed, left out, put in or swapped with its neighbour. Of words
 * that are equally near the one whose length is nearest wins, then the first.
 */
bool nearest_offer(struct nearest *n, const char *word, size_t len);

#endif
