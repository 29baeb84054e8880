#include "runtimes/timeline/task_table.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"

enum { SMALLEST = 64 };

/* Ids count up: the multiplication scatters them. */
static size_t task_table_place_of(const struct task_table *t, uint64_t id)
{
	return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->capacity - 1);
}

/* The place of the id, or the empty one where it belongs. */
static struct task_entry *task_table_slot_of(const struct task_table *t, uint64_t id)
{
	size_t i = task_table_place_of(t, id);

	while (t->slots[i].id && t->slots[i].id != id)
		i = (i + 1) & (t->capacity - 1);
	return &t->slots[i];
}

struct task_entry *task_table_find(const struct task_table *t, uint64_t id)
{
	struct task_entry *entry = t->n ? task_table_slot_of(t, id) : NULL;

	return entry && entry->id ? entry : NULL;
}

static void grow(struct task_table *t)
{
	struct task_table bigger = { .capacity = t->capacity ? t->capacity * 2 : SMALLEST,
		                     .n = t->n };

	bigger.slots = alloc_zeroed(bigger.capacity * sizeof(*bigger.slots));
	for (size_t i = 0; i < t->capacity; i++) {
		if (t->slots[i].id)
			*task_table_slot_of(&bigger, t->slots[i].id) = t->slots[i];
	}
	free(t->slots);
	*t = bigger;
}

struct task_entry *task_table_add(struct task_table *t, uint64_t id)
{
	if (t->n >= t->capacity / 4 * 3)
		grow(t);
	struct task_entry *entry = task_table_slot_of(t, id);
	*entry = (struct task_entry){ .id = id };
	t->n++;
	return entry;
}

void task_table_remove(struct task_table *t, struct task_entry *entry)
{
	size_t mask = t->capacity - 1, hole = (size_t)(entry - t->slots);

	/* Entries behind the hole that a search would look for in front of it move into it. */
	for (size_t i = (hole + 1) & mask; t->slots[i].id; i = (i + 1) & mask) {
		size_t distance = (i - task_table_place_of(t, t->slots[i].id)) & mask;

		if (distance < ((i - hole) & mask))
			continue;
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	memset(&t->slots[hole], 0, sizeof(t->slots[hole]));
	t->n--;
}

void task_table_free(struct task_table *t)
{
	free(t->slots);
	*t = (struct task_table){ 0 };
}
