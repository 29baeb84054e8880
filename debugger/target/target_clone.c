#include <stdlib.h>
#include <string.h>

#include "debugger/memory/page_cache.h"
#include "debugger/target/target.h"

struct target *target_twin(struct target *t)
{
	struct target *twin = calloc(1, sizeof(*twin));

	if (!twin)
		out_of_memory();
	*twin = *t;
	twin->twin_of = t;
	twin->cache = !t->cache                  ? NULL
	              : t->frozen && !t->stopped ? page_cache_view(t->cache)
	                                         : page_cache_new_narrow();
	twin->misses = twin->doubts = 0;
	twin->notes = NULL;
	twin->nnotes = 0;
	twin->sockets = NULL;
	memset(&twin->spared, 0, sizeof(twin->spared));
	memset(&twin->stop_arena, 0, sizeof(twin->stop_arena));
	memset(&twin->arena, 0, sizeof(twin->arena));
	if (t->ops->private_size)
		twin->private = arena_memdup(&twin->arena, t->private, t->ops->private_size);
	return twin;
}

static void miss(uint64_t addr, void *cache)
{
	page_cache_miss(cache, addr);
}

void target_twin_join(struct target *twin)
{
	if (!twin)
		return;
	struct target *t = twin->twin_of;
	if (twin->cache)
		page_cache_each_used(twin->cache, miss, t->cache);
	t->misses += twin->misses;
	t->doubts += twin->doubts;
	for (size_t i = 0; i < twin->nnotes; i++)
		target_note(t, "%s", twin->notes[i]);
	target_free(twin);
}
