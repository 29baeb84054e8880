/*
 * The entries of a hashbrown RawTable, on which std's HashMap and HashSet are built. Target memory
 * is not trusted: an entry may be garbage, their number is bounded by that of the buckets.
 */
#ifndef DWARF_VALUES_HASH_TABLE_H
#define DWARF_VALUES_HASH_TABLE_H

#include "dwarf/values/value.h"

enum { HASH_TABLE_CHUNK = 64 };

struct hash_table {
	const struct type *element;
	uint64_t ctrl;    /* address of the control bytes */
	uint64_t buckets; /* may be lowered: those after it are not read */
	uint64_t items;   /* as the table states it; at most as many are returned */
	uint64_t next;    /* bucket */
	uint64_t seen;    /* entries returned */
	unsigned char control[HASH_TABLE_CHUNK];
};

/* bucket_mask, ctrl and items are the members of the table. ERR_CORRUPT if they do not fit. */
struct error *hash_table_open(struct hash_table *table, const struct type *element,
                              uint64_t bucket_mask, uint64_t ctrl, uint64_t items) MUST_CHECK;
/* *found false: there is no further entry. */
struct error *hash_table_next(struct target *t, struct hash_table *table, struct value *ret,
                              bool *found) MUST_CHECK;

#endif
