/*
 * Which types a table may have rows of. Tables name hundreds, and every type is looked for in all
 * of them: nearly all are in none.
 */
#ifndef RUNTIMES_COMMON_ROW_FILTER_H
#define RUNTIMES_COMMON_ROW_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts as { 0 }: it may have nothing. */
struct row_filter {
	uint64_t bits[64];
};

void row_filter_add(struct row_filter *f, const char *path);
/*
 * False: qualified_is() of the name is false for all paths that were added. True says nothing.
 */
bool row_filter_may_have(const struct row_filter *f, const char *name);

#endif
