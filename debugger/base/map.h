/*
 * A map from non-zero 64-bit keys (addresses, DIE offsets) to pointers; open addressing.
 * Entries cannot be removed. Owns its table, not what the pointers point to.
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
	size_t n, capacity; /* capacity is 0 or a power of two */
};

/* NULL when key is not there (or was put with NULL: see map_has). */
void *map_get(const struct map *m, uint64_t key);
bool map_has(const struct map *m, uint64_t key);
/* Sets or replaces; true when key is new. */
bool map_put(struct map *m, uint64_t key, void *value);
void map_free(struct map *m);

/*
 * A hash of bytes that is no 0: the key of what has a name, and of a name and a number. It takes
 * eight bytes at a time: names of types are long, and there are many. Files of records have such
 * keys.
 */
uint64_t map_key_of(const void *data, size_t len);
/* The same of a text, without its NUL. */
uint64_t map_key_of_text(const char *text);
uint64_t map_key_on(uint64_t seed, const void *data, size_t len);
/* The same of two numbers, such as an address and a pointer: those of neighbours are none of
 * others. */
uint64_t map_key_of_pair(uint64_t a, uint64_t b);

#endif
