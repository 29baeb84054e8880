/* Walks the entries of hash maps and sets. */
#include <inttypes.h>

#include "runtimes/common/type_class.h"
#include "runtimes/holding/holding_walk.h"

enum { CONTROL_CHUNK = 64 };

/*
 * hashbrown/src/raw/mod.rs: ctrl points at one byte per bucket, whose high bit is set when the
 * bucket is empty or deleted. Bucket i ends i elements before ctrl.
 */
struct error *holding_walk_table(struct walk *w, struct value v, const struct step *up,
                                 bool uncertain)
{
	static const char mask_path[] = "bucket_mask", ctrl_path[] = "ctrl", items_path[] = "items";
	static const char *const paths[] = { mask_path, ctrl_path, items_path };
	uint64_t n[3], bytes, seen = 0, *mask = &n[0], *ctrl = &n[1], *items = &n[2];
	const struct type *element = type_param(v.type, "T");
	struct target *t = w->c->in->target;

	if (!element)
		return error_new(ERR_LAYOUT, "element type unknown");
	for (int i = 0; i < 3; i++) {
		struct value place;
		bool found;

		TRY(inspector_eval(w->c->in, v, paths[i], &place, &found));
		TRY(value_uint(t, place, &n[i]));
	}
	if ((*mask & (*mask + 1)) || *mask == UINT64_MAX || *items > *mask + 1 ||
	    __builtin_mul_overflow(*mask + 1, type_size(element), &bytes) || bytes > *ctrl)
		return error_new(ERR_CORRUPT, "buckets");
	if (*items > HOLDING_MAX_ELEMENTS) {
		holding_unsearched(w->c, "all but the first %d of %" PRIu64 " entries of %s",
		                   HOLDING_MAX_ELEMENTS, *items, type_class_of(v.type)->name);
		*items = HOLDING_MAX_ELEMENTS;
	}
	for (uint64_t i = 0; i <= *mask && seen < *items; i += CONTROL_CHUNK) {
		unsigned char control[CONTROL_CHUNK];
		uint64_t chunk = *mask + 1 - i < CONTROL_CHUNK ? *mask + 1 - i : CONTROL_CHUNK;

		TRY(target_read(t, *ctrl + i, control, chunk));
		for (uint64_t j = 0; j < chunk && seen < *items; j++) {
			struct step step = { .up = up, .index = seen };

			if (control[j] & 0x80)
				continue;
			seen++;
			holding_walk(
				w,
				(struct value){ element, *ctrl - (i + j + 1) * type_size(element) },
				&step, uncertain);
		}
	}
	return NULL;
}
