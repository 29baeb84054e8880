/*
 * A hash map from 64-bit keys (addresses, DIE offsets) to pointers, with open addressing. 0 is a
 * key like any other: a target that writes over its own memory has tasks at address 0. Entries
 * cannot be removed. The map owns its table, but not the values.
 */
#ifndef DEBUGGER_BASE_MAP_H
#define DEBUGGER_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key; /* 0: empty */
	void *value;
};
struct map {
	struct map_slot *slots;
	size_t n, capacity; /* capacity is 0 or a power of two; n without the key 0 */
	bool has_zero;
	void *zero; /* the value of the key 0 */
};

/* NULL if key is not in the map (or its value is NULL: see map_has()). */
void *map_get(const struct map *m, uint64_t key);
bool map_has(const struct map *m, uint64_t key);
/* Inserts or replaces; true if key is new. */
bool map_put(struct map *m, uint64_t key, void *value);
/* Removes all entries and keeps the table for new ones. */
void map_clear(struct map *m);
void map_free(struct map *m);

/*
 * A non-zero hash of bytes, used as a key for names. It processes eight bytes at a time, because
 * type names are long and numerous. Files of cache records contain such keys.
 */
uint64_t map_key_of(const void *data, size_t len);
/* map_key_of() of a string, without its NUL. */
uint64_t map_key_of_text(const char *text);
uint64_t map_key_on(uint64_t seed, const void *data, size_t len);
/*
 * A hash of two numbers, such as an address and a pointer. Unlike a sum or XOR, pairs of
 * neighbouring numbers have different keys.
 */
uint64_t map_key_of_pair(uint64_t a, uint64_t b);

#endif
