#include "runtimes/timeline/task_samples.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "runtimes/places/snapshot_place.h"
#include "runtimes/timeline/snapshot_span.h"
#include "runtimes/timeline/task_slots.h"
#include "runtimes/timeline/timeline.h"

struct task_samples {
	task_span_fn *visit;
	task_samples_off_fn *off;
	void *arg;
	struct moment from, to; /* of this sample */
	uint64_t untracked;     /* tasks of the last sample */
	struct task_slots tasks;
	VEC(struct task_span) slots; /* task 0: unused; the last span of the others */
	struct map types;            /* key -> the text */
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
	task_slots_free(&t->tasks);
	vec_free(&t->slots);
	map_free(&t->types);
	snapshot_place_free(&t->places);
	free(t);
}

/* A text that lives as long as t. */
static const char *task_samples_type_of(struct task_samples *t, const char *type)
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
static struct task_span *task_samples_slot_of(struct task_samples *t, uint64_t id)
{
	uint32_t slot;

	if (task_slots_find(&t->tasks, id, &slot))
		return &t->slots.data[slot];
	if (t->tasks.tasks.n >= TIMELINE_TASKS)
		return NULL;
	slot = task_slots_add(&t->tasks, id);
	if (slot == t->slots.n)
		vec_push(&t->slots);
	t->slots.data[slot] = (struct task_span){ .task = id, .slot = slot };
	return &t->slots.data[slot];
}

/*
 * Passes the span of a task in this sample; now: its activity in the snapshot. unplaced: a task
 * without a place has one, which is unknown.
 */
static void task_samples_pass(struct task_samples *t, const struct task_span *now,
                              const struct trace_place *place, bool unplaced)
{
	struct task_span *span = task_samples_slot_of(t, now->task);
	bool off = false;

	if (!span) {
		t->untracked++;
		return;
	}
	if (moment_same(span->to, t->to))
		return; /* it was seen in this sample already, when it moved */
	uint32_t slot = span->slot;
	*span = *now;
	span->type = task_samples_type_of(t, now->type);
	span->place = place;
	span->unplaced = unplaced && !place;
	span->slot = slot;
	span->began = span->from = t->from;
	span->to = t->to;
	span->open = true;
	if (now->doing == DOING_POLLING && now->tid && t->off) {
		span->off_known = t->off(now->tid, &off, t->arg);
		span->off_ns = off ? moment_between(t->from, t->to) : 0;
	}
	t->visit(span, t->arg);
}

/* Tasks that are not there any more. */
static void task_samples_end_others(struct task_samples *t)
{
	for (size_t i = 0; i < t->slots.n; i++) {
		struct task_span *slot = &t->slots.data[i];

		if (!slot->task || moment_same(slot->to, t->to))
			continue;
		task_slots_remove(&t->tasks, slot->task);
		slot->task = 0;
	}
}

void task_samples_add(struct task_samples *t, const struct snapshot *s, uint64_t from, uint64_t to)
{
	struct task_span now;

	t->from = moment_at(from);
	t->to = moment_at(to);
	t->untracked = 0;
	for (size_t i = 0; i < s->ntasks; i++) {
		if (snapshot_span(s, s->tasks[i], &now))
			task_samples_pass(t, &now, snapshot_place(&t->places, s->tasks[i]),
			                  snapshot_place_is_unknown(s->tasks[i]));
		else if (!s->tasks[i]->number && s->tasks[i]->state <= TASK_RUNNING)
			t->untracked++;
	}
	for (size_t i = 0; i < s->njobs; i++) {
		if (snapshot_span_of_job(s, &s->jobs[i], &now))
			task_samples_pass(t, &now, NULL, false);
		else
			t->untracked++;
	}
	task_samples_end_others(t);
}

uint64_t task_samples_untracked(const struct task_samples *t)
{
	return t->untracked;
}
