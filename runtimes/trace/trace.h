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
	bool sites;                 /* find where tasks are spawned if they do not record it */
	bool off_times;             /* measure how long threads are off their CPUs */
	bool events[TRACE_NEVENTS]; /* the events that are wanted */
	/* Reports each use of a waker with TRACE_WAKE, where the plan has them: see item.used. */
	bool wakers;
	/*
	 * Accepts a program of which only polls are known, without types and ends of tasks, as a
	 * stripped one without a layout file. Otherwise such a program is ERR_NO_DEBUGINFO.
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
	 * Upper limit of the length of a late poll. In a debug build the event that closes it is
	 * the thread's next poll or park, and a sleep in between is no part of the poll.
	 */
	uint64_t at_most_ns;
	/*
	 * Time that the thread had been off its CPU at the start or the end of a poll, in ns; the
	 * difference counts. 0 where it is not measured.
	 */
	uint64_t off_ns;
	bool ready;       /* of a TRACE_POLL_END: the task has ended, */
	bool ready_known; /* which is known */
	bool late;        /* not seen itself: only the next event of the thread, or the first poll
	                     of the task, showed that it has happened before */
	/* Place where the task sleeps, for a TRACE_POLL_END that is not ready; NULL: unknown. */
	const struct trace_place *place;
	uint64_t by; /* id of the task that the thread polled then; 0: none */
	/* Place of a TRACE_SPAWN in the program; NULL: unknown. It lives as long as the trace. */
	const struct source_place *spawned_at;
	bool used; /* of a TRACE_WAKE: a waker was used, of a task that may not have slept */
	/* Hit of a TRACE_USDT; its task is the one that the thread polled then. */
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
 * Whether a program that is yet to be executed must have loaded its libraries at trace_executed():
 * static probes in these are wanted, and the kernel can raise semaphores in its memory only.
 */
bool trace_wants_libraries(const struct trace *t);
/*
 * The program was executed, and its run-time addresses have that distance from the file's.
 * ERR_USAGE: it has no static probe that is wanted.
 */
struct error *trace_executed(struct trace *t, uint64_t bias) MUST_CHECK;
/*
 * Supplies the workers and tasks that exist: s is a snapshot with WANT_TASKS, which was taken after
 * trace_open(), and is read during the call only. Without it each task that is seen is new.
 */
void trace_seed_from_snapshot(struct trace *t, const struct snapshot *s);
/* A snapshot of the running process, which the trace frees; NULL: none can be taken. */
typedef struct snapshot *trace_look_fn(void *arg);
/*
 * Supplies the workers and runtimes of threads that appear later, too: look is called before an
 * item is passed on whose thread is of no known runtime. All looks together take at most one second
 * and a twentieth of the time; a thread for which a look was in vain waits for the next one.
 */
void trace_look_with(struct trace *t, trace_look_fn *look, void *arg);
/* Whether the program has ended, or has executed another one: no more events come. */
bool trace_is_over(const struct trace *t);
/*
 * Detaches all points, which takes 60 to 120 ms, and more under load; earlier events can still be
 * read. Hits of points that are not removed yet are dropped meanwhile: a trace in which some of the
 * kinds of events are missing shows wake-ups without polls.
 */
void trace_detach(struct trace *t);
/*
 * The interval in which every event is seen; ns, CLOCK_MONOTONIC. It starts when the last point is
 * in place and, where trace_seed_from_snapshot() is called, the existing tasks are known; it ends
 * before the first point is removed, or now. trace_read() passes on events from before the start,
 * too: threads enter polls meanwhile that last for longer.
 */
uint64_t trace_start(const struct trace *t);
uint64_t trace_end(const struct trace *t);
/* The time that detaching took, in ns; 0: it was not called. */
uint64_t trace_detach_ns(const struct trace *t);
/* NULL is allowed. */
void trace_close(struct trace *t);
void trace_closep(struct trace **t);

/* The number of static probes of the program itself that are attached. */
size_t trace_nstatics(const struct trace *t);
/* The reason why off times are not measured although they are wanted; NULL: they are. */
const char *trace_off_times_missing(const struct trace *t);
/*
 * The time that a thread was off its CPU up to now, counted as in items; false: unknown. All
 * threads of trace_seed_from_snapshot() are measured from then on.
 */
bool trace_off_time(const struct trace *t, pid_t tid, uint64_t *ns);
/* The inspector with which the trace reads the process. */
struct inspector *trace_inspector(const struct trace *t);
/* Whether polls of tasks and jobs, or their callers, return to a run-time address. */
bool trace_polls_return_to(const struct trace *t, uint64_t address);
/* The plan that is attached, and the name of the kernel's mechanism. */
const struct trace_plan *trace_plan_of(const struct trace *t);
const char *trace_backend(const struct trace *t);

/* item is valid during the call. Returns false to stop. */
typedef bool trace_item_fn(const struct trace_item *item, void *arg);
/*
 * Passes on the events since the last call; call it every few milliseconds. Where there are very
 * many, some are left for the next call. After trace_detach() it passes on all that are left.
 */
struct error *trace_read(struct trace *t, trace_item_fn *visit, void *arg) MUST_CHECK;
/*
 * trace_read(), but all that was in the buffer at *now is passed on: polls and parks that have
 * begun, and have not ended by these items, go on at that time, and no item is later. Only *now may
 * be used to measure "so far": a time read from the clock before or after shows polls that have
 * ended as still going on.
 */
struct error *trace_read_until_now(struct trace *t, trace_item_fn *visit, void *arg, uint64_t *now)
	MUST_CHECK;
/*
 * Whether events were lost, so that state derived from the last event of a task or thread is
 * unknown; call it after each trace_read() and trace_read_until_now(). The buffer then still has
 * items from before some of the losses: when those were read, true is returned again, with the
 * number of lost events in *n; 0 before.
 */
bool trace_has_lost(struct trace *t, uint64_t *n);
/*
 * The number of events lost up to now that trace_has_lost() has not reported yet; they count as
 * reported then. For callers that cannot wait until the buffer was read: the next call of
 * trace_has_lost() returns true all the same.
 */
uint64_t trace_lost_now(struct trace *t);
void trace_totals(const struct trace *t, struct trace_totals *ret);

#endif
