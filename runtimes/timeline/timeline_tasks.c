/* The activity of each task of a timeline, and its spans. */
#include <stdlib.h>
#include <string.h>

#include "runtimes/model/model.h"
#include "runtimes/timeline/snapshot_span.h"
#include "runtimes/timeline/timeline_private.h"
#include "runtimes/trace/trace_key.h"

void timeline_tasks_free(struct timeline_tasks *t)
{
	task_slots_free(&t->tasks);
	vec_free(&t->slots);
	vec_free(&t->unseen);
	snapshot_place_free(&t->places);
	map_free(&t->types);
	arena_free(&t->arena);
}

void timeline_measure(struct timeline *tl, timeline_off_fn *off, void *arg)
{
	tl->tasks.off = off;
	tl->tasks.off_arg = arg;
}

size_t timeline_alive(const struct timeline *tl)
{
	return tl->tasks.tasks.tasks.n;
}

size_t timeline_alive_of(const struct timeline *tl, enum trace_job job)
{
	return tl->tasks.alive[job];
}

/* ---- spans ---- */

/* Passes the activity of the task up to a time. */
static void timeline_tasks_pass(struct timeline_tasks *t, struct followed *f, struct moment to,
                                bool exact)
{
	struct task_span *span = &f->span;

	span->to = moment_later(to, span->from);
	if (moment_same(span->to, span->from) && !moment_before(t->begin, span->began) &&
	    !span->last)
		return; /* it has ended before the beginning */
	if (span->off_ns > moment_between(span->from, span->to))
		span->off_ns = moment_between(span->from, span->to);
	span->began_exact = span->exact;
	span->exact &= exact;
	span->late = !exact && !span->open;
	if (t->visit)
		t->visit(span, t->arg);
	span->exact = span->began_exact;
	span->off_ns = 0;
	span->off_known = false;
}

/* Sets off_ns when a poll ends or is cut; off: the off-CPU time of the thread by then. */
static void set_off(struct followed *f, uint64_t off)
{
	f->span.off_known = f->off_known && off >= f->off;
	f->span.off_ns = f->span.off_known ? clock_between(f->off, off) : 0;
	f->off = off;
}

/* set_off() for a poll whose end was not seen: the time up to now. */
static void timeline_tasks_read_off(struct timeline_tasks *t, struct followed *f)
{
	uint64_t off;

	if (t->off && f->span.doing == DOING_POLLING && t->off(f->span.tid, &off, t->off_arg))
		set_off(f, off);
	else
		f->off_known = false;
}

/* Changes the activity of the task from a time on. */
static void timeline_tasks_turn(struct timeline_tasks *t, struct followed *f, enum task_doing doing,
                                struct moment time, bool exact)
{
	struct task_span *span = &f->span;

	time = moment_later(time, span->from);
	timeline_tasks_pass(t, f, time, exact);
	span->doing = doing;
	span->began = span->from = time;
	span->exact = exact && moment_before(t->begin, time);
	span->resumed = NULL;
	span->tid = 0;
	span->by = 0;
	f->unseen = false;
	span->again = span->spawned = false;
}

static void timeline_tasks_make_runnable(struct timeline_tasks *t, struct followed *f,
                                         struct moment time, pid_t tid, uint64_t by, bool exact)
{
	timeline_tasks_turn(t, f, DOING_RUNNABLE, time, exact);
	f->span.tid = tid;
	f->span.by = by;
}

void timeline_cut(struct timeline *tl, uint64_t time)
{
	struct timeline_tasks *t = &tl->tasks;
	const struct moment to = moment_at(time);

	for (size_t i = 0; i < t->slots.n; i++) {
		struct followed *f = &t->slots.data[i];

		if (!f->span.task || !moment_before(f->span.from, to))
			continue;
		f->span.open = true;
		timeline_tasks_read_off(t, f);
		timeline_tasks_pass(t, f, to, false);
		f->span.open = false;
		f->span.from = to;
	}
}

void timeline_each_task(const struct timeline *tl, task_span_fn *visit, void *arg)
{
	for (size_t i = 0; i < tl->tasks.slots.n; i++) {
		struct task_span span = tl->tasks.slots.data[i].span;

		if (!span.task)
			continue;
		span.open = true;
		span.began_exact = span.exact;
		span.exact = false;
		visit(&span, arg);
	}
}

void timeline_tasks_lost(struct timeline_tasks *t, uint64_t time)
{
	for (size_t i = 0; i < t->slots.n; i++) {
		struct followed *f = &t->slots.data[i];

		if (!f->span.task)
			continue;
		timeline_tasks_turn(t, f, DOING_UNKNOWN, moment_at(time), false);
		f->span.place = NULL;
		f->woken = f->ending = false;
	}
}

/* ---- tasks ---- */

/* NULL: there are too many. */
static struct followed *timeline_tasks_follow(struct timeline_tasks *t, uint64_t id,
                                              const char *type, enum trace_job job,
                                              struct moment time)
{
	if (t->tasks.tasks.n >= TIMELINE_TASKS) {
		t->untracked++;
		return NULL;
	}
	time = moment_later(time, t->begin);
	uint32_t slot = task_slots_add(&t->tasks, id);
	if (slot == t->slots.n)
		vec_push(&t->slots);
	t->alive[job]++;
	t->slots.data[slot] = (struct followed){
		.span = { .task = id,
		          .slot = slot,
		          .type = type,
		          .job = job,
		          .began = time,
		          .from = time },
	};
	return &t->slots.data[slot];
}

static struct followed *timeline_tasks_find(const struct timeline_tasks *t, uint64_t id)
{
	uint32_t slot;

	return task_slots_find(&t->tasks, id, &slot) ? &t->slots.data[slot] : NULL;
}

const char *timeline_type(const struct timeline *tl, uint64_t id)
{
	const struct followed *f = timeline_tasks_find(&tl->tasks, id);

	return f ? f->span.type : NULL;
}

static void timeline_tasks_end_task(struct timeline_tasks *t, struct followed *f,
                                    struct moment time, bool exact)
{
	uint64_t id = f->span.task;

	f->span.last = true;
	timeline_tasks_pass(t, f, time, exact);
	f->span.task = 0;
	t->alive[f->span.job]--;
	f->unseen = false;
	task_slots_remove(&t->tasks, id);
}

/* ---- events ---- */

static void timeline_tasks_spawn(struct timeline_tasks *t, const struct trace_item *item)
{
	if (!item->task || timeline_tasks_find(t, item->task))
		return;
	struct followed *f =
		timeline_tasks_follow(t, item->task, item->type, item->job, moment_at(item->time));
	if (!f)
		return;
	f->span.doing = DOING_RUNNABLE;
	f->span.exact = !item->late;
	f->span.spawned = true;
	f->span.tid = item->tid;
	f->span.by = item->by;
}

/* The poll of a task has ended, at that time or before. */
static void end_unseen(struct timeline_tasks *t, struct followed *f, struct moment time)
{
	timeline_tasks_read_off(t, f);
	if (f->woken)
		timeline_tasks_make_runnable(t, f, time, f->woken_on, f->woken_by, false);
	else
		timeline_tasks_turn(t, f, DOING_WAITING, time, false);
	f->woken = false;
}

static void drop_seen(struct timeline_tasks *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->unseen.n; i++) {
		if (t->slots.data[t->unseen.data[i]].unseen)
			t->unseen.data[n++] = t->unseen.data[i];
	}
	t->unseen.n = n;
}

/* Ends the poll that a thread was in before the trace: it polls another task now. */
static void end_unseen_on(struct timeline_tasks *t, pid_t tid, uint64_t task, struct moment time)
{
	for (size_t i = 0; i < t->unseen.n; i++) {
		struct followed *f = &t->slots.data[t->unseen.data[i]];

		if (f->unseen && f->span.tid == tid && f->span.task != task)
			end_unseen(t, f, time);
	}
	drop_seen(t);
}

static const struct task *timeline_tasks_task_of(const struct snapshot *s, uint64_t key)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		if (trace_key(s->tasks[i]) == key)
			return s->tasks[i];
	}
	return NULL;
}

size_t timeline_unseen(const struct timeline *tl)
{
	return tl->tasks.unseen.n;
}

void timeline_look(struct timeline *tl, const struct snapshot *s, uint64_t time)
{
	struct timeline_tasks *t = &tl->tasks;

	for (size_t i = 0; i < t->unseen.n; i++) {
		struct followed *f = &t->slots.data[t->unseen.data[i]];
		const struct task *task =
			f->unseen ? timeline_tasks_task_of(s, f->span.task) : NULL;

		if (task && task->state != TASK_RUNNING)
			end_unseen(t, f, moment_at(time));
	}
	drop_seen(t);
}

static void timeline_tasks_start_poll(struct timeline_tasks *t, struct followed *f,
                                      const struct trace_item *item)
{
	if (item->type)
		f->span.type = item->type;
	timeline_tasks_turn(t, f, DOING_POLLING, moment_at(item->time), true);
	f->span.resumed = f->span.place;
	f->off = item->off_ns;
	f->off_known = t->off;
	f->span.tid = item->tid;
	f->woken = f->ending = false;
}

static void timeline_tasks_end_poll(struct timeline_tasks *t, struct followed *f,
                                    const struct trace_item *item)
{
	/* Another thread may have begun the next poll already. */
	if (f->span.doing == DOING_POLLING && f->span.tid != item->tid)
		return;
	if (f->span.doing == DOING_POLLING)
		set_off(f, item->off_ns);
	f->span.place = item->place;
	f->span.again = f->woken;
	if (item->ready || f->ending)
		timeline_tasks_end_task(t, f, moment_at(item->time), !item->late);
	else if (f->woken)
		timeline_tasks_make_runnable(t, f, moment_at(item->time), f->woken_on, f->woken_by,
		                             !item->late);
	else
		timeline_tasks_turn(t, f, DOING_WAITING, moment_at(item->time), !item->late);
	f->woken = false;
}

static void timeline_tasks_wake(struct timeline_tasks *t, struct followed *f,
                                const struct trace_item *item)
{
	if (f->span.doing == DOING_POLLING) {
		f->woken_on = item->tid;
		f->woken_by = item->by;
		f->woken = true;
	} else if (f->span.doing != DOING_RUNNABLE) {
		timeline_tasks_make_runnable(t, f, moment_at(item->time), item->tid, item->by,
		                             true);
	}
}

void timeline_tasks_add(struct timeline_tasks *t, const struct trace_item *item)
{
	if (item->job == TRACE_WORKER)
		return;
	if (item->event == TRACE_SPAWN) {
		timeline_tasks_spawn(t, item);
		return;
	}
	if (t->unseen.n && item->event == TRACE_POLL_START && !item->by)
		end_unseen_on(t, item->tid, item->task, moment_at(item->time));
	struct followed *f = timeline_tasks_find(t, item->task);
	if (!f)
		return;
	switch (item->event) {
	case TRACE_POLL_START:
		timeline_tasks_start_poll(t, f, item);
		break;
	case TRACE_POLL_END:
		timeline_tasks_end_poll(t, f, item);
		break;
	case TRACE_WAKE:
		timeline_tasks_wake(t, f, item);
		break;
	case TRACE_TERMINATE:
		/*
		 * The task ends within its last poll, the end of which is yet to come. A job has
		 * one poll, and does nothing afterwards; its end may be seen only when its thread
		 * has the next one, perhaps minutes later.
		 */
		if (f->span.doing == DOING_POLLING && !f->unseen && f->span.job != TRACE_BLOCKING) {
			f->ending = true;
			break;
		}
		timeline_tasks_read_off(t, f);
		timeline_tasks_end_task(t, f, moment_at(item->time), true);
		break;
	default:
		break;
	}
}

/* ---- the first snapshot ---- */

static void timeline_tasks_note_unseen(struct timeline_tasks *t, struct followed *f)
{
	f->unseen = true;
	f->off_known = t->off && t->off(f->span.tid, &f->off, t->off_arg);
	*vec_push(&t->unseen) = f->span.slot;
}

/* A snapshot shares the names of types between its tasks. */
static const char *copy_type(struct timeline_tasks *t, const char *type)
{
	if (!type)
		return NULL;
	const char *copy = map_get(&t->types, (uintptr_t)type);
	if (!copy) {
		char *own = arena_strdup(&t->arena, type);
		map_put(&t->types, (uintptr_t)type, own);
		copy = own;
	}
	return copy;
}

/* now: the task's activity in the snapshot. NULL: there are too many, or it is followed already. */
static struct followed *begin_span(struct timeline_tasks *t, const struct task_span *now)
{
	struct followed *f = timeline_tasks_find(t, now->task)
	                             ? NULL
	                             : timeline_tasks_follow(t, now->task, copy_type(t, now->type),
	                                                     now->job, t->begin);

	if (!f)
		return NULL;
	f->span.doing = now->doing;
	f->span.tid = now->tid;
	if (now->doing == DOING_POLLING)
		timeline_tasks_note_unseen(t, f);
	return f;
}

static void begin_task(struct timeline_tasks *t, const struct snapshot *s, const struct task *task)
{
	struct task_span now;
	struct followed *f = snapshot_span(s, task, &now) ? begin_span(t, &now) : NULL;

	if (!f)
		return;
	f->woken = task->notified;
	f->span.place = snapshot_place(&t->places, task);
}

void timeline_tasks_begin(struct timeline_tasks *t, const struct snapshot *s, uint64_t time)
{
	t->begin = moment_at(time);
	for (size_t i = 0; i < s->ntasks; i++)
		begin_task(t, s, s->tasks[i]);
	for (size_t i = 0; i < s->njobs; i++) {
		struct task_span now;

		if (snapshot_span_of_job(s, &s->jobs[i], &now))
			begin_span(t, &now);
	}
}
