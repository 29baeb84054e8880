/*
 * A timeline: the tasks and threads of a program in the course of time. Items of a trace go in, in
 * the order in which trace_read() passes them; only a timeline tells from them which tasks exist,
 * what each task does, and which polls and parks each thread is in. It begins with a snapshot, so
 * that tasks that were there before the trace are known.
 */
#ifndef RUNTIMES_TIMELINE_TIMELINE_H
#define RUNTIMES_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtimes/timeline/task_span.h"
#include "runtimes/timeline/task_table.h"
#include "runtimes/trace/trace.h"

struct snapshot;
struct task;
struct timeline;

/* Parts of a timeline: memory and time are spent on nothing else. */
enum timeline_part {
	TIMELINE_SPANS = 1 << 0, /* the tasks that exist, and what each of them does */
	TIMELINE_CALLS = 1 << 1, /* the polls and parks that each thread is in */
	TIMELINE_LOADS = 1 << 2, /* the time that each thread is busy */
	/* The tasks that exist, and how long each waits for its next poll: less than spans. */
	TIMELINE_DELAYS = 1 << 3,
};

enum {
	TIMELINE_TASKS = 1 << 20,   /* tasks that are followed at a time */
	TIMELINE_THREADS = 1 << 13, /* threads that are followed at a time */
};

/*
 * parts: of enum timeline_part. ended: gets each span of a task when it has ended or is cut; NULL:
 * nobody wants them. Never NULL.
 */
struct timeline *timeline_new(unsigned parts, task_span_fn *ended, void *arg);
/* NULL is allowed. */
void timeline_free(struct timeline *tl);
void timeline_freep(struct timeline **tl);

/*
 * Supplies the tasks that exist: s is the snapshot that trace_seed_from_snapshot() was called with,
 * and time (ns, CLOCK_MONOTONIC) was taken thereafter. No span begins before it. Their places are
 * of the same form as those of a trace, with the number 0. Call it once, before the first item.
 */
void timeline_begin(struct timeline *tl, const struct snapshot *s, uint64_t time);
void timeline_add(struct timeline *tl, const struct trace_item *item);
/* Events were lost: what tasks and threads do is unknown until their next event. */
void timeline_lost(struct timeline *tl, uint64_t time);

/* ---- tasks ---- */

/*
 * The time that a thread was off its CPU up to now, as items have it; false: unknown. NULL: it is
 * not measured.
 */
typedef bool timeline_off_fn(pid_t tid, uint64_t *ns, void *arg);
/* Measures off_ns of the spans. Call it before timeline_begin(). */
void timeline_measure(struct timeline *tl, timeline_off_fn *off, void *arg);
/* Passes all spans up to this time, before which all items were added; they go on thereafter. */
void timeline_cut(struct timeline *tl, uint64_t time);
/* Visits each task that exists, with its activity since span->began; span->to is not set. */
void timeline_each_task(const struct timeline *tl, task_span_fn *visit, void *arg);

/*
 * Polls that began before the trace and may go on: their ends are not seen themselves. A look shows
 * which of them have ended: s is a snapshot with WANT_TASKS of that time.
 */
size_t timeline_unseen(const struct timeline *tl);
void timeline_look(struct timeline *tl, const struct snapshot *s, uint64_t time);

/* The type of a task that exists; NULL: unknown. It lives as that of a span. */
const char *timeline_type(const struct timeline *tl, uint64_t id);
/* Tasks that exist, those of one kind, and how many were not followed: there were too many. */
size_t timeline_alive(const struct timeline *tl);
size_t timeline_alive_of(const struct timeline *tl, enum trace_job job);
uint64_t timeline_untracked(const struct timeline *tl);

/* ---- delays of tasks ---- */

enum timeline_delay_kind {
	DELAY_NONE,      /* nothing is measured */
	DELAY_BEGINS,    /* the task begins with this item; it may not be followed for all that */
	DELAY_FIRST,     /* a poll begins; the task has waited for it since its spawn, */
	DELAY_SCHEDULED, /* or since its last wake-up */
	DELAY_ENDS,      /* the task ends with this item: its entry is gone with the next one */
};

/* The task of an item, where delays are followed. */
struct timeline_delay {
	/* The task; NULL: it is not followed. Its row is the reader's own. Valid until the next
	 * item. */
	struct task_entry *task;
	enum timeline_delay_kind kind;
	uint64_t ns; /* of DELAY_FIRST and DELAY_SCHEDULED: the time for which it waited */
};

/* The task of the last item. */
const struct timeline_delay *timeline_delay(const struct timeline *tl);
/*
 * Follows a task of the first snapshot: *ret; NULL: there are too many, or it has no id. False: it
 * is followed already.
 */
bool timeline_begin_delay(struct timeline *tl, uint64_t id, bool polled, struct task_entry **ret);
/* Events were lost: since when tasks wait is unknown. The loads of threads go on. */
void timeline_forget_delays(struct timeline *tl);

/* ---- calls of threads ---- */

/* A poll, a park or the run of a worker, which a thread is in. */
struct timeline_call {
	struct trace_item start; /* the item that it began with */
	/* The poll began before the trace, at start.time or earlier: its end is not seen itself. */
	bool unseen;
	unsigned marks; /* the reader's own; 0 at first */
};

/*
 * Supplies the polls that go on in the snapshot of timeline_begin(). A poll of which only the
 * snapshot tells is taken to be over when its thread begins another one.
 */
void timeline_begin_polls(struct timeline *tl, const struct snapshot *s, uint64_t time);
/*
 * The poll that a task of a snapshot is in, as if it had begun at that time; the type is that of
 * the snapshot. False: the task is not polled, or by a thread that is not known.
 */
bool timeline_poll_of(const struct snapshot *s, const struct task *task, uint64_t time,
                      struct trace_item *ret);
/* The calls that go on, the outer ones of a thread first. The visitor may change marks alone. */
typedef void timeline_call_fn(struct timeline_call *call, void *arg);
void timeline_each_call(struct timeline *tl, timeline_call_fn *visit, void *arg);
/* The poll that began with start, if it goes on; NULL: it has ended. Valid until the next item. */
struct timeline_call *timeline_poll(struct timeline *tl, const struct trace_item *start);
/* The call that the last item has ended, as it was; NULL: none. Valid until the next item. */
const struct timeline_call *timeline_ended_call(const struct timeline *tl);
/* Whether a thread polls something. */
bool timeline_is_polling(const struct timeline *tl, pid_t tid);
/* Whether threads were in calls that are not followed: there were too many at a time. */
bool timeline_left_out(const struct timeline *tl);

/* ---- loads of threads ---- */

enum timeline_work {
	WORK_UNKNOWN,
	WORK_BUSY, /* from the end of a park, or the start of a worker, on */
	WORK_PARKED,
};

/* Numbers of a thread that polls tasks, since a reader has last set them to 0. */
struct timeline_load {
	pid_t tid; /* 0: all threads for which there is no room, or whose ids are unknown */
	int runtime, worker; /* of its last item */
	enum timeline_work work;
	uint64_t since;        /* the time up to which busy_ns and parked_ns are counted */
	uint64_t polls, parks; /* polls of tasks */
	uint64_t busy_ns, parked_ns;
	int row;        /* the reader's own; -1 at first */
	unsigned looks; /* the reader's own; 0 when the thread begins to run a worker */
};

/* The load of a thread; NULL: none is known. Valid until the next call. */
struct timeline_load *timeline_load(struct timeline *tl, pid_t tid);
/* The load of a thread that a snapshot of that time shows at work; NULL: there are too many. */
struct timeline_load *timeline_begin_load(struct timeline *tl, pid_t tid, enum timeline_work work,
                                          uint64_t time);
/* Returns false to forget the thread. */
typedef bool timeline_load_fn(struct timeline_load *load, void *arg);
/* Counts the times of all threads up to this one, before which all items were added; visits them.
 */
void timeline_each_load(struct timeline *tl, uint64_t time, timeline_load_fn *visit, void *arg);

#endif
