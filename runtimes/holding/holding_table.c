/* Walks the entries of hash maps and sets. */
#include <inttypes.h>

#include "dwarf/values/hash_table.h"
#include "runtimes/common/type_class.h"
#include "runtimes/holding/holding_walk.h"

struct error *holding_walk_table(struct walk *w, struct value v, const struct step *up,
                                 bool uncertain)
{
	static const char mask_path[] = "bucket_mask", ctrl_path[] = "ctrl", items_path[] = "items";
	static const char *const paths[] = { mask_path, ctrl_path, items_path };
	uint64_t n[3];
	const struct type *element = type_param(v.type, "T");
	struct target *t = w->c->in->target;
	struct hash_table table;
	struct value entry;
	bool found;

	if (!element)
		return error_new(ERR_LAYOUT, "element type unknown");
	for (int i = 0; i < 3; i++) {
		struct value place;

		TRY(inspector_eval(w->c->in, v, paths[i], &place, &found));
		TRY(value_uint(t, place, &n[i]));
	}
	TRY(hash_table_open(&table, element, n[0], n[1], n[2]));
	if (table.items > HOLDING_MAX_ELEMENTS) {
		holding_unsearched(w->c, "all but the first %d of %" PRIu64 " entries of %s",
		                   HOLDING_MAX_ELEMENTS, table.items, type_class_of(v.type)->name);
		table.items = HOLDING_MAX_ELEMENTS;
	}
	TRY(hash_table_next(t, &table, &entry, &found));
	while (found) {
		struct step step = { .up = up, .index = table.seen - 1 };

		holding_walk(w, entry, &step, uncertain);
		TRY(hash_table_next(t, &table, &entry, &found));
	}
	return NULL;
}
