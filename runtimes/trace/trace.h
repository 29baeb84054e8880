/*
 * A trace of a running process: the events of its runtimes as they happen. While it is open, the
 * kernel has breakpoints in the code of the process; nothing else is written into it, and it is not
 * stopped.
 */
#ifndef RUNTIMES_TRACE_TRACE_H
#define RUNTIMES_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/error.h"
#include "runtimes/places/place.h"
#include "runtimes/trace/plan.h"
#include "runtimes/trace/usdt.h"

struct inspector;
struct snapshot;
struct source_place;
struct trace;

/* Threads and workers that are followed: as many as the kernel has ids of threads. */
enum { TRACE_MAX_THREADS = 1 << 22 };

struct trace_options {
	/*
	 * A process in which the program of in, an executable, will be executed; 0: the process of
	 * in. trace_executed() must follow.
	 */
	pid_t pid;
	size_t ring;                /* bytes of the buffer between the kernel and us */
	uint64_t min_ns;            /* ends of shorter polls are left out */
	bool slow;                  /* use points that need a single step */
	bool perf;                  /* use perf instead of uprobe_multi, for tests */
	bool no_places;             /* ends of polls are without places, which saves their copies */
	bool sites;                 /* tell who spawns, where tasks do not */
	bool off_times;             /* measure how long threads are off their processors */
	bool events[TRACE_NEVENTS]; /* those that are wanted */
	/* With TRACE_WAKE, also each use of a waker, where the plan has them: used of an item. */
	bool wakers;
	/*
	 * Polls alone are of use, without types and ends of tasks, as of a stripped program without
	 * a layout file. Otherwise such a one is ERR_NO_DEBUGINFO.
	 */
	bool nameless;
	/*
	 * Static probes of the program itself, as in trace_usdt_find(); borrowed. NULL: none. With
	 * them the program needs no runtime.
	 */
	const char *const *usdt;
	bool usdt_texts; /* their arguments may be addresses of texts */
};

struct trace_item {
	enum trace_event event;
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	pid_t tid;  /* below 0: unknown, of a thread in a pid namespace below ours that has ended */
	int worker; /* index of the worker that the thread is; -1: none or unknown */
	int runtime;   /* number of its runtime, that of the first snapshot with it; -1: unknown */
	uint64_t task; /* its id; 0: none or unknown */
	const char *type; /* of its future; NULL: unknown */
	enum trace_job job;
	uint64_t poll_ns; /* of a TRACE_POLL_END: how long the poll took; 0 if it is late */
	/*
	 * Of one that is late: the poll took at most that long. In a debug build what closes it is
	 * the thread's next poll or park, and a sleep in between is no part of the poll.
	 */
	uint64_t at_most_ns;
	/*
	 * Of the start and the end of a poll: how long the thread was off its processor up to then,
	 * in ns; the difference counts. 0 where it is not measured.
	 */
	uint64_t off_ns;
	bool ready;       /* of a TRACE_POLL_END: the task has ended, */
	bool ready_known; /* which is known */
	bool late;        /* not seen itself: only the next event of the thread, or the first poll
	                     of the task, showed that it has happened before */
	/* Of a TRACE_POLL_END that is not ready: where the task sleeps; NULL: unknown. */
	const struct trace_place *place;
	uint64_t by; /* id of the task that the thread polled then; 0: none */
	/* Of a TRACE_SPAWN: where the program did it; NULL: unknown. It lives as the trace. */
	const struct source_place *spawned_at;
	bool used; /* of a TRACE_WAKE: a waker was used, of a task that may not have slept */
	/* Of a TRACE_USDT, whose task is the one that the thread polled then. */
	const struct trace_hit *hit;
};

struct trace_totals {
	uint64_t events;    /* items that were passed on */
	uint64_t lost;      /* events for which the buffer had no room */
	uint64_t unmatched; /* polls whose end was not seen itself */
	uint64_t too_deep;  /* polls that nested too deep */
};

/*
 * Plans and attaches the points; in must have taken a snapshot. The errors of trace_plan_make() and
 * probes_open().
 */
struct error *trace_open(struct inspector *in, const struct trace_options *options,
                         struct trace **ret) MUST_CHECK;
/*
 * Of a program that is yet to be executed: whether it must be held where it begins, its libraries
 * loaded, until trace_executed(): static probes in these are wanted, and the kernel can raise
 * semaphores in its memory only.
 */
bool trace_wants_hold(const struct trace *t);
/*
 * The program was executed, and its run-time addresses have that distance from the file's.
 * ERR_USAGE: it has no static probe that is wanted.
 */
struct error *trace_executed(struct trace *t, uint64_t bias) MUST_CHECK;
/*
 * Tells the workers and tasks that exist: s is a snapshot with WANT_TASKS, which was taken after
 * trace_open(), and is read during the call only. Without it each task that is seen is new.
 */
void trace_know(struct trace *t, const struct snapshot *s);
/* A snapshot of the running process, which the trace frees; NULL: none can be taken. */
typedef struct snapshot *trace_look_fn(void *arg);
/*
 * Tells the workers and runtimes of threads that appear later, too: where an item is passed on
 * whose thread is of no known runtime, look is called first. All looks together take at most one
 * second and a twentieth of the time; a thread at which one was in vain waits for the next one.
 */
void trace_look_with(struct trace *t, trace_look_fn *look, void *arg);
/* Whether the program has ended, or has executed another one: no more events come. */
bool trace_is_over(const struct trace *t);
/*
 * Detaches all points, which takes 60 to 120 ms, and more under load; what has happened before that
 * began can still be read. What points that are not removed yet see meanwhile is dropped: a trace
 * in which some of the kinds of events are missing shows wake-ups without polls.
 */
void trace_detach(struct trace *t);
/*
 * The interval in which every event is seen; ns, CLOCK_MONOTONIC. It starts when the last point is
 * in place and, where trace_know() is called, what exists is known; it ends before the first one is
 * removed, or now. trace_read() passes on what was seen before the start, too: threads enter polls
 * meanwhile that last for longer.
 */
uint64_t trace_start(const struct trace *t);
uint64_t trace_end(const struct trace *t);
/* How long detaching took, in ns; 0: it was not called. */
uint64_t trace_detach_ns(const struct trace *t);
/* NULL is allowed. */
void trace_close(struct trace *t);
void trace_closep(struct trace **t);

/* The static probes of the program itself that are attached. */
size_t trace_nstatics(const struct trace *t);
/* Why off times are not measured although they are wanted; NULL: they are. */
const char *trace_off_times_missing(const struct trace *t);
/*
 * How long a thread was off its processor up to now, counted as in items; false: unknown. All
 * threads of trace_know() are measured from then on.
 */
bool trace_off_time(const struct trace *t, pid_t tid, uint64_t *ns);
/* What the trace reads the process with. */
struct inspector *trace_inspector(const struct trace *t);
/* Whether polls of tasks and jobs, or what calls them, return to a run-time address. */
bool trace_polls_return_to(const struct trace *t, uint64_t address);
/* The plan that is attached, and the name of the kernel's mechanism. */
const struct trace_plan *trace_plan_of(const struct trace *t);
const char *trace_backend(const struct trace *t);

/* item is valid during the call. Returns false to stop. */
typedef bool trace_item_fn(const struct trace_item *item, void *arg);
/*
 * Passes on what has happened since the last call; call it every few milliseconds. Where that is
 * very much, some is left for the next call. After trace_detach it passes on all that is left.
 */
struct error *trace_read(struct trace *t, trace_item_fn *visit, void *arg) MUST_CHECK;
/*
 * The same, but all that was in the buffer at *now is passed on: what has begun, and has not ended
 * by the items of this call, goes on at that time, and no item is later. It is the only time that
 * "so far" may be measured by: one that is read from the clock before or after shows polls that
 * have ended as such that go on.
 */
struct error *trace_read_until_now(struct trace *t, trace_item_fn *visit, void *arg, uint64_t *now)
	MUST_CHECK;
/*
 * Call it after each of both. True: events were lost, so that what depends on the last event
 * of a task or thread is unknown. What is in the buffer then was written before some of them: when
 * that was read it is true again, and *n is how many were lost; 0 before.
 */
bool trace_has_lost(struct trace *t, uint64_t *n);
/*
 * How many were lost up to now that trace_has_lost() has not reported yet; they count as reported
 * then. For who cannot wait until the buffer was read: the next call of that is true all the same.
 */
uint64_t trace_lost_now(struct trace *t);
void trace_totals(const struct trace *t, struct trace_totals *ret);

#endif
