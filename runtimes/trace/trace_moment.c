#include "runtimes/trace/trace_moment.h"

#include <stdlib.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "debugger/base/vec.h"

enum { MAX_DEPTH = 10 /* calls that nest on a thread: those of polls, a park, a worker */ };

struct calling {
	pid_t tid;
	size_t depth;
	struct trace_item calls[MAX_DEPTH];
};

struct trace_moment {
	struct task_spans *tasks;
	task_span_fn *ended, *visit; /* visit NULL: tasks are not visited */
	void *ended_arg, *visit_arg;
	uint64_t latest;    /* time that is known */
	struct map threads; /* tid -> index + 1 */
	VEC(struct calling) list;
};

static void pass(const struct task_span *span, void *arg)
{
	struct trace_moment *m = arg;

	if (span->open && m->visit)
		m->visit(span, m->visit_arg);
	else if (!span->open && m->ended)
		m->ended(span, m->ended_arg);
}

struct trace_moment *trace_moment_new(task_span_fn *ended, void *arg)
{
	struct trace_moment *m = alloc_zeroed(sizeof(*m));

	m->ended = ended;
	m->ended_arg = arg;
	m->tasks = task_spans_new(pass, m);
	return m;
}

void trace_moment_free(struct trace_moment *m)
{
	if (!m)
		return;
	task_spans_free(m->tasks);
	map_free(&m->threads);
	vec_free(&m->list);
	free(m);
}

void trace_moment_freep(struct trace_moment **m)
{
	trace_moment_free(*m);
}

/* ---- threads ---- */

/* Forgets threads that are in no call. */
static void forget_idle(struct trace_moment *m)
{
	size_t n = 0;

	map_clear(&m->threads);
	for (size_t i = 0; i < m->list.n; i++) {
		if (!m->list.data[i].depth)
			continue;
		m->list.data[n++] = m->list.data[i];
		map_put(&m->threads, (uint64_t)m->list.data[n - 1].tid, (void *)(uintptr_t)n);
	}
	m->list.n = n;
}

static struct calling *calling_of(struct trace_moment *m, pid_t tid, bool add)
{
	size_t index = (uintptr_t)map_get(&m->threads, (uint64_t)tid);

	if (index || !add)
		return index ? &m->list.data[index - 1] : NULL;
	if (m->list.n == TRACE_MOMENT_THREADS)
		forget_idle(m);
	if (m->list.n == TRACE_MOMENT_THREADS)
		return NULL;
	vec_push(&m->list)->tid = tid;
	map_put(&m->threads, (uint64_t)tid, (void *)(uintptr_t)m->list.n);
	return &m->list.data[m->list.n - 1];
}

static void begin_call(struct trace_moment *m, const struct trace_item *item)
{
	struct calling *c = calling_of(m, item->tid, true);

	if (c && c->depth < MAX_DEPTH)
		c->calls[c->depth++] = *item;
}

/* Ends the innermost call that began with such an event of that task, and those within it. */
static void end_call(struct trace_moment *m, const struct trace_item *item, enum trace_event began)
{
	struct calling *c = calling_of(m, item->tid, false);

	for (size_t i = c ? c->depth : 0; i-- > 0;) {
		const struct trace_item *start = &c->calls[i];

		if (start->event != began ||
		    (began == TRACE_POLL_START && start->task != item->task))
			continue;
		c->depth = i;
		return;
	}
}

static void add_to_thread(struct trace_moment *m, const struct trace_item *item)
{
	switch (item->event) {
	case TRACE_POLL_START:
	case TRACE_PARK:
	case TRACE_WORKER_START:
		begin_call(m, item);
		break;
	case TRACE_POLL_END:
		end_call(m, item, TRACE_POLL_START);
		break;
	case TRACE_UNPARK:
		end_call(m, item, TRACE_PARK);
		break;
	case TRACE_WORKER_STOP:
		end_call(m, item, TRACE_WORKER_START);
		break;
	default:
		break;
	}
}

/* ---- events ---- */

void trace_moment_begin(struct trace_moment *m, const struct snapshot *s, uint64_t time)
{
	m->latest = time;
	task_spans_begin(m->tasks, s, time);
}

void trace_moment_add(struct trace_moment *m, const struct trace_item *item)
{
	m->latest = item->time > m->latest ? item->time : m->latest;
	add_to_thread(m, item);
	task_spans_add(m->tasks, item);
}

void trace_moment_lost(struct trace_moment *m, uint64_t time)
{
	m->latest = time > m->latest ? time : m->latest;
	m->list.n = 0;
	map_clear(&m->threads);
	task_spans_lost(m->tasks, time);
}

size_t trace_moment_alive(const struct trace_moment *m, enum trace_job job)
{
	return task_spans_alive_of(m->tasks, job);
}

void trace_moment_tasks(struct trace_moment *m, task_span_fn *visit, void *arg)
{
	m->visit = visit;
	m->visit_arg = arg;
	/* Behind all that is known, so that no task is left out. */
	task_spans_cut(m->tasks, ++m->latest);
	m->visit = NULL;
}

void trace_moment_calls(const struct trace_moment *m, trace_moment_fn *visit, void *arg)
{
	for (size_t i = 0; i < m->list.n; i++) {
		const struct calling *c = &m->list.data[i];

		for (size_t d = 0; d < c->depth; d++)
			visit(&c->calls[d], arg);
	}
}
