/*
 * hashbrown/src/raw/mod.rs: ctrl points at one byte for each bucket, whose high bit is set where
 * the bucket is empty or deleted; bucket i ends i elements before ctrl.
 */
#include "dwarf/values/hash_table.h"

struct error *hash_table_open(struct hash_table *table, const struct type *element,
                              uint64_t bucket_mask, uint64_t ctrl, uint64_t items)
{
	uint64_t bytes;

	if (bucket_mask == UINT64_MAX || (bucket_mask & (bucket_mask + 1)) ||
	    items > bucket_mask + 1 ||
	    __builtin_mul_overflow(bucket_mask + 1, type_size(element), &bytes) || bytes > ctrl)
		return error_new(ERR_CORRUPT, "buckets");
	*table = (struct hash_table){
		.element = element,
		.ctrl = ctrl,
		.buckets = bucket_mask + 1,
		.items = items,
	};
	return NULL;
}

struct error *hash_table_next(struct target *t, struct hash_table *table, struct value *ret,
                              bool *found)
{
	enum { NOT_FULL = 0x80 };

	*found = false;
	while (!*found && table->next < table->buckets && table->seen < table->items) {
		uint64_t at = table->next % HASH_TABLE_CHUNK;

		if (at == 0) {
			uint64_t left = table->buckets - table->next;

			TRY(target_read(t, table->ctrl + table->next, table->control,
			                left < HASH_TABLE_CHUNK ? left : HASH_TABLE_CHUNK));
		}
		table->next++;
		*found = !(table->control[at] & NOT_FULL);
	}
	if (!*found)
		return NULL;
	table->seen++;
	*ret = (struct value){ table->element,
		               table->ctrl - table->next * type_size(table->element) };
	return NULL;
}
