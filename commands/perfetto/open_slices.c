#include "commands/perfetto/open_slices.h"

#include <stdlib.h>

#include "debugger/base/arena.h"

enum { FIRST_CAPACITY = 64 };

static size_t place_of(const struct open_slices *o, uint64_t track)
{
	return (size_t)((track * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (o->capacity - 1);
}

static size_t open_slices_step(const struct open_slices *o, size_t place)
{
	return (place + 1) & (o->capacity - 1);
}

/* The place of a track, or the empty one where it would go. */
static struct open_slice *open_slices_find(const struct open_slices *o, uint64_t track)
{
	size_t place = place_of(o, track);

	while (o->slots[place].track && o->slots[place].track != track)
		place = open_slices_step(o, place);
	return &o->slots[place];
}

static void open_slices_grow(struct open_slices *o)
{
	struct open_slices larger = { .tracks = o->tracks,
		                      .capacity = o->capacity ? o->capacity * 2 : FIRST_CAPACITY };

	larger.slots = alloc_zeroed(larger.capacity * sizeof(*larger.slots));
	for (size_t i = 0; i < o->capacity; i++) {
		if (o->slots[i].track)
			*open_slices_find(&larger, o->slots[i].track) = o->slots[i];
	}
	free(o->slots);
	*o = larger;
}

void open_slices_begin(struct open_slices *o, uint64_t track)
{
	if (o->tracks * 2 >= o->capacity)
		open_slices_grow(o);
	struct open_slice *slot = open_slices_find(o, track);
	o->tracks += slot->n == 0;
	slot->track = track;
	slot->n++;
}

/* Closes the gap: moves entries back that a search would not reach over it. */
static void remove_at(struct open_slices *o, size_t gap)
{
	for (size_t i = open_slices_step(o, gap); o->slots[i].track; i = open_slices_step(o, i)) {
		size_t wanted = place_of(o, o->slots[i].track);
		size_t moved = (i - wanted) & (o->capacity - 1);

		if (moved < ((i - gap) & (o->capacity - 1)))
			continue;
		o->slots[gap] = o->slots[i];
		gap = i;
	}
	o->slots[gap] = (struct open_slice){ 0 };
	o->tracks--;
}

bool open_slices_end(struct open_slices *o, uint64_t track)
{
	struct open_slice *slot = o->tracks ? open_slices_find(o, track) : NULL;

	if (!slot || slot->n == 0)
		return false;
	if (--slot->n == 0)
		remove_at(o, (size_t)(slot - o->slots));
	return true;
}

uint64_t open_slices_next(const struct open_slices *o, size_t *place)
{
	for (; *place < o->capacity; ++*place) {
		if (o->slots[*place].track)
			return o->slots[*place].track;
	}
	return 0;
}

void open_slices_free(struct open_slices *o)
{
	free(o->slots);
	*o = (struct open_slices){ 0 };
}
