/*
 * Steps by source lines in the debuggee. A step is a plan of the program, not of a thread: in an
 * async function it goes on over polls and threads until the same instance of the coroutine comes
 * to another line, or has ended. The instance is known by the address of its object, which does not
 * move while it is polled.
 *
 * While a step lasts, all threads run; only single instructions are executed with the others held.
 */
#ifndef RUNTIMES_STEPPING_STEP_H
#define RUNTIMES_STEPPING_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/error.h"
#include "runtimes/step_rules/step_kind.h"

struct debuggee;

struct step_options {
	enum step_kind kind;
	pid_t tid;     /* the thread to step */
	bool whole;    /* STEP_FINISH: until the task of the thread has finished */
	bool spawned;  /* STEP_INTO: to the first line of a task that the line spawns */
	bool all_code; /* stop in code of libraries, too */
	unsigned line; /* STEP_UNTIL: at least this line; 0: a later one */
};

/* Result of the last step. */
struct step_exit {
	enum step_reason reason;
	enum step_kind kind;
	bool async;             /* it was one of a coroutine */
	uint64_t instance;      /* address of the coroutine's object; 0: unknown */
	uint64_t instance_size; /* in bytes; 0: unknown */
	uint64_t polls;         /* number of its later polls */
	pid_t from;             /* the thread that it began on */
	const char *note;       /* further text; NULL: none. Until the next step */
	/*
	 * STEP_FINISH: the value that was returned, as `print` shows it, of a coroutine the value
	 * that it is ready with; and its type. NULL: there is none, or the problem says why it is
	 * not known.
	 */
	const char *value, *value_type, *value_problem;
};

/* "next", "step", ...: how the commands are called. */
const char *step_kind_name(enum step_kind kind);
/* "step", "returned", ...: the reason of a stop in text and JSON. */
const char *step_reason_name(enum step_reason reason);

/*
 * Steps: returns when the program stands still again or has ended, as debuggee_continue() does.
 * d->step says how the step has ended. Its internal breakpoints are gone then. interrupt_request()
 * ends it. ERR_STATE if there is no program, or no code of the user's on the thread's stack.
 */
struct error *step_run(struct debuggee *d, const struct step_options *options) MUST_CHECK;

#endif
