#include "runtimes/trace/task_samples.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "runtimes/trace/snapshot_place.h"
#include "runtimes/trace/task_table.h"

struct task_samples {
	task_span_fn *visit;
	task_samples_off_fn *off;
	void *arg;
	uint64_t from, to;           /* of this sample */
	struct task_table tasks;     /* row: the index of its slot */
	VEC(struct task_span) slots; /* task 0: unused; the last span of the others */
	VEC(uint32_t) unused;
	struct map types; /* key -> the text */
	struct snapshot_places places;
};

struct task_samples *task_samples_new(task_span_fn *visit, task_samples_off_fn *off, void *arg)
{
	struct task_samples *t = alloc_zeroed(sizeof(*t));

	t->visit = visit;
	t->off = off;
	t->arg = arg;
	return t;
}

void task_samples_free(struct task_samples *t)
{
	if (!t)
		return;
	task_table_free(&t->tasks);
	vec_free(&t->slots);
	vec_free(&t->unused);
	map_free(&t->types);
	snapshot_place_free(&t->places);
	free(t);
}

/* A text that lives as long as t. */
static const char *type_of(struct task_samples *t, const char *type)
{
	if (!type)
		return NULL;
	uint64_t key = map_key_of_text(type);
	char *known = map_get(&t->types, key);

	if (!known) {
		known = arena_strdup(&t->places.arena, type);
		map_put(&t->types, key, known);
	}
	return known;
}

/* The slot of a task. NULL: there are too many. */
static struct task_span *slot_of(struct task_samples *t, uint64_t id)
{
	struct task_entry *entry = task_table_find(&t->tasks, id);
	uint32_t slot;

	if (entry)
		return &t->slots.data[entry->row];
	if (t->tasks.n >= TASK_SPANS_TASKS)
		return NULL;
	if (t->unused.n) {
		slot = t->unused.data[--t->unused.n];
	} else {
		slot = (uint32_t)t->slots.n;
		vec_push(&t->slots);
	}
	task_table_add(&t->tasks, id)->row = slot;
	t->slots.data[slot] = (struct task_span){ .task = id, .slot = slot };
	return &t->slots.data[slot];
}

/* Passes the span of a task in this sample. thread: its number; 0: none. */
static void pass(struct task_samples *t, const struct snapshot *s, const struct task_span *span,
                 unsigned thread)
{
	struct task_span *slot = span->task ? slot_of(t, span->task) : NULL;
	const struct thread_info *th = thread ? snapshot_thread(s, thread) : NULL;
	bool off = false;

	if (!slot || slot->to == t->to)
		return; /* it was seen in this sample already, when it moved */
	uint32_t number = slot->slot;
	*slot = *span;
	slot->slot = number;
	slot->began = slot->from = t->from;
	slot->to = t->to;
	slot->open = true;
	if (slot->doing == DOING_POLLING && th) {
		slot->tid = th->tid;
		slot->off_known = t->off(th->tid, &off, t->arg);
		slot->off_ns = off ? t->to - t->from : 0;
	}
	t->visit(slot, t->arg);
}

static void add_task(struct task_samples *t, const struct snapshot *s, const struct task *task)
{
	static const enum task_doing doing[] = {
		[TASK_IDLE] = DOING_WAITING,
		[TASK_SCHEDULED] = DOING_RUNNABLE,
		[TASK_RUNNING] = DOING_POLLING,
	};

	if (task->state > TASK_RUNNING)
		return;
	struct task_span span = { .task = task->number,
		                  .type = type_of(t, task->type),
		                  .job = TRACE_TASK,
		                  .doing = doing[task->state] };
	if (task->root && !task->changed && task->state != TASK_RUNNING)
		span.place = snapshot_place(&t->places, task);
	pass(t, s, &span, task->thread);
}

static void add_job(struct task_samples *t, const struct snapshot *s, const struct job *job)
{
	const struct task_span span = { .task = job->id ? strtoull(job->id, NULL, 10) : 0,
		                        .type = type_of(t, job->type),
		                        .job = TRACE_BLOCKING,
		                        .doing = job->thread ? DOING_POLLING : DOING_RUNNABLE };

	pass(t, s, &span, job->thread);
}

/* Tasks that are not there any more. */
static void end_others(struct task_samples *t)
{
	for (size_t i = 0; i < t->slots.n; i++) {
		struct task_span *slot = &t->slots.data[i];

		if (!slot->task || slot->to == t->to)
			continue;
		task_table_remove(&t->tasks, task_table_find(&t->tasks, slot->task));
		slot->task = 0;
		*vec_push(&t->unused) = (uint32_t)i;
	}
}

void task_samples_add(struct task_samples *t, const struct snapshot *s, uint64_t from, uint64_t to)
{
	t->from = from;
	t->to = to;
	for (size_t i = 0; i < s->ntasks; i++)
		add_task(t, s, s->tasks[i]);
	for (size_t i = 0; i < s->njobs; i++)
		add_job(t, s, &s->jobs[i]);
	end_others(t);
}
