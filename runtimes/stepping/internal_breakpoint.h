/*
 * Internal breakpoints: breakpoints of the debugger itself. An internal breakpoint is an address,
 * and a function that decides whether a thread which comes there halts the program. Numbered
 * breakpoints, steps and catches are made of internal breakpoints. An address may have several; all
 * decide at each hit.
 */
#ifndef RUNTIMES_STEPPING_INTERNAL_BREAKPOINT_H
#define RUNTIMES_STEPPING_INTERNAL_BREAKPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/base/vec.h"
#include "debugger/live/tracer.h"

struct control;
struct internal_breakpoint;

/* A thread that is about to execute the instruction at addr; the program is halted. */
struct internal_hit {
	pid_t tid;
	uint64_t addr; /* run-time */
};

/*
 * Decides: *stop true halts. It may add and remove internal breakpoints, also its own. After an
 * error the program is halted, and control_continue() returns the error.
 */
typedef struct error *hit_callback(void *arg, const struct internal_hit *hit, bool *stop)
	MUST_CHECK;

enum { MAX_HIT_FILTERS = 3 };

/* Purpose of an internal breakpoint; of those of a step the head of step.c says more. */
enum internal_breakpoint_kind {
	INTERNAL_NUMBERED,    /* a place of a numbered breakpoint, logpoint or catch */
	INTERNAL_WATCH_DROP,  /* the end of a watched variable */
	INTERNAL_LIBRARIES,   /* libraries are loaded and unloaded */
	INTERNAL_START,       /* the program begins */
	INTERNAL_STEP_LINE,   /* a line at which a step ends */
	INTERNAL_STEP_RETURN, /* the call or poll in progress returns */
	INTERNAL_STEP_CALLER, /* the user's code to which a step goes on */
	INTERNAL_STEP_RESUME, /* the suspended instance is polled again */
	INTERNAL_STEP_DROP,   /* it is dropped */
	INTERNAL_STEP_PANIC,  /* a panic begins */
	INTERNAL_STEP_CALL,   /* a call that a step runs over returns */
	INTERNAL_STEP_TARGET, /* the user's code that a call or a spawned task may come to */
	INTERNAL_STEP_SPAWN,  /* the runtime makes tasks */
	INTERNAL_STEP_TASK,   /* the spawned task is polled, or its poll returns */
};

struct internal_breakpoint_options {
	uint64_t addr; /* run-time */
	/*
	 * The function is called only for threads that match; with and_next another one follows it
	 * in memory, which must match, too, up to MAX_HIT_FILTERS. NULL: for all. Copied.
	 */
	const struct tracer_filter *filter;
	hit_callback *decide;
	void *arg;
	enum internal_breakpoint_kind kind;
};

/* An internal breakpoint as it is listed. */
struct internal_breakpoint_row {
	uint64_t addr; /* run-time */
	enum internal_breakpoint_kind kind;
};

/* Internal breakpoints of a program. All zeros: none. */
struct internal_breakpoints {
	VEC(struct internal_breakpoint *) list;
	VEC(uint64_t)
	changed; /* addresses whose internal breakpoints have changed: see
	            internal_breakpoint_begin_batch() */
	bool held;
	bool deciding; /* internal breakpoints that are removed meanwhile are freed afterwards */
};

/*
 * Adds an internal breakpoint to the debuggee, which must be there. *ret is valid until
 * internal_breakpoint_remove(), also when the program is gone.
 */
struct error *internal_breakpoint_add(struct control *c,
                                      const struct internal_breakpoint_options *options,
                                      struct internal_breakpoint **ret) MUST_CHECK;
/* Removes and frees an internal breakpoint; NULL is allowed. */
struct error *internal_breakpoint_remove(struct control *c, struct internal_breakpoint *internal)
	MUST_CHECK;
/*
 * Holds changes back: internal breakpoints that are added and removed change nothing in the program
 * before internal_breakpoint_commit(), which is one request for all of them instead of one for
 * each. An error of internal_breakpoint_add() is an error of internal_breakpoint_commit() then. If
 * internal breakpoints are the CPU's breakpoints, each change is made at once.
 */
void internal_breakpoint_begin_batch(struct control *c);
/* Makes all changes. Whatever lets a thread run begins with it. */
struct error *internal_breakpoint_commit(struct control *c) MUST_CHECK;
/* internal_breakpoint_commit(); err, if there is one, is returned in place of an error of it. */
struct error *internal_breakpoint_commit_after(struct control *c, struct error *err) MUST_CHECK;
/* The internal breakpoints that are planted, in the order in which they were added; in the arena.
 */
const struct internal_breakpoint_row *internal_breakpoint_list(const struct control *c,
                                                               struct arena *a, size_t *n);
/* "breakpoint", "step-line": the name of a kind. */
const char *internal_breakpoint_kind_name(enum internal_breakpoint_kind kind);
/* Why one of that kind is there, as a sentence without its full stop. */
const char *internal_breakpoint_reason(enum internal_breakpoint_kind kind);
/* Whether any internal breakpoint is at the address. */
bool internal_breakpoint_is_at(const struct control *c, uint64_t addr);
/* Asks all internal breakpoints at hit->addr; *stop: whether one of them halts. */
struct error *internal_breakpoint_dispatch(struct control *c, const struct internal_hit *hit,
                                           bool *stop) MUST_CHECK;
/* The program is another one, or gone: nothing is planted any more. */
void internal_breakpoint_forget(struct control *c);
/* Frees all of them. */
void internal_breakpoint_free_all(struct control *c);

#endif
