#include "commands/top/top_rows.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/places/place_groups.h"
#include "runtimes/timeline/timeline.h"

/* A task that exists, by its slot. */
struct top_rows_slot {
	struct top_task task; /* id 0: none */
	const char *raw_type; /* as in its spans */
	struct top_stats *stats;
	uint64_t interval; /* of stats */
};

/* Data of one interval: one is that of the frame, the other one fills. */
struct interval {
	struct arena arena;
	VEC(struct top_ended) ended;
	struct map ended_rows; /* key of a type and a job -> index + 1 */
	uint64_t spawned, finished, polls, polled_ns, wakes;
	struct top_stats *spare; /* numbers of a task that has ended */
};

struct top_rows {
	struct timeline *timeline;
	VEC(struct top_rows_slot) slots;
	struct interval intervals[2];
	uint64_t number; /* of the interval that fills, from 1 */
	struct moment begin, began;
	uint64_t stall_ns;
	bool late_ends;
	struct map types;      /* pointers of spans -> the one that stands for all */
	struct map type_texts; /* texts of types, by hash -> the same */
	struct place_groups places;
	VEC(struct top_stall) stalls; /* a ring, of those that have ended */
	uint64_t nstalls,
		nshown; /* stalls that have ended so far; those of them that a frame has had */
	VEC(struct top_task) frame_tasks;
	VEC(struct top_stall) frame_stalls;
	struct top_frame frame;
};

static struct interval *top_rows_filling(struct top_rows *t)
{
	return &t->intervals[t->number % 2];
}

/* ---- equal types ---- */

static const char *one_type(struct top_rows *t, const char *type)
{
	const char *one = type ? map_get(&t->types, (uintptr_t)type) : NULL;

	if (one || !type)
		return one;
	uint64_t key = map_key_of_text(type);
	one = map_get(&t->type_texts, key);
	if (!one) {
		one = type;
		map_put(&t->type_texts, key, (void *)(uintptr_t)one);
	}
	map_put(&t->types, (uintptr_t)type, (void *)(uintptr_t)one);
	return one;
}

/* ---- activity of a task ---- */

static struct top_stats *stats_of(struct top_rows *t, struct top_rows_slot *slot)
{
	struct interval *now = top_rows_filling(t);

	if (slot->stats && slot->interval == t->number)
		return slot->stats;
	slot->stats = now->spare ? now->spare : NEW(&now->arena, struct top_stats);
	now->spare = NULL;
	slot->interval = t->number;
	return slot->stats;
}

/*
 * Counts a wake-up by a task. When more tasks wake it than have a place, each of them loses one:
 * what is left is the least that they have woken it.
 */
static void count_waker(struct top_stats *s, uint64_t by)
{
	struct top_waker *unused = NULL;

	for (size_t i = 0; i < TOP_WAKERS; i++) {
		struct top_waker *w = &s->wakers[i];

		if (w->wakes && w->task == by) {
			w->wakes++;
			return;
		}
		if (!w->wakes)
			unused = w;
	}
	if (unused) {
		*unused = (struct top_waker){ .task = by, .wakes = 1 };
		return;
	}
	for (size_t i = 0; i < TOP_WAKERS; i++)
		s->wakers[i].wakes--;
}

static void count_wake(struct top_rows *t, struct top_stats *s, const struct task_span *span)
{
	bool yielded = !span->by && span->place && span->place->yields;

	top_rows_filling(t)->wakes++;
	s->wakes++;
	s->own_wakes += yielded || span->by == span->task;
	s->no_task += !yielded && !span->by;
	if (span->by || yielded)
		count_waker(s, yielded ? span->task : span->by);
}

static void note_stall(struct top_rows *t, const struct task_span *span, const char *type)
{
	const struct top_stall stall = {
		.task = span->task,
		.type = type,
		.began = span->began,
		.ns = moment_between(span->began, span->to),
		.tid = span->tid,
		.place = span->place,
		.open = span->open,
	};

	if (span->open) {
		*vec_push(&t->frame_stalls) = stall;
		return;
	}
	if (t->stalls.n < TOP_STALLS)
		vec_push(&t->stalls);
	t->stalls.data[t->nstalls++ % TOP_STALLS] = stall;
}

static void top_rows_longer(uint64_t *longest, uint64_t ns)
{
	*longest = ns > *longest ? ns : *longest;
}

/* Whether a span is the first part of an activity that began within the trace. */
static bool top_rows_begins(const struct top_rows *t, const struct task_span *span)
{
	return moment_same(span->from, span->began) && moment_before(t->begin, span->began);
}

static void count_polling(struct top_rows *t, const struct task_span *span,
                          struct top_rows_slot *slot)
{
	struct top_stats *s = stats_of(t, slot);
	struct interval *now = top_rows_filling(t);
	/* A poll whose end was not seen has taken less, and may have been short. */
	bool bound = span->late || (span->open && t->late_ends);
	uint64_t ns = bound ? 0 : moment_between(span->began, span->to);

	if (top_rows_begins(t, span)) {
		s->polls++;
		now->polls++;
	}
	s->polled_ns += moment_between(span->from, span->to);
	now->polled_ns += moment_between(span->from, span->to);
	top_rows_longer(&s->poll_longest, ns);
	if (!span->open && span->exact)
		durations_add(&s->poll, &now->arena, ns);
	if (ns > t->stall_ns && span->job != TRACE_BLOCKING)
		note_stall(t, span, slot->task.type);
}

static void count_runnable(struct top_rows *t, const struct task_span *span,
                           struct top_rows_slot *slot)
{
	struct top_stats *s = stats_of(t, slot);
	uint64_t ns = moment_between(span->began, span->to);

	if (top_rows_begins(t, span) && !span->spawned)
		count_wake(t, s, span);
	s->runnable_ns += moment_between(span->from, span->to);
	top_rows_longer(&s->runnable_longest, ns);
	if (!span->open && span->exact)
		durations_add(&s->runnable, &top_rows_filling(t)->arena, ns);
}

/* ---- tasks that have ended ---- */

static void top_rows_add_stats(struct arena *a, struct top_stats *to, const struct top_stats *from)
{
	to->polls += from->polls;
	to->polled_ns += from->polled_ns;
	to->runnable_ns += from->runnable_ns;
	to->wakes += from->wakes;
	to->own_wakes += from->own_wakes;
	to->no_task += from->no_task;
	durations_merge(&to->poll, a, &from->poll);
	durations_merge(&to->runnable, a, &from->runnable);
	top_rows_longer(&to->poll_longest, from->poll_longest);
	top_rows_longer(&to->runnable_longest, from->runnable_longest);
}

static struct top_ended *ended_of(struct top_rows *t, const struct top_rows_slot *slot)
{
	struct interval *now = top_rows_filling(t);
	uint64_t key = map_key_of_pair((uintptr_t)slot->task.type + 1, slot->task.job);
	uintptr_t row = (uintptr_t)map_get(&now->ended_rows, key);

	if (row)
		return &now->ended.data[row - 1];
	struct top_ended *e = vec_push(&now->ended);
	e->type = slot->task.type;
	e->job = slot->task.job;
	map_put(&now->ended_rows, key, (void *)(uintptr_t)now->ended.n);
	return e;
}

/* to: when; one that was gone before the first frame began is in none. */
static void top_rows_end_task(struct top_rows *t, struct top_rows_slot *slot, struct moment to)
{
	struct interval *now = top_rows_filling(t);
	struct top_ended *e = ended_of(t, slot);

	e->n++;
	now->finished += moment_before(t->begin, to);
	if (slot->stats && slot->interval == t->number) {
		top_rows_add_stats(&now->arena, &e->stats, slot->stats);
		memset(slot->stats, 0, sizeof(*slot->stats));
		now->spare = slot->stats;
	}
	*slot = (struct top_rows_slot){ 0 };
}

static void top_rows_take_span(const struct task_span *span, void *arg)
{
	struct top_rows *t = arg;

	while (t->slots.n <= span->slot)
		vec_push(&t->slots);
	struct top_rows_slot *slot = &t->slots.data[span->slot];
	if (!slot->task.id || slot->raw_type != span->type)
		slot->task.type = one_type(t, span->type);
	slot->raw_type = span->type;
	slot->task.id = span->task;
	slot->task.job = span->job;
	slot->task.doing = span->doing;
	slot->task.since = span->began;
	slot->task.tid = span->tid;
	slot->task.place = span->place;
	if (span->spawned && top_rows_begins(t, span))
		top_rows_filling(t)->spawned++;
	if (span->doing == DOING_POLLING)
		count_polling(t, span, slot);
	else if (span->doing == DOING_RUNNABLE)
		count_runnable(t, span, slot);
	if (span->last)
		top_rows_end_task(t, slot, span->to);
}

/* ---- the frame ---- */

/* Places of later tasks may have shown that places of earlier ones are the same. */
static void group_places(struct top_rows *t)
{
	for (size_t i = 0; i < t->frame_tasks.n; i++) {
		struct top_task *task = &t->frame_tasks.data[i];

		task->group = place_groups_find(&t->places, task->place, 0);
	}
}

static void top_rows_take_tasks(struct top_rows *t)
{
	t->frame_tasks.n = 0;
	vec_reserve(&t->frame_tasks, timeline_alive(t->timeline));
	for (size_t i = 0; i < t->slots.n; i++) {
		const struct top_rows_slot *slot = &t->slots.data[i];

		if (!slot->task.id)
			continue;
		struct top_task *task = vec_push(&t->frame_tasks);
		*task = slot->task;
		place_groups_add(&t->places, task->place, 0);
		task->stats = slot->interval == t->number ? slot->stats : NULL;
	}
	group_places(t);
}

/* Adds the stalls that have ended; timeline_cut() has added those that go on. */
static void take_stalls(struct top_rows *t)
{
	for (uint64_t i = 0; i < t->stalls.n; i++)
		*vec_push(&t->frame_stalls) = t->stalls.data[(t->nstalls - 1 - i) % TOP_STALLS];
}

static void begin_interval(struct top_rows *t, uint64_t time)
{
	struct interval *now = &t->intervals[++t->number % 2];

	arena_reset(&now->arena);
	map_clear(&now->ended_rows);
	now->ended.n = 0;
	now->spawned = now->finished = now->polls = now->polled_ns = now->wakes = 0;
	now->spare = NULL;
	t->began = moment_at(time);
}

const struct top_frame *top_rows_cut(struct top_rows *t, uint64_t time)
{
	const struct interval *now = top_rows_filling(t);
	uint64_t open, fresh;

	t->frame_stalls.n = 0;
	timeline_cut(t->timeline, time);
	open = t->frame_stalls.n;
	top_rows_take_tasks(t);
	take_stalls(t);
	/*
	 * New stalls are counted in the order of reading: ends may be read a while after their
	 * time.
	 */
	fresh = t->nstalls - t->nshown;
	t->nshown = t->nstalls;
	t->frame = (struct top_frame){
		.began = t->began,
		.time = moment_at(time),
		.late_ends = t->late_ends,
		.tasks = t->frame_tasks.data,
		.n = t->frame_tasks.n,
		.ended = now->ended.data,
		.nended = now->ended.n,
		.spawned = now->spawned,
		.finished = now->finished,
		.polls = now->polls,
		.polled_ns = now->polled_ns,
		.wakes = now->wakes,
		.untracked = timeline_untracked(t->timeline),
		.stalls = t->frame_stalls.data,
		.nstalls = t->frame_stalls.n,
		.nfresh = fresh < t->stalls.n ? fresh : t->stalls.n,
		.stall_total = t->nstalls + open,
	};
	begin_interval(t, time);
	return &t->frame;
}

/* ---- the whole ---- */

struct top_rows *top_rows_new(uint64_t stall_ns)
{
	struct top_rows *t = alloc_zeroed(sizeof(*t));

	t->timeline = timeline_new(TIMELINE_SPANS, top_rows_take_span, t);
	t->stall_ns = stall_ns;
	return t;
}

void top_rows_late_ends(struct top_rows *t)
{
	t->late_ends = true;
}

void top_rows_free(struct top_rows *t)
{
	if (!t)
		return;
	timeline_free(t->timeline);
	for (size_t i = 0; i < 2; i++) {
		arena_free(&t->intervals[i].arena);
		vec_free(&t->intervals[i].ended);
		map_free(&t->intervals[i].ended_rows);
	}
	vec_free(&t->slots);
	vec_free(&t->stalls);
	vec_free(&t->frame_tasks);
	vec_free(&t->frame_stalls);
	map_free(&t->types);
	place_groups_free(&t->places);
	map_free(&t->type_texts);
	free(t);
}

void top_rows_freep(struct top_rows **t)
{
	top_rows_free(*t);
}

void top_rows_begin(struct top_rows *t, const struct snapshot *s, uint64_t time)
{
	t->begin = moment_at(time);
	begin_interval(t, time);
	timeline_begin(t->timeline, s, time);
}

void top_rows_add(struct top_rows *t, const struct trace_item *item)
{
	timeline_add(t->timeline, item);
}

void top_rows_lost(struct top_rows *t, uint64_t time)
{
	timeline_lost(t->timeline, time);
}

const char *top_rows_type(const struct top_rows *t, uint64_t id)
{
	return t ? timeline_type(t->timeline, id) : NULL;
}
