#include "runtimes/trace/id_set.h"

bool id_set_add(struct id_set *set, uint64_t id)
{
	uint64_t key = id / ID_SET_PAGE + 1, bit = id % ID_SET_PAGE;
	uint8_t *page = map_get(&set->pages, key);

	if (!page) {
		if (set->npages == ID_SET_MAX_PAGES)
			return false;
		page = arena_calloc(&set->arena, ID_SET_PAGE / 8, 1);
		map_put(&set->pages, key, page);
		set->npages++;
	}
	bool is_new = !(page[bit / 8] & (1U << (bit % 8)));
	page[bit / 8] |= (uint8_t)(1U << (bit % 8));
	return is_new;
}

void id_set_free(struct id_set *set)
{
	map_free(&set->pages);
	arena_free(&set->arena);
	set->npages = 0;
}
