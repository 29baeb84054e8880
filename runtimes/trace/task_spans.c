#include "runtimes/trace/task_spans.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/base/clock.h"
#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/model/model.h"
#include "runtimes/places/snapshot_place.h"
#include "runtimes/trace/snapshot_span.h"
#include "runtimes/trace/task_slots.h"
#include "runtimes/trace/trace_key.h"

struct followed {
	struct task_span span; /* the one that is open; its place is that where it waits last */
	uint64_t off;          /* of its thread, when the poll began or was cut */
	bool off_known;
	bool woken;  /* while it was polled */
	bool ending; /* likewise */
	bool unseen; /* its poll began before the trace: its end will not be seen */
	pid_t woken_on;
	uint64_t woken_by;
};

struct task_spans {
	task_span_fn *visit;
	void *arg;
	task_spans_off_fn *off; /* NULL: not measured */
	void *off_arg;
	struct moment begin;
	uint64_t untracked;
	size_t alive[TRACE_NJOBS]; /* by enum trace_job */
	struct task_slots tasks;
	VEC(struct followed) slots;
	VEC(uint32_t) unseen;          /* slots of tasks whose poll began before the trace */
	struct snapshot_places places; /* of the first snapshot */
	struct map types;              /* of the first snapshot: where it has a name -> our copy */
	struct arena arena;
};

struct task_spans *task_spans_new(task_span_fn *visit, void *arg)
{
	struct task_spans *t = alloc_zeroed(sizeof(*t));

	t->visit = visit;
	t->arg = arg;
	return t;
}

void task_spans_measure(struct task_spans *t, task_spans_off_fn *off, void *arg)
{
	t->off = off;
	t->off_arg = arg;
}

void task_spans_free(struct task_spans *t)
{
	if (!t)
		return;
	task_slots_free(&t->tasks);
	vec_free(&t->slots);
	vec_free(&t->unseen);
	snapshot_place_free(&t->places);
	map_free(&t->types);
	arena_free(&t->arena);
	free(t);
}

void task_spans_freep(struct task_spans **t)
{
	task_spans_free(*t);
}

size_t task_spans_alive(const struct task_spans *t)
{
	return t->tasks.tasks.n;
}

size_t task_spans_alive_of(const struct task_spans *t, enum trace_job job)
{
	return t->alive[job];
}

uint64_t task_spans_untracked(const struct task_spans *t)
{
	return t->untracked;
}

/* ---- spans ---- */

/* Passes what the task did up to a time. */
static void pass(struct task_spans *t, struct followed *f, struct moment to, bool exact)
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
	t->visit(span, t->arg);
	span->exact = span->began_exact;
	span->off_ns = 0;
	span->off_known = false;
}

/* The poll ends, or is cut, when its thread was off its processor for that long. */
static void set_off(struct followed *f, uint64_t off)
{
	f->span.off_known = f->off_known && off >= f->off;
	f->span.off_ns = f->span.off_known ? clock_between(f->off, off) : 0;
	f->off = off;
}

/* The same for a poll whose end was not seen: how long it was up to now. */
static void read_off(struct task_spans *t, struct followed *f)
{
	uint64_t off;

	if (t->off && f->span.doing == DOING_POLLING && t->off(f->span.tid, &off, t->off_arg))
		set_off(f, off);
	else
		f->off_known = false;
}

/* The task does something else from a time on. */
static void turn(struct task_spans *t, struct followed *f, enum task_doing doing,
                 struct moment time, bool exact)
{
	struct task_span *span = &f->span;

	time = moment_later(time, span->from);
	pass(t, f, time, exact);
	span->doing = doing;
	span->began = span->from = time;
	span->exact = exact && moment_before(t->begin, time);
	span->resumed = NULL;
	span->tid = 0;
	span->by = 0;
	f->unseen = false;
	span->again = span->spawned = false;
}

static void make_runnable(struct task_spans *t, struct followed *f, struct moment time, pid_t tid,
                          uint64_t by, bool exact)
{
	turn(t, f, DOING_RUNNABLE, time, exact);
	f->span.tid = tid;
	f->span.by = by;
}

void task_spans_cut(struct task_spans *t, uint64_t time)
{
	const struct moment to = moment_at(time);

	for (size_t i = 0; i < t->slots.n; i++) {
		struct followed *f = &t->slots.data[i];

		if (!f->span.task || !moment_before(f->span.from, to))
			continue;
		f->span.open = true;
		read_off(t, f);
		pass(t, f, to, false);
		f->span.open = false;
		f->span.from = to;
	}
}

void task_spans_lost(struct task_spans *t, uint64_t time)
{
	for (size_t i = 0; i < t->slots.n; i++) {
		struct followed *f = &t->slots.data[i];

		if (!f->span.task)
			continue;
		turn(t, f, DOING_UNKNOWN, moment_at(time), false);
		f->span.place = NULL;
		f->woken = f->ending = false;
	}
}

/* ---- tasks ---- */

/* NULL: there are too many. */
static struct followed *follow(struct task_spans *t, uint64_t id, const char *type,
                               enum trace_job job, struct moment time)
{
	if (t->tasks.tasks.n >= TASK_SPANS_TASKS) {
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

static struct followed *find(const struct task_spans *t, uint64_t id)
{
	uint32_t slot;

	return task_slots_find(&t->tasks, id, &slot) ? &t->slots.data[slot] : NULL;
}

const char *task_spans_type(const struct task_spans *t, uint64_t id)
{
	const struct followed *f = find(t, id);

	return f ? f->span.type : NULL;
}

static void end_task(struct task_spans *t, struct followed *f, struct moment time, bool exact)
{
	uint64_t id = f->span.task;

	f->span.last = true;
	pass(t, f, time, exact);
	f->span.task = 0;
	t->alive[f->span.job]--;
	f->unseen = false;
	task_slots_remove(&t->tasks, id);
}

/* ---- events ---- */

static void spawn(struct task_spans *t, const struct trace_item *item)
{
	if (!item->task || find(t, item->task))
		return;
	struct followed *f = follow(t, item->task, item->type, item->job, moment_at(item->time));
	if (!f)
		return;
	f->span.doing = DOING_RUNNABLE;
	f->span.exact = !item->late;
	f->span.spawned = true;
	f->span.tid = item->tid;
	f->span.by = item->by;
}

/* The poll of a task has ended, at that time or before. */
static void end_unseen(struct task_spans *t, struct followed *f, struct moment time)
{
	read_off(t, f);
	if (f->woken)
		make_runnable(t, f, time, f->woken_on, f->woken_by, false);
	else
		turn(t, f, DOING_WAITING, time, false);
	f->woken = false;
}

static void drop_seen(struct task_spans *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->unseen.n; i++) {
		if (t->slots.data[t->unseen.data[i]].unseen)
			t->unseen.data[n++] = t->unseen.data[i];
	}
	t->unseen.n = n;
}

/* A thread polls a task, and so none that it polled before the trace. */
static void end_unseen_on(struct task_spans *t, pid_t tid, uint64_t task, struct moment time)
{
	for (size_t i = 0; i < t->unseen.n; i++) {
		struct followed *f = &t->slots.data[t->unseen.data[i]];

		if (f->unseen && f->span.tid == tid && f->span.task != task)
			end_unseen(t, f, time);
	}
	drop_seen(t);
}

static const struct task *task_of(const struct snapshot *s, uint64_t key)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		if (trace_key(s->tasks[i]) == key)
			return s->tasks[i];
	}
	return NULL;
}

size_t task_spans_unseen(const struct task_spans *t)
{
	return t->unseen.n;
}

void task_spans_look(struct task_spans *t, const struct snapshot *s, uint64_t time)
{
	for (size_t i = 0; i < t->unseen.n; i++) {
		struct followed *f = &t->slots.data[t->unseen.data[i]];
		const struct task *task = f->unseen ? task_of(s, f->span.task) : NULL;

		if (task && task->state != TASK_RUNNING)
			end_unseen(t, f, moment_at(time));
	}
	drop_seen(t);
}

static void start_poll(struct task_spans *t, struct followed *f, const struct trace_item *item)
{
	if (item->type)
		f->span.type = item->type;
	turn(t, f, DOING_POLLING, moment_at(item->time), true);
	f->span.resumed = f->span.place;
	f->off = item->off_ns;
	f->off_known = t->off;
	f->span.tid = item->tid;
	f->woken = f->ending = false;
}

static void end_poll(struct task_spans *t, struct followed *f, const struct trace_item *item)
{
	/* Another thread may have begun the next poll already. */
	if (f->span.doing == DOING_POLLING && f->span.tid != item->tid)
		return;
	if (f->span.doing == DOING_POLLING)
		set_off(f, item->off_ns);
	f->span.place = item->place;
	f->span.again = f->woken;
	if (item->ready || f->ending)
		end_task(t, f, moment_at(item->time), !item->late);
	else if (f->woken)
		make_runnable(t, f, moment_at(item->time), f->woken_on, f->woken_by, !item->late);
	else
		turn(t, f, DOING_WAITING, moment_at(item->time), !item->late);
	f->woken = false;
}

static void wake(struct task_spans *t, struct followed *f, const struct trace_item *item)
{
	if (f->span.doing == DOING_POLLING) {
		f->woken_on = item->tid;
		f->woken_by = item->by;
		f->woken = true;
	} else if (f->span.doing != DOING_RUNNABLE) {
		make_runnable(t, f, moment_at(item->time), item->tid, item->by, true);
	}
}

void task_spans_add(struct task_spans *t, const struct trace_item *item)
{
	if (item->job == TRACE_WORKER)
		return;
	if (item->event == TRACE_SPAWN) {
		spawn(t, item);
		return;
	}
	if (t->unseen.n && item->event == TRACE_POLL_START && !item->by)
		end_unseen_on(t, item->tid, item->task, moment_at(item->time));
	struct followed *f = find(t, item->task);
	if (!f)
		return;
	switch (item->event) {
	case TRACE_POLL_START:
		start_poll(t, f, item);
		break;
	case TRACE_POLL_END:
		end_poll(t, f, item);
		break;
	case TRACE_WAKE:
		wake(t, f, item);
		break;
	case TRACE_TERMINATE:
		/*
		 * Within its last poll, the end of which is yet to come. A job has one poll, and
		 * does nothing thereafter; its end may be seen only when its thread has the next
		 * one, perhaps minutes later.
		 */
		if (f->span.doing == DOING_POLLING && !f->unseen && f->span.job != TRACE_BLOCKING) {
			f->ending = true;
			break;
		}
		read_off(t, f);
		end_task(t, f, moment_at(item->time), true);
		break;
	default:
		break;
	}
}

/* ---- the first snapshot ---- */

static void note_unseen(struct task_spans *t, struct followed *f)
{
	f->unseen = true;
	f->off_known = t->off && t->off(f->span.tid, &f->off, t->off_arg);
	*vec_push(&t->unseen) = f->span.slot;
}

/* A snapshot shares the names of types between its tasks. */
static const char *copy_type(struct task_spans *t, const char *type)
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

/* now: what the snapshot shows. NULL: there are too many, or it is followed already. */
static struct followed *begin_span(struct task_spans *t, const struct task_span *now)
{
	struct followed *f = find(t, now->task) ? NULL
	                                        : follow(t, now->task, copy_type(t, now->type),
	                                                 now->job, t->begin);

	if (!f)
		return NULL;
	f->span.doing = now->doing;
	f->span.tid = now->tid;
	if (now->doing == DOING_POLLING)
		note_unseen(t, f);
	return f;
}

static void begin_task(struct task_spans *t, const struct snapshot *s, const struct task *task)
{
	struct task_span now;
	struct followed *f = snapshot_span(s, task, &now) ? begin_span(t, &now) : NULL;

	if (!f)
		return;
	f->woken = task->notified;
	f->span.place = snapshot_place(&t->places, task);
}

void task_spans_begin(struct task_spans *t, const struct snapshot *s, uint64_t time)
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
