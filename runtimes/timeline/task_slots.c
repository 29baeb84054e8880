#include "runtimes/timeline/task_slots.h"

bool task_slots_find(const struct task_slots *s, uint64_t id, uint32_t *slot)
{
	const struct task_entry *entry = id ? task_table_find(&s->tasks, id) : NULL;

	if (entry)
		*slot = entry->row;
	return entry != NULL;
}

uint32_t task_slots_add(struct task_slots *s, uint64_t id)
{
	uint32_t slot = s->unused.n ? s->unused.data[--s->unused.n] : s->n++;

	task_table_add(&s->tasks, id)->row = slot;
	return slot;
}

void task_slots_remove(struct task_slots *s, uint64_t id)
{
	struct task_entry *entry = task_table_find(&s->tasks, id);

	*vec_push(&s->unused) = entry->row;
	task_table_remove(&s->tasks, entry);
}

void task_slots_free(struct task_slots *s)
{
	task_table_free(&s->tasks);
	vec_free(&s->unused);
}
