/*
 * Internal to the grouping: hashes of compared values. They do not resist chosen collisions; each
 * look-up compares the values as well.
 */
#ifndef RUNTIMES_ANALYSIS_GROUP_HASH_H
#define RUNTIMES_ANALYSIS_GROUP_HASH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* NULL and "" differ. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	uint64_t word;

	for (size_t i = 0; i < len; i += sizeof(word)) {
		size_t n = len - i < sizeof(word) ? len - i : sizeof(word);

		word = 0;
		memcpy(&word, text + i, n);
		hash = hash_number(hash, word);
	}
	return hash_number(hash, text ? len : UINT64_MAX);
}

static inline bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

#endif
