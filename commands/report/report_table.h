/*
 * What a report says often, said once: each string and each shape of a future's tree has a number.
 * A hundred thousand tasks of a few kinds are then a few numbers each.
 */
#ifndef COMMANDS_REPORT_REPORT_TABLE_H
#define COMMANDS_REPORT_REPORT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"

/* Rows of bytes, each kept once, numbered from 0 in the order they came. */
struct report_table {
	struct arena arena;
	struct report_row {
		const void *bytes;
		size_t len;
		uint64_t hash;
	} * data;
	size_t n, capacity;
	uint32_t *slots;  /* by hash: number + 1, 0 empty */
	size_t nslots;    /* 0 or a power of two */
	struct map known; /* of report_table_name(): pointers seen */
};

/* The number of such a row; it is added when it is not there. */
uint32_t report_table_row(struct report_table *t, const void *bytes, size_t len);
/*
 * The number of a string, which must outlive the table: it is looked up by its address before its
 * bytes. For names, which many futures share.
 */
uint32_t report_table_name(struct report_table *t, const char *text);
void report_table_free(struct report_table *t);

#endif
