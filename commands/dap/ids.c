#include "commands/dap/ids.h"

#include <string.h>

#include "runtimes/model/model.h"

/* Kinds of keys, hashed into them so that keys of two kinds differ. */
enum { KEY_THREAD = 1, KEY_TASK, KEY_GROUP, KEY_FRAME, KEY_VALUE, KEY_SCOPE };

/* Index of the element with that key, or SIZE_MAX. */
static size_t ids_known(const struct map *m, uint64_t key)
{
	return (size_t)(uintptr_t)map_get(m, key) - 1;
}

static void ids_keep(struct map *m, uint64_t key, size_t index)
{
	map_put(m, key, (void *)(uintptr_t)(index + 1));
}

int ids_of_thread(struct ids *ids, pid_t tid)
{
	uint64_t key = map_key_of_pair(KEY_THREAD, (uint64_t)tid);
	size_t i = ids_known(&ids->by_key, key);

	if (i == SIZE_MAX) {
		i = ids->threads.n;
		if (i + 1 >= IDS_FIRST_TASK)
			return 0;
		*vec_push(&ids->threads) =
			(struct id_thread){ .kind = ID_THREAD, .number = (int)i + 1, .tid = tid };
		ids_keep(&ids->by_key, key, i);
	}
	return ids->threads.data[i].number;
}

static void set_task(struct ids *ids, struct id_thread *id, const struct task *task)
{
	if (!id->task || strcmp(id->task, task->id) != 0)
		id->task = arena_strdup(&ids->arena, task->id);
	id->addr = task->addr;
	id->runtime = task->runtime;
}

int ids_of_task(struct ids *ids, const struct task *task)
{
	uint64_t key = map_key_of_text(task->id);

	key = map_key_of_pair(map_key_of_pair(key, task->runtime), task->addr);
	key = map_key_of_pair(KEY_TASK, key);
	size_t i = ids_known(&ids->by_key, key);

	if (i == SIZE_MAX) {
		i = ids->tasks.n;
		if (i + 1 >= IDS_FIRST_GROUP - IDS_FIRST_TASK)
			return 0;
		struct id_thread *id = vec_push(&ids->tasks);

		id->kind = ID_TASK;
		id->number = IDS_FIRST_TASK + (int)i + 1;
		set_task(ids, id, task);
		ids_keep(&ids->by_key, key, i);
	}
	return ids->tasks.data[i].number;
}

int ids_of_group(struct ids *ids, uint64_t group, const struct task *task)
{
	uint64_t key = map_key_of_pair(KEY_GROUP, group);
	size_t i = ids_known(&ids->by_key, key);

	if (i == SIZE_MAX) {
		i = ids->groups.n;
		if (i >= IDS_MAX)
			return 0;
		*vec_push(&ids->groups) =
			(struct id_thread){ .kind = ID_GROUP,
			                    .number = IDS_FIRST_GROUP + (int)i + 1 };
		ids_keep(&ids->by_key, key, i);
	}
	set_task(ids, &ids->groups.data[i], task);
	return ids->groups.data[i].number;
}

const struct id_thread *ids_thread(const struct ids *ids, int64_t number)
{
	if (number > IDS_FIRST_GROUP)
		return number - IDS_FIRST_GROUP <= (int64_t)ids->groups.n
		               ? &ids->groups.data[number - IDS_FIRST_GROUP - 1]
		               : NULL;
	if (number > IDS_FIRST_TASK)
		return number - IDS_FIRST_TASK <= (int64_t)ids->tasks.n
		               ? &ids->tasks.data[number - IDS_FIRST_TASK - 1]
		               : NULL;
	return number > 0 && number <= (int64_t)ids->threads.n ? &ids->threads.data[number - 1]
	                                                       : NULL;
}

const struct task *ids_find_task(const struct id_thread *id, const struct snapshot *s)
{
	const struct thread_info *th;

	if (id->kind == ID_THREAD) {
		th = snapshot_thread_by_tid(s, id->tid);
		return th && th->task ? snapshot_task(s, th->task, th->number) : NULL;
	}
	for (size_t i = 0; i < s->ntasks; i++) {
		const struct task *task = s->tasks[i];

		if (task->addr == id->addr && task->runtime == id->runtime &&
		    strcmp(task->id, id->task) == 0)
			return task;
	}
	return NULL;
}

const struct thread_info *ids_find_thread(const struct id_thread *id, const struct snapshot *s)
{
	if (id->kind == ID_THREAD)
		return snapshot_thread_by_tid(s, id->tid);
	const struct task *task = ids_find_task(id, s);

	return task && task->thread ? snapshot_thread(s, task->thread) : NULL;
}

/* ---- frames and values ---- */

int ids_of_frame(struct ids *ids, const struct id_frame *frame)
{
	uint64_t key = map_key_of_pair((uint64_t)frame->thread,
	                               (uint64_t)frame->kind << 32 | frame->number);

	key = map_key_of_pair(KEY_FRAME, key);
	size_t i = ids_known(&ids->by_place, key);

	if (i == SIZE_MAX) {
		i = ids->frames.n;
		if (i >= IDS_MAX)
			return 0;
		*vec_push(&ids->frames) = *frame;
		ids_keep(&ids->by_place, key, i);
	}
	return (int)i + 1;
}

const struct id_frame *ids_frame(const struct ids *ids, int64_t number)
{
	return number > 0 && number <= (int64_t)ids->frames.n ? &ids->frames.data[number - 1]
	                                                      : NULL;
}

int ids_of_variables(struct ids *ids, const struct id_variables *v)
{
	uint64_t key =
		v->is_scope
			? map_key_of_pair(map_key_of_pair(KEY_SCOPE, v->scope), (uint64_t)v->frame)
			: map_key_of_pair(map_key_of_pair(KEY_VALUE, (uintptr_t)v->value.type),
	                                  v->value.addr);
	size_t i = ids_known(&ids->by_place, key);

	if (i == SIZE_MAX) {
		i = ids->variables.n;
		if (i >= IDS_MAX)
			return 0;
		struct id_variables *kept = vec_push(&ids->variables);

		*kept = *v;
		kept->name = v->name ? arena_strdup(&ids->stop_arena, v->name) : NULL;
		ids_keep(&ids->by_place, key, i);
	}
	return (int)i + 1;
}

const struct id_variables *ids_variables(const struct ids *ids, int64_t number)
{
	return number > 0 && number <= (int64_t)ids->variables.n ? &ids->variables.data[number - 1]
	                                                         : NULL;
}

int ids_of_location(struct ids *ids, const struct id_location *l)
{
	if (ids->locations.n >= IDS_MAX)
		return 0;
	*vec_push(&ids->locations) = (struct id_location){
		.path = arena_strdup(&ids->stop_arena, l->path),
		.line = l->line,
		.library = l->library,
	};
	return (int)ids->locations.n;
}

const struct id_location *ids_location(const struct ids *ids, int64_t number)
{
	return number > 0 && number <= (int64_t)ids->locations.n ? &ids->locations.data[number - 1]
	                                                         : NULL;
}

void ids_forget(struct ids *ids)
{
	ids->frames.n = ids->variables.n = ids->locations.n = 0;
	map_clear(&ids->by_place);
	arena_free(&ids->stop_arena);
}

void ids_free(struct ids *ids)
{
	vec_free(&ids->threads);
	vec_free(&ids->tasks);
	vec_free(&ids->groups);
	vec_free(&ids->frames);
	vec_free(&ids->variables);
	vec_free(&ids->locations);
	map_free(&ids->by_key);
	map_free(&ids->by_place);
	arena_free(&ids->arena);
	arena_free(&ids->stop_arena);
}
