/*
 * A table of the tasks that exist now, by id: a hash map from which entries can be removed, since a
 * service spawns tasks for as long as it runs.
 */
#ifndef RUNTIMES_TIMELINE_TASK_TABLE_H
#define RUNTIMES_TIMELINE_TASK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_entry {
	uint64_t id;       /* 0: an empty place in the table */
	uint64_t runnable; /* the time when it was put into a queue, in ns; 0: it was not, or
	                      unknown */
	uint32_t row;      /* for the owner of the table */
	bool polled;       /* at least once */
};

/* All zeros is the empty table. */
struct task_table {
	struct task_entry *slots; /* open addressing, linear probing */
	size_t n, capacity;       /* capacity is 0 or a power of two */
};

/* id is not 0 in all of them. NULL: there is no such entry. */
struct task_entry *task_table_find(const struct task_table *t, uint64_t id);
/* A new entry; there must be none of that id. Entries move: do not keep pointers to others. */
struct task_entry *task_table_add(struct task_table *t, uint64_t id);
/* entry is in the table; others move. */
void task_table_remove(struct task_table *t, struct task_entry *entry);
void task_table_free(struct task_table *t);

#endif
