#include "runtimes/places/snapshot_place.h"

#include <string.h>

#include "runtimes/common/boxed_future.h"
#include "runtimes/places/place_groups.h"

enum { MAX_FRAMES = 64 /* of a task */ };

static const struct future *awaited(const struct future *f)
{
	bool one =
		f->nchildren && f->children[0]->edge && strcmp(f->children[0]->edge, "await") == 0;

	return one ? f->children[0] : NULL;
}

static struct trace_place *copy_place(struct arena *a, const struct trace_frame *frames, size_t n,
                                      const char *leaf)
{
	struct trace_frame *copy = NEW_ARRAY(a, struct trace_frame, n);
	struct trace_place *place = NEW(a, struct trace_place);

	for (size_t i = 0; i < n; i++) {
		copy[i].function = arena_strdup(a, frames[i].function);
		copy[i].file = frames[i].file ? arena_strdup(a, frames[i].file) : NULL;
		copy[i].line = frames[i].line;
		copy[i].library = frames[i].library;
		copy[i].path = frames[i].path ? arena_strdup(a, frames[i].path) : NULL;
	}
	*place = (struct trace_place){ .frames = copy, .nframes = n };
	place->leaf = leaf ? arena_strdup(a, leaf) : NULL;
	return place;
}

static bool snapshot_place_is_suspended(const struct future *f)
{
	return f->kind != FUTURE_OTHER && f->state == FUTURE_SUSPENDED && f->function;
}

/*
 * The coroutine that f is, or that is all that it polls; NULL: none, or a trait object, behind
 * which a trace does not see either.
 */
static const struct future *suspended_within(const struct future *f)
{
	while (f && !f->dyn) {
		if (snapshot_place_is_suspended(f))
			return f;
		bool wraps = f->kind == FUTURE_OTHER && f->nchildren == 1 &&
		             f->children[0]->branch == BRANCH_POLLED;
		f = wraps ? f->children[0] : NULL;
	}
	return NULL;
}

const struct trace_place *snapshot_place(struct snapshot_places *p, const struct task *task)
{
	struct trace_frame frames[MAX_FRAMES];
	const struct future *f = task->root, *at;
	uint64_t key = 1;
	size_t n = 0;

	if (task->state == TASK_RUNNING || task->changed)
		return NULL;
	while (n < MAX_FRAMES && (at = suspended_within(f)) != NULL) {
		frames[n] = (struct trace_frame){ at->function, at->file_short, at->line,
			                          at->library, at->file };
		key = place_groups_key_on(key, &frames[n++]);
		f = awaited(at);
	}
	if (!n)
		return NULL;
	/* The chain goes on in coroutines for which there is no room. */
	bool cut = n == MAX_FRAMES && suspended_within(f);
	const char *leaf = f && !cut ? f->type : NULL;
	key = map_key_of_pair(leaf ? map_key_on(key, leaf, strlen(leaf)) : key, cut);
	struct trace_place *place = map_get(&p->known, key);
	if (place)
		return place;
	place = copy_place(&p->arena, frames, n, leaf);
	place->cut = cut;
	map_put(&p->known, key, place);
	return place;
}

bool snapshot_place_is_unknown(const struct task *task)
{
	const struct future *f = task->root;

	return task->changed || !f || (f->kind != FUTURE_OTHER && f->state != FUTURE_UNRESUMED);
}

void snapshot_place_free(struct snapshot_places *p)
{
	map_free(&p->known);
	arena_free(&p->arena);
}
