#include "debugger/base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "debugger/base/arena.h"

enum { SMALL_TABLE = 16, HUGE_TABLE = 2 << 20 };

static struct map_slot *map_find(const struct map *m, uint64_t key)
{
	/* Fibonacci hashing: addresses differ in their middle bits. */
	size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (m->capacity - 1);

	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & (m->capacity - 1);
	return &m->slots[i];
}

/*
 * Lookups in a large table are random accesses: huge pages avoid most page table walks, and five
 * hundred page faults on first use.
 */
static bool is_huge(size_t capacity)
{
	return capacity * sizeof(struct map_slot) >= HUGE_TABLE;
}

static struct map_slot *new_slots(size_t capacity)
{
	size_t size = capacity * sizeof(struct map_slot);
	struct map_slot *slots;

	if (!is_huge(capacity))
		return alloc_zeroed(size);
	slots = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED)
		out_of_memory();
	madvise(slots, size, MADV_HUGEPAGE);
	return memset(slots, 0, size);
}

static void free_slots(struct map_slot *slots, size_t capacity)
{
	if (is_huge(capacity))
		munmap(slots, capacity * sizeof(*slots));
	else
		free(slots);
}

static void map_grow(struct map *m)
{
	struct map old = *m;

	m->capacity = old.capacity ? old.capacity * 2 : SMALL_TABLE;
	m->slots = new_slots(m->capacity);
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.slots[i].key)
			*map_find(m, old.slots[i].key) = old.slots[i];
	}
	free_slots(old.slots, old.capacity);
}

void *map_get(const struct map *m, uint64_t key)
{
	if (key == 0)
		return m->zero;
	return m->capacity ? map_find(m, key)->value : NULL;
}

bool map_has(const struct map *m, uint64_t key)
{
	if (key == 0)
		return m->has_zero;
	return m->capacity && map_find(m, key)->key == key;
}

static bool put_zero(struct map *m, void *value)
{
	bool is_new = !m->has_zero;

	m->has_zero = true;
	m->zero = value;
	return is_new;
}

bool map_put(struct map *m, uint64_t key, void *value)
{
	if (key == 0)
		return put_zero(m, value);
	if ((m->n + 1) * 4 > m->capacity * 3)
		map_grow(m);

	struct map_slot *slot = map_find(m, key);
	bool is_new = slot->key == 0;
	slot->key = key;
	slot->value = value;
	m->n += is_new;
	return is_new;
}

void map_clear(struct map *m)
{
	if (m->n)
		memset(m->slots, 0, m->capacity * sizeof(*m->slots));
	m->n = 0;
	m->has_zero = false;
	m->zero = NULL;
}

void map_free(struct map *m)
{
	free_slots(m->slots, m->capacity);
	*m = (struct map){ 0 };
}

uint64_t map_key_on(uint64_t seed, const void *data, size_t len)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	const unsigned char *p = data;
	uint64_t hash = (seed + 1) * factor ^ len, word;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		hash = (hash ^ word) * factor;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, p, len);
	hash = (hash ^ word) * factor;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

uint64_t map_key_of(const void *data, size_t len)
{
	return map_key_on(0, data, len);
}

uint64_t map_key_of_text(const char *text)
{
	return map_key_of(text, strlen(text));
}

uint64_t map_key_of_pair(uint64_t a, uint64_t b)
{
	return map_key_on(a, &b, sizeof(b));
}
