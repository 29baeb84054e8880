#include "commands/report/report_table.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"

/* The slot of this row, or the empty slot in which to insert it. */
static uint32_t *find_slot(const struct report_table *t, const void *bytes, size_t len,
                           uint64_t hash)
{
	for (size_t at = hash;; at++) {
		uint32_t *slot = &t->slots[at & (t->nslots - 1)];

		if (!*slot)
			return slot;
		const struct report_row *row = &t->data[*slot - 1];
		if (row->hash == hash && row->len == len && memcmp(row->bytes, bytes, len) == 0)
			return slot;
	}
}

/* Keeps at least half of the slots empty. */
static void report_table_grow(struct report_table *t)
{
	if (t->nslots > 2 * t->n)
		return;
	t->nslots = t->nslots ? 2 * t->nslots : 1024;
	free(t->slots);
	t->slots = calloc(t->nslots, sizeof(*t->slots));
	if (!t->slots)
		out_of_memory();
	for (size_t i = 0; i < t->n; i++)
		*find_slot(t, t->data[i].bytes, t->data[i].len, t->data[i].hash) = (uint32_t)i + 1;
}

uint32_t report_table_row(struct report_table *t, const void *bytes, size_t len)
{
	uint64_t hash = map_key_of(bytes, len);

	report_table_grow(t);
	uint32_t *slot = find_slot(t, bytes, len, hash);
	if (!*slot) {
		/* NUL-terminated, so that a row that is a string can be used as one. */
		char *copy = arena_alloc(&t->arena, len + 1);

		memcpy(copy, bytes, len);
		*vec_push(t) = (struct report_row){ copy, len, hash };
		*slot = (uint32_t)t->n;
	}
	return *slot - 1;
}

uint32_t report_table_name(struct report_table *t, const char *text)
{
	uintptr_t known = (uintptr_t)map_get(&t->known, (uintptr_t)text);

	if (!known) {
		known = (uintptr_t)report_table_row(t, text, strlen(text)) + 1;
		map_put(&t->known, (uintptr_t)text, (void *)known);
	}
	return (uint32_t)(known - 1);
}

void report_table_free(struct report_table *t)
{
	arena_free(&t->arena);
	map_free(&t->known);
	vec_free(t);
	free(t->slots);
	*t = (struct report_table){ 0 };
}
