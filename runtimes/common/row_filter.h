/*
 * A Bloom filter with one hash over the type paths of a table. Tables name hundreds of types, and
 * every type is looked up in all tables; almost all types are in none.
 */
#ifndef RUNTIMES_COMMON_ROW_FILTER_H
#define RUNTIMES_COMMON_ROW_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* { 0 } is the empty filter. */
struct row_filter {
	uint64_t bits[64];
};

void row_filter_add(struct row_filter *f, const char *path);
/* False: qualified_is() is false for name and every path that was added. True: unknown. */
bool row_filter_may_have(const struct row_filter *f, const char *name);

#endif
