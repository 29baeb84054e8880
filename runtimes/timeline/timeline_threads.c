/* The threads of a timeline, and the calls that each of them is in. */
#include <stdlib.h>

#include "runtimes/model/model.h"
#include "runtimes/timeline/timeline_private.h"
#include "runtimes/trace/trace_key.h"

enum {
	MAX_DEPTH = 10,      /* calls that nest on a thread: those of polls, a park, a worker */
	FORGET_EVERY = 1024, /* look-ups without room between two searches for idle threads */
};

const struct timeline_load timeline_no_load = { .runtime = -1, .worker = -1, .row = -1 };

void timeline_threads_free(struct timeline_threads *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		vec_free(&t->list.data[i].calls);
	vec_free(&t->list);
	map_free(&t->index);
	arena_free(&t->names);
}

static bool timeline_threads_is_active(struct timeline_thread *th, void *arg)
{
	const struct timeline_load *l = &th->load;

	(void)arg;
	return th->calls.n || l->work != WORK_UNKNOWN || l->polls || l->parks || l->busy_ns ||
	       l->parked_ns;
}

void timeline_threads_keep(struct timeline_threads *t, timeline_thread_fn *keep, void *arg)
{
	size_t kept = 0, n = t->list.n;

	for (size_t i = 0; i < n; i++) {
		struct timeline_thread *th = &t->list.data[i];

		if (keep(th, arg))
			t->list.data[kept++] = *th;
		else
			vec_free(&th->calls);
	}
	t->list.n = kept;
	if (kept == n)
		return;
	map_clear(&t->index);
	for (size_t i = 0; i < kept; i++)
		map_put(&t->index, (uint64_t)t->list.data[i].tid, (void *)(uintptr_t)(i + 1));
}

struct timeline_thread *timeline_threads_find(const struct timeline_threads *t, pid_t tid)
{
	size_t index = (uintptr_t)map_get(&t->index, (uint64_t)tid);

	return index ? &t->list.data[index - 1] : NULL;
}

struct timeline_thread *timeline_threads_get(struct timeline_threads *t, pid_t tid)
{
	struct timeline_thread *th = timeline_threads_find(t, tid);

	if (th)
		return th;
	/* Many threads may have ended, as those of a pool do. */
	if (t->list.n == TIMELINE_THREADS && t->missed++ % FORGET_EVERY == 0)
		timeline_threads_keep(t, timeline_threads_is_active, NULL);
	if (t->list.n == TIMELINE_THREADS) {
		t->left_out = true;
		return NULL;
	}
	th = vec_push(&t->list);
	t->missed = 0;
	th->tid = tid;
	th->load = timeline_no_load;
	th->load.tid = tid;
	map_put(&t->index, (uint64_t)tid, (void *)(uintptr_t)t->list.n);
	return th;
}

static void timeline_threads_begin_call(struct timeline_thread *th, const struct trace_item *item)
{
	if (th->calls.n == MAX_DEPTH)
		return;
	vec_reserve(&th->calls, MAX_DEPTH);
	struct timeline_call *call = &th->calls.data[th->calls.n++];
	call->start = *item;
	call->unseen = false;
	call->marks = 0;
}

/* Ends the innermost call that began with such an event of that task, and those within it. */
static void timeline_threads_end_call(struct timeline_threads *t, struct timeline_thread *th,
                                      const struct trace_item *item, enum trace_event began)
{
	for (size_t i = th->calls.n; i-- > 0;) {
		const struct timeline_call *call = &th->calls.data[i];

		if (call->start.event != began ||
		    (began == TRACE_POLL_START && call->start.task != item->task))
			continue;
		t->ended = call;
		th->calls.n = i;
		return;
	}
}

/* The event that begins a call which such an event ends; TRACE_NEVENTS: it ends none. */
static enum trace_event timeline_threads_begun_by(enum trace_event event)
{
	switch (event) {
	case TRACE_POLL_END:
		return TRACE_POLL_START;
	case TRACE_UNPARK:
		return TRACE_PARK;
	case TRACE_WORKER_STOP:
		return TRACE_WORKER_START;
	default:
		return TRACE_NEVENTS;
	}
}

void timeline_threads_add(struct timeline_threads *t, const struct trace_item *item)
{
	enum trace_event began = timeline_threads_begun_by(item->event);
	bool ends = began != TRACE_NEVENTS;
	struct timeline_thread *th =
		ends ? timeline_threads_find(t, item->tid) : timeline_threads_get(t, item->tid);

	if (!th)
		return;
	/* A poll that began before the trace may have ended when its thread begins another. */
	if (th->calls.n && th->calls.data[0].unseen &&
	    (item->event == TRACE_POLL_START || item->event == TRACE_POLL_END))
		th->calls.n = 0;
	if (ends)
		timeline_threads_end_call(t, th, item, began);
	else
		timeline_threads_begin_call(th, item);
}

void timeline_threads_lost(struct timeline_threads *t)
{
	t->ended = NULL;
	for (size_t i = 0; i < t->list.n; i++) {
		struct timeline_thread *th = &t->list.data[i];

		th->calls.n = 0;
		th->load.work = WORK_UNKNOWN;
		th->load.busy_ns = th->load.parked_ns = 0;
	}
}

/* ---- the calls that go on ---- */

void timeline_each_call(struct timeline *tl, timeline_call_fn *visit, void *arg)
{
	for (size_t i = 0; i < tl->threads.list.n; i++) {
		struct timeline_thread *th = &tl->threads.list.data[i];

		for (size_t d = 0; d < th->calls.n; d++)
			visit(&th->calls.data[d], arg);
	}
}

struct timeline_call *timeline_poll(struct timeline *tl, const struct trace_item *start)
{
	struct timeline_thread *th = timeline_threads_find(&tl->threads, start->tid);

	for (size_t i = 0; th && i < th->calls.n; i++) {
		struct timeline_call *call = &th->calls.data[i];

		if (call->start.event == TRACE_POLL_START && call->start.task == start->task &&
		    call->start.time == start->time)
			return call;
	}
	return NULL;
}

const struct timeline_call *timeline_ended_call(const struct timeline *tl)
{
	return tl->threads.ended;
}

bool timeline_is_polling(const struct timeline *tl, pid_t tid)
{
	const struct timeline_thread *th = timeline_threads_find(&tl->threads, tid);

	for (size_t i = 0; th && i < th->calls.n; i++) {
		if (th->calls.data[i].start.event == TRACE_POLL_START)
			return true;
	}
	return false;
}

bool timeline_left_out(const struct timeline *tl)
{
	return tl->threads.left_out;
}

/* ---- the first snapshot ---- */

bool timeline_poll_of(const struct snapshot *s, const struct task *task, uint64_t time,
                      struct trace_item *ret)
{
	bool polled = task->state == TASK_RUNNING && trace_key(task) && task->thread;
	const struct thread_info *th = polled ? snapshot_thread(s, task->thread) : NULL;

	if (!th)
		return false;
	*ret = (struct trace_item){
		.event = TRACE_POLL_START,
		.time = time,
		.tid = th->tid,
		.worker = th->worker,
		.runtime = th->runtime,
		.task = trace_key(task),
		.type = task->type,
	};
	return true;
}

void timeline_begin_polls(struct timeline *tl, const struct snapshot *s, uint64_t time)
{
	for (size_t i = 0; i < s->ntasks; i++) {
		struct trace_item item;
		bool polled = timeline_poll_of(s, s->tasks[i], time, &item);
		struct timeline_thread *th =
			polled ? timeline_threads_get(&tl->threads, item.tid) : NULL;

		if (!th || th->calls.n)
			continue;
		if (item.type)
			item.type = arena_strdup(&tl->threads.names, item.type);
		*vec_push(&th->calls) = (struct timeline_call){ .start = item, .unseen = true };
	}
}
