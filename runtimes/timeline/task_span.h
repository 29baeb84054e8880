/*
 * A span of time in which a task does one thing: it is polled, is runnable (it was spawned or
 * woken, and waits for a thread), or waits at an await.
 */
#ifndef RUNTIMES_TIMELINE_TASK_SPAN_H
#define RUNTIMES_TIMELINE_TASK_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/clock.h"
#include "runtimes/trace/trace.h"

enum task_doing {
	DOING_UNKNOWN, /* events were lost */
	DOING_RUNNABLE,
	DOING_POLLING,
	DOING_WAITING,
	NDOINGS,
};

struct task_span {
	uint64_t task;    /* its id */
	uint32_t slot;    /* a small number that no other task has at that time */
	const char *type; /* lives as long as the trace or the timeline; NULL: unknown */
	enum trace_job job;
	enum task_doing doing;
	struct moment began;
	struct moment from, to; /* from is later than began when the span was cut before */
	bool exact;             /* began and to are times of events that were seen themselves */
	bool began_exact;       /* began alone is */
	bool open;              /* the span was cut: it goes on */
	bool late;              /* the span ended before to, but the moment was not seen */
	bool last;              /* the task has ended with it */
	/*
	 * Await at which the task waits; for DOING_RUNNABLE the one where it has waited, for
	 * DOING_POLLING the one where the poll ended. NULL: nowhere yet, or unknown.
	 */
	const struct trace_place *place;
	/*
	 * Await at which a task in DOING_POLLING has waited before. NULL: nowhere yet, or unknown.
	 */
	const struct trace_place *resumed;
	/* The member above (of DOING_POLLING; else place) is NULL because the place is unknown. */
	bool unplaced;
	/*
	 * Time in DOING_POLLING during which the thread was off its CPU, in ns; valid if off_known.
	 */
	uint64_t off_ns;
	bool off_known;
	/*
	 * Wake-up during a DOING_POLLING that has ended: the task is polled again at once. Known
	 * where the trace has uses of wakers.
	 */
	bool again;
	bool spawned; /* of DOING_RUNNABLE: it is its first span, and nobody woke it */
	pid_t tid; /* of DOING_POLLING: the thread that polls; of DOING_RUNNABLE: the one that woke
	              it */
	uint64_t by; /* of DOING_RUNNABLE: the id of the task that woke it; 0: none or unknown */
};

/* span is valid during the call. */
typedef void task_span_fn(const struct task_span *span, void *arg);

#endif
