#include "runtimes/places/place_groups.h"

#include <string.h>

static uint64_t begin_key(uint64_t within)
{
	return map_key_of_pair(1, within);
}

uint64_t place_groups_key_on(uint64_t key, const struct trace_frame *f)
{
	const char *file = trace_place_file(f);

	key = map_key_of_pair(map_key_on(key, f->function, strlen(f->function)), f->line);
	return file ? map_key_on(key, file, strlen(file)) : key;
}

static uint64_t key_of_frames(const struct trace_place *place, uint64_t within)
{
	uint64_t key = begin_key(within);

	for (size_t i = 0; i < place->nframes; i++)
		key = place_groups_key_on(key, &place->frames[i]);
	return key;
}

/* The key of a place that was not cut, and is no continuation of one that was. */
static uint64_t key_of_whole(const struct trace_place *place, uint64_t within)
{
	uint64_t key = key_of_frames(place, within);

	return place->leaf ? map_key_on(key, place->leaf, strlen(place->leaf)) : key;
}

void place_groups_add(struct place_groups *g, const struct trace_place *place, uint64_t within)
{
	if (!place || !map_put(&g->seen, map_key_of_pair((uintptr_t)place, within), NULL))
		return;
	struct map *map = place->cut ? &g->cuts : &g->texts;
	uint64_t key = place->cut ? key_of_frames(place, within) : key_of_whole(place, within);
	if (!map_has(map, key))
		map_put(map, key, (void *)(uintptr_t)place);
}

const struct trace_place *place_groups_find(const struct place_groups *g,
                                            const struct trace_place *place, uint64_t within)
{
	uint64_t key = begin_key(within);

	if (!place)
		return NULL;
	for (size_t i = 0; g->cuts.n && i < place->nframes; i++) {
		const struct trace_place *cut;

		key = place_groups_key_on(key, &place->frames[i]);
		cut = map_get(&g->cuts, key);
		if (cut)
			return cut;
	}
	const struct trace_place *same = map_get(&g->texts, key_of_whole(place, within));
	return same ? same : place;
}

void place_groups_free(struct place_groups *g)
{
	map_free(&g->seen);
	map_free(&g->texts);
	map_free(&g->cuts);
}
