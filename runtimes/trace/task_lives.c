#include "runtimes/trace/task_lives.h"

#include "runtimes/trace/trace_key.h"

struct task_life *task_lives_at(struct task_lives *lives, uint64_t key)
{
	/* Runtimes of several kinds may share the functions of their tasks. */
	key = trace_key_address(key);
	struct task_life *life = map_get(&lives->by_key, key);

	if (!life && lives->by_key.n == TASK_LIVES_MAX) {
		lives->other = (struct task_life){ .lives = true };
		return &lives->other;
	}
	if (!life) {
		life = NEW(&lives->arena, struct task_life);
		map_put(&lives->by_key, key, life);
	}
	return life;
}

bool task_lives_begin(struct task_lives *lives, uint64_t key)
{
	struct task_life *life = task_lives_at(lives, key);
	bool is_new = !life->lives;

	if (is_new)
		*life = (struct task_life){ .lives = true, .queued = true };
	return is_new;
}

void task_lives_end(struct task_lives *lives, uint64_t key)
{
	task_lives_at(lives, key)->lives = false;
}

void task_lives_free(struct task_lives *lives)
{
	map_free(&lives->by_key);
	arena_free(&lives->arena);
}
