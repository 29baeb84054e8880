/* The parts of a timeline; for the files timeline*.c. */
#ifndef RUNTIMES_TIMELINE_TIMELINE_PRIVATE_H
#define RUNTIMES_TIMELINE_TIMELINE_PRIVATE_H

#include "debugger/base/arena.h"
#include "debugger/base/clock.h"
#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/places/snapshot_place.h"
#include "runtimes/timeline/task_slots.h"
#include "runtimes/timeline/timeline.h"

struct followed {
	struct task_span span; /* the one that is open; its place is that where it waits last */
	uint64_t off;          /* of its thread, when the poll began or was cut */
	bool off_known;
	bool woken;  /* a wake-up came while it was polled */
	bool ending; /* its end was seen while it was polled */
	bool unseen; /* its poll began before the trace: its end will not be seen */
	pid_t woken_on;
	uint64_t woken_by;
};

struct timeline_tasks {
	task_span_fn *visit; /* NULL: nobody wants spans */
	void *arg;
	timeline_off_fn *off; /* NULL: not measured */
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

struct timeline_thread {
	pid_t tid;
	VEC(struct timeline_call) calls; /* outermost first */
	struct timeline_load load;
};

struct timeline_threads {
	struct map index; /* tid -> index in list + 1 */
	VEC(struct timeline_thread) list;
	const struct timeline_call *ended; /* by the last item; NULL: none */
	bool left_out;
	size_t missed;               /* look-ups of threads for which there was no room */
	struct timeline_load others; /* of all threads without room */
	struct arena names;          /* of types */
};

struct timeline_delays {
	struct task_table tasks;
	struct timeline_delay last; /* of the last item */
	uint64_t untracked;
};

struct timeline {
	unsigned parts; /* of enum timeline_part */
	struct timeline_tasks tasks;
	struct timeline_delays delays;
	struct timeline_threads threads;
};

extern const struct timeline_load timeline_no_load;
void timeline_tasks_begin(struct timeline_tasks *t, const struct snapshot *s, uint64_t time);
void timeline_tasks_add(struct timeline_tasks *t, const struct trace_item *item);
void timeline_tasks_lost(struct timeline_tasks *t, uint64_t time);
void timeline_tasks_free(struct timeline_tasks *t);

void timeline_delays_add(struct timeline_delays *t, const struct trace_item *item);

/* NULL: it is not followed. */
struct timeline_thread *timeline_threads_find(const struct timeline_threads *t, pid_t tid);
/* NULL: there are too many. */
struct timeline_thread *timeline_threads_get(struct timeline_threads *t, pid_t tid);
/* Forgets the threads for which keep returns false. */
typedef bool timeline_thread_fn(struct timeline_thread *thread, void *arg);
void timeline_threads_keep(struct timeline_threads *t, timeline_thread_fn *keep, void *arg);
void timeline_threads_add(struct timeline_threads *t, const struct trace_item *item);
void timeline_loads_add(struct timeline_threads *t, const struct trace_item *item);
void timeline_threads_lost(struct timeline_threads *t);
void timeline_threads_free(struct timeline_threads *t);

#endif
