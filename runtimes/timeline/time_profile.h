/*
 * Profile of the time that tasks take: their spans, summed up by their type and the chain of async
 * functions that await each other.
 */
#ifndef RUNTIMES_TIMELINE_TIME_PROFILE_H
#define RUNTIMES_TIMELINE_TIME_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "runtimes/timeline/task_span.h"

/* Components of a task's time. */
enum profile_state {
	PROFILE_POLLING, /* the task is polled, and its thread is on a CPU */
	PROFILE_OFF, /* the task is polled, and its thread is off it: it blocks, or others run */
	PROFILE_RUNNABLE, /* the task was spawned or woken, and is not polled yet */
	PROFILE_WAITING,  /* the task waits at an await */
	PROFILE_UNKNOWN,  /* events were lost */
	PROFILE_NSTATES,
};
/* "off-processor". */
const char *profile_state_name(enum profile_state state);

struct profile_times {
	uint64_t ns[PROFILE_NSTATES];
};
uint64_t profile_times_sum(const struct profile_times *t);
/* Adds b to a. */
void profile_times_add(struct profile_times *a, const struct profile_times *b);

/* Totals of all tasks of one type. */
struct profile_type {
	const char *type; /* NULL: unknown */
	enum trace_job job;
	uint64_t tasks, polls;
	uint64_t lifetime_ns; /* of its tasks, within the time that was profiled */
	struct profile_times times;
};

enum profile_node_kind {
	PROFILE_TYPE,     /* the type of a task */
	PROFILE_FRAME,    /* an async function, at the line where it awaits the next one */
	PROFILE_LEAF,     /* the leaf that the last one awaits */
	PROFILE_CUT,      /* a leaf that is an async function and was not read; name NULL */
	PROFILE_UNPLACED, /* an await of the task, of which nothing is known; name NULL */
	PROFILE_CODE,     /* a function that a poll has called, at the line of its own call */
};

/*
 * A node of the tree of all stacks. While a task waits or is runnable, its time is that of the leaf
 * it awaits; while it is polled, that of the await at which it went on: its running code is behind
 * it. The first poll of a task is the time of its type. Where there are samples of the code behind
 * an await, they share its PROFILE_POLLING evenly.
 */
struct profile_node {
	enum profile_node_kind kind;
	const char *name; /* of the type or the function; NULL: unknown */
	const char *file; /* of PROFILE_FRAME and PROFILE_CODE; NULL: unknown */
	const char *path; /* of PROFILE_FRAME and PROFILE_CODE: as in struct trace_frame */
	unsigned line;    /* of PROFILE_FRAME and PROFILE_CODE; 0: unknown, or the innermost of
	                     PROFILE_CODE */
	size_t type;      /* index of the type in the tree */
	struct profile_node *parent;          /* NULL: a type */
	struct profile_node *children, *next; /* the largest first */
	struct profile_times self, total;     /* without and with its children */
	uint64_t samples;                     /* samples of the node itself */
};

/* The names are those of the spans: their trace must still be there. */
struct profile_tree {
	struct profile_type *types; /* the largest first */
	size_t ntypes;
	struct profile_node *roots; /* of the same order */
	size_t nnodes;
	struct profile_times total;
};

struct time_profile;

/* Never NULL. */
struct time_profile *time_profile_new(void);
/* NULL is allowed. */
void time_profile_free(struct time_profile *p);
/* A task_span_fn; arg is the struct time_profile. */
void time_profile_add(const struct task_span *span, void *arg);
/* The functions of a stack, outermost first, that are not in the chain of the place (NULL: none).
 */
typedef const struct trace_frame *profile_code_fn(uint32_t stack, const struct trace_place *place,
                                                  size_t *n, void *arg);
/*
 * A sample of code was taken in that poll; a poll_stack_fn, but for arg, as above. Call it before
 * the span itself is added.
 */
void time_profile_sample(const struct task_span *span, uint32_t stack, void *arg);
/* Spans whose times are not exact, and the time of all of them. */
void time_profile_inexact(const struct time_profile *p, uint64_t *spans, uint64_t *ns);
/*
 * The tree of the spans and samples added so far, in arena a. code: NULL if there are no samples.
 */
void time_profile_tree(const struct time_profile *p, struct arena *a, profile_code_fn *code,
                       void *arg, struct profile_tree *ret);

#endif
