/*
 * The debuggee: its process, with what a user has set in it, and a handle that looks at it. For
 * commands and for a server of editors alike.
 */
#ifndef RUNTIMES_STEPPING_DEBUGGEE_H
#define RUNTIMES_STEPPING_DEBUGGEE_H

#include "runtimes/hits/predicate.h"
#include "runtimes/session/asyncdbg.h"
#include "runtimes/stepping/breakpoint.h"
#include "runtimes/stepping/control.h"
#include "runtimes/stepping/libraries.h"
#include "runtimes/stepping/logpoint.h"
#include "runtimes/stepping/step.h"
#include "runtimes/stepping/watch.h"

struct debuginfo;
struct step_cache;
struct event_points;

/* The debuggee. All zeros: there is none. The struct must not move: parts of it refer to it. */
struct debuggee {
	struct control control;
	struct breakpoints breakpoints;
	struct watchpoints watches;
	struct debuggee_listener listener; /* the caller's */
	/*
	 * Called when breakpoints were found again, as libraries were loaded or unloaded; the
	 * caller's. NULL: nobody.
	 */
	void (*placed)(void *arg);
	void *placed_arg;
	struct libraries libraries;
	/* Opened for the program with control.tracer; the caller's. NULL: there is no program. */
	struct asyncdbg *handle;
	/*
	 * First of the numbered breakpoints that halted it at the last stop; NULL: none. All that
	 * did have .halts set.
	 */
	struct breakpoint *breakpoint;
	struct watchpoint *watch;          /* the one whose value has changed; NULL: none */
	struct step_exit step;             /* end of the step, if the last stop is the end of one */
	struct step_cache *step_cache;     /* of the present program; NULL until the first step */
	struct event_points *event_points; /* of event_break.c; NULL: not looked for yet */
	uint64_t seen_nstops; /* the control.nstops of the last snapshot of the handle; the caller
	                         sets it */
	/* Stop (control.nstops) and thread of the last answer of debuggee_task(). */
	uint64_t task_nstops;
	pid_t task_tid;                  /* 0: none */
	struct thread_task *thread_task; /* of debuggee.c */
};

/*
 * A program has become the debuggee, or is another one after execve(), and handle is its own: finds
 * and plants all breakpoints. handle must live until debuggee_end() or the next call.
 */
struct error *debuggee_begin(struct debuggee *d, struct asyncdbg *handle) MUST_CHECK;
/* The program is gone, or under nobody's control. Breakpoints are kept. */
void debuggee_end(struct debuggee *d);
/* Forgets the hits of the last stop, or the step that ended there: the program is about to run. */
void debuggee_forget_hits(struct debuggee *d);
/* Lets it run as control_continue() does; sets d->breakpoint. */
struct error *debuggee_continue(struct debuggee *d) MUST_CHECK;
/*
 * Executes one instruction of a thread, the others are held. Where it comes to a breakpoint, that
 * is a hit.
 */
struct error *debuggee_step_one(struct debuggee *d, pid_t tid) MUST_CHECK;
/* control_write(); what a watchpoint watches has that value, which is no hit. */
struct error *debuggee_write(struct debuggee *d, uint64_t addr, const void *bytes, size_t len)
	MUST_CHECK;
/* Ends the program: control_kill(). */
struct error *debuggee_kill(struct debuggee *d) MUST_CHECK;
/*
 * The id of the task that a thread of the halted program runs; NULL: none. Valid until the next
 * snapshot of the handle. Costs a look at the tasks that run, once for each stop of a thread; less
 * where the thread has the number of its task at a known place.
 */
struct error *debuggee_task(struct debuggee *d, pid_t tid, const char **ret) MUST_CHECK;
/*
 * The task that a thread runs, with all that is known of it; NULL: none. Costs a look at the tasks
 * at each call.
 */
struct error *debuggee_whole_task(struct debuggee *d, pid_t tid, const struct task **ret)
	MUST_CHECK;
/*
 * Value of task.id, task.type or task.name for a thread; which: PREDICATE_TASK_ID and so on. NULL:
 * no task runs there, or it has no name. Valid until the next snapshot of the handle.
 */
struct error *debuggee_task_text(struct debuggee *d, pid_t tid, enum predicate_op which,
                                 const char **ret) MUST_CHECK;
/* Value of task.id and so on for a thread, as the operand of a condition. */
struct error *debuggee_task_operand(struct debuggee *d, pid_t tid, const struct predicate *operand,
                                    struct predicate_value *ret) MUST_CHECK;
/*
 * Tests of the threads that are true for those that run a task: of that id, or of that number.
 * False: there is none.
 */
bool debuggee_task_filter(struct debuggee *d, const char *id, struct tracer_filter *ret);
bool debuggee_number_filter(struct debuggee *d, uint64_t number, struct tracer_filter *ret);
/* Invalidates what is known of the tasks of threads: the program's runtimes have changed. */
void debuggee_forget_tasks(struct debuggee *d);
/* The debug info of the program; NULL: there is no program. */
struct debuginfo *debuggee_debuginfo(const struct debuggee *d);
/* Lets the program go, or ends what was started; frees all. */
void debuggee_close(struct debuggee *d);

#endif
