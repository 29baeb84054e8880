/*
 * Deduplicates strings and shapes of trees in a report: each has an index. A hundred thousand tasks
 * of a few kinds then take a few numbers each.
 */
#ifndef COMMANDS_REPORT_REPORT_TABLE_H
#define COMMANDS_REPORT_REPORT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"

/* Distinct rows of bytes, indexed from 0 in order of insertion. */
struct report_table {
	struct arena arena;
	struct report_row {
		const void *bytes;
		size_t len;
		uint64_t hash;
	} * data;
	size_t n, capacity;
	uint32_t *slots;  /* hash table of index + 1, 0 empty */
	size_t nslots;    /* 0 or a power of two */
	struct map known; /* for report_table_name(): address -> index + 1 */
};

/* Returns the index of a row; adds the row when it is new. */
uint32_t report_table_row(struct report_table *t, const void *bytes, size_t len);
/*
 * Returns the index of a string that outlives the table. The string is looked up by address first,
 * then by its bytes. For names, which many futures share.
 */
uint32_t report_table_name(struct report_table *t, const char *text);
void report_table_free(struct report_table *t);

#endif
