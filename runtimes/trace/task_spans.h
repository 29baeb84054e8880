/*
 * What each task does, and for how long: events go in, spans of time come out. A task is polled,
 * is runnable (it was spawned or woken, and waits for a thread), or waits at an await.
 */
#ifndef RUNTIMES_TRACE_TASK_SPANS_H
#define RUNTIMES_TRACE_TASK_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/clock.h"
#include "runtimes/trace/trace.h"

struct snapshot;
struct task_spans;

enum task_doing {
	DOING_UNKNOWN, /* events were lost */
	DOING_RUNNABLE,
	DOING_POLLING,
	DOING_WAITING,
	NDOINGS,
};

enum { TASK_SPANS_TASKS = 1 << 20 /* tasks that are followed at a time */ };

struct task_span {
	uint64_t task;    /* its id */
	uint32_t slot;    /* a small number that no other task has at that time */
	const char *type; /* lives as long as the trace or the spans; NULL: unknown */
	enum trace_job job;
	enum task_doing doing;
	struct moment began;
	struct moment from, to; /* from is later than began when the span was cut before */
	bool exact;             /* began and to are times of events that were seen themselves */
	bool began_exact;       /* began alone is */
	bool open;              /* it was cut: it goes on */
	bool late;              /* it has ended before to, when was not seen */
	bool last;              /* the task has ended with it */
	/*
	 * Where the task waits; of DOING_RUNNABLE where it has waited, and of DOING_POLLING where
	 * the poll ended. NULL: nowhere yet, or unknown.
	 */
	const struct trace_place *place;
	/* Of DOING_POLLING: where it has waited before. NULL: nowhere yet, or unknown. */
	const struct trace_place *resumed;
	/* The member above (of DOING_POLLING; else place) is NULL because the place is unknown. */
	bool unplaced;
	/*
	 * Of DOING_POLLING: for how long of it the thread was off its processor, in ns; where that
	 * is known.
	 */
	uint64_t off_ns;
	bool off_known;
	/*
	 * Of DOING_POLLING that has ended: woken meanwhile, and so polled again at once. Known
	 * where the trace has uses of wakers.
	 */
	bool again;
	bool spawned; /* of DOING_RUNNABLE: it is its first span, and nobody woke it */
	pid_t tid;    /* of DOING_POLLING: the thread that polls; of DOING_RUNNABLE: that woke it */
	uint64_t by;  /* of DOING_RUNNABLE: the id of the task that woke it; 0: none or unknown */
};

/* span is valid during the call. */
typedef void task_span_fn(const struct task_span *span, void *arg);

/* Each span is passed to visit when it has ended. Never NULL. */
struct task_spans *task_spans_new(task_span_fn *visit, void *arg);
/* NULL is allowed. */
void task_spans_free(struct task_spans *t);
void task_spans_freep(struct task_spans **t);

/*
 * Tells the tasks that exist: s is the snapshot that trace_know() was called with, and time (ns,
 * CLOCK_MONOTONIC) was taken thereafter. No span begins before it. Their places are of the same
 * form as those of a trace, with the number 0. Call it once, before the first event.
 */
void task_spans_begin(struct task_spans *t, const struct snapshot *s, uint64_t time);
void task_spans_add(struct task_spans *t, const struct trace_item *item);
/* Events were lost: what the tasks do is unknown until their next event. */
void task_spans_lost(struct task_spans *t, uint64_t time);
/*
 * How long a thread was off its processor up to now, as items have it; false: unknown. NULL: it is
 * not measured.
 */
typedef bool task_spans_off_fn(pid_t tid, uint64_t *ns, void *arg);
/* With it, spans have off_ns. Call it before task_spans_begin(). */
void task_spans_measure(struct task_spans *t, task_spans_off_fn *off, void *arg);
/* Passes all spans up to this time, before which all events were added; they go on thereafter. */
void task_spans_cut(struct task_spans *t, uint64_t time);

/*
 * Polls that began before the trace and may go on: their ends are not seen themselves. A look shows
 * which of them have ended: s is a snapshot with WANT_TASKS of that time.
 */
size_t task_spans_unseen(const struct task_spans *t);
void task_spans_look(struct task_spans *t, const struct snapshot *s, uint64_t time);

/* The type of a task that exists; NULL: unknown. It lives as that of a span. */
const char *task_spans_type(const struct task_spans *t, uint64_t id);
/* Tasks that exist, and how many were not followed because there were too many. */
size_t task_spans_alive(const struct task_spans *t);
/* Those of one kind. */
size_t task_spans_alive_of(const struct task_spans *t, enum trace_job job);
uint64_t task_spans_untracked(const struct task_spans *t);

#endif
