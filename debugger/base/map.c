#include "debugger/base/map.h"

#include <assert.h>
#include <stdlib.h>

#include "debugger/base/arena.h"

static struct map_slot *find(const struct map *m, uint64_t key)
{
	/* Fibonacci hashing: addresses differ in their middle bits. */
	size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (m->capacity - 1);

	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & (m->capacity - 1);
	return &m->slots[i];
}

static void grow(struct map *m)
{
	struct map old = *m;

	m->capacity = old.capacity ? old.capacity * 2 : 64;
	m->slots = calloc(m->capacity, sizeof(*m->slots));
	if (!m->slots)
		out_of_memory();
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.slots[i].key)
			*find(m, old.slots[i].key) = old.slots[i];
	}
	free(old.slots);
}

void *map_get(const struct map *m, uint64_t key)
{
	return m->capacity ? find(m, key)->value : NULL;
}

bool map_has(const struct map *m, uint64_t key)
{
	return m->capacity && find(m, key)->key == key;
}

bool map_put(struct map *m, uint64_t key, void *value)
{
	assert(key != 0);
	if ((m->n + 1) * 4 > m->capacity * 3)
		grow(m);

	struct map_slot *slot = find(m, key);
	bool is_new = slot->key == 0;
	slot->key = key;
	slot->value = value;
	m->n += is_new;
	return is_new;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}

uint64_t map_key_of(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}
