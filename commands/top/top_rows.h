/*
 * Activity of tasks in an interval, for `top`: the events of a trace go in, and for each interval a
 * frame comes out. A task that does nothing in it costs next to nothing.
 */
#ifndef COMMANDS_TOP_TOP_ROWS_H
#define COMMANDS_TOP_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "commands/top/durations.h"
#include "runtimes/timeline/timeline.h"

struct snapshot;
struct top_rows;

enum {
	TOP_WAKERS = 4,   /* tasks that wake one, counted one by one in an interval */
	TOP_STALLS = 200, /* polls over the limit that are kept, the newest */
};

/* Waker of a task, or of tasks of a group. */
struct top_waker {
	uint64_t task;    /* id; 0: none, but the runtime or another thread, or several tasks */
	const char *type; /* NULL: unknown */
	uint64_t wakes;   /* at least */
};

/* Numbers of a task in an interval. */
struct top_stats {
	uint64_t polls;     /* polls that began */
	uint64_t polled_ns; /* time within polls */
	uint64_t runnable_ns;
	uint64_t wakes;     /* that made it runnable, its own too; but not its spawn */
	uint64_t own_wakes; /* wake-ups by itself in its poll, or because it only yielded */
	uint64_t no_task;   /* wake-ups by no task: by a timer, I/O or a thread */
	struct durations poll, runnable; /* of spans that ended, and were seen from begin to end */
	/*
	 * Longest poll and longest time runnable, including those that still last when the interval
	 * ends.
	 */
	uint64_t poll_longest, runnable_longest;
	struct top_waker wakers[TOP_WAKERS]; /* the unused ones have no wakes */
};

/* A task at the end of an interval. */
struct top_task {
	uint64_t id;
	const char *type; /* equal ones are the same pointer; NULL: unknown */
	enum trace_job job;
	enum task_doing doing;
	struct moment since;             /* the start of doing */
	pid_t tid;                       /* of DOING_POLLING */
	const struct trace_place *place; /* as in struct task_span */
	const struct trace_place *group; /* of place; the same for all tasks at one place */
	const struct top_stats *stats;   /* NULL: it did nothing */
};

/* Tasks of one type that have ended in the interval. */
struct top_ended {
	const char *type;
	enum trace_job job;
	uint64_t n;
	struct top_stats stats;
};

/* A poll over the limit. */
struct top_stall {
	uint64_t task;
	const char *type;
	struct moment began;
	uint64_t ns; /* the duration; so far, where open */
	pid_t tid;
	const struct trace_place *place; /* where it ended; NULL: unknown */
	bool open;
};

/* An interval. */
struct top_frame {
	struct moment began, time;
	bool late_ends; /* see top_rows_late_ends(): tasks that are polled may be so no more */
	const struct top_task *tasks; /* the tasks that exist */
	size_t n;
	const struct top_ended *ended;
	size_t nended;
	uint64_t spawned, finished; /* tasks and jobs */
	uint64_t polls, polled_ns, wakes;
	uint64_t untracked; /* tasks that were not followed: there were too many */
	/*
	 * Stalls up to now, the newest first: the open ones, then nfresh that no earlier frame has
	 * had.
	 */
	const struct top_stall *stalls;
	size_t nstalls, nfresh;
	uint64_t stall_total; /* all that there were */
};

/* A poll longer than stall_ns is a stall. Never NULL. */
struct top_rows *top_rows_new(uint64_t stall_ns);
/*
 * Ends of polls are seen only by the thread's next event: how long one that goes on has taken is
 * unknown, since it may be over.
 */
void top_rows_late_ends(struct top_rows *t);
/* NULL is allowed. */
void top_rows_free(struct top_rows *t);
void top_rows_freep(struct top_rows **t);
/* Inputs, passed on to timeline_begin(), timeline_add() and timeline_lost(). */
void top_rows_begin(struct top_rows *t, const struct snapshot *s, uint64_t time);
void top_rows_add(struct top_rows *t, const struct trace_item *item);
void top_rows_lost(struct top_rows *t, uint64_t time);
/*
 * Ends the interval at a time, before which all events were added. The frame lives until the next
 * call.
 */
const struct top_frame *top_rows_cut(struct top_rows *t, uint64_t time);

/* The type of a task that exists; NULL: unknown, as without t. */
const char *top_rows_type(const struct top_rows *t, uint64_t id);

#endif
