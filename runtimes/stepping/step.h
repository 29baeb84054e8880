/*
 * Steps by source lines in a program under control. A step is a plan of the program, not of a
 * thread: in an async function it goes on over polls and threads until the same instance of the
 * coroutine comes to another line, or has ended. The instance is known by the address of its
 * object, which does not move while it is polled.
 *
 * While a step lasts, all threads run; only single instructions are executed with the others held.
 */
#ifndef RUNTIMES_STEPPING_STEP_H
#define RUNTIMES_STEPPING_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/error.h"

struct debuggee;

enum step_kind {
	STEP_NEXT,        /* to another line, over calls and awaits */
	STEP_INTO,        /* the same, into functions and awaited coroutines */
	STEP_FINISH,      /* until the function or coroutine has returned */
	STEP_UNTIL,       /* as STEP_NEXT, but to no line before */
	STEP_INSTRUCTION, /* one instruction, over calls */
};

/* How a step has ended. */
enum step_reason {
	STEP_NONE,     /* the program was not stepping */
	STEP_LINE,     /* it is where it was to go */
	STEP_RETURNED, /* the function or the coroutine has returned */
	/*
	 * A poll of the coroutine has returned, and it cannot be followed: the note says why, and
	 * what is known of it.
	 */
	STEP_LEFT,
	STEP_DROPPED,   /* the coroutine is being dropped before it has ended */
	STEP_CANCELLED, /* the same, because its task was cancelled */
	STEP_PANICKED,  /* it panics, and nothing within it catches that; before unwinding */
	/*
	 * The thread has ended that was in the function, or whose stack has the suspended
	 * coroutine. The stop is of the main thread, or of any other if that one has ended.
	 */
	STEP_THREAD_ENDED,
	STEP_BROKEN, /* something else has halted the program: its control_stop says what */
};

struct step_options {
	enum step_kind kind;
	pid_t tid;     /* the thread to step */
	bool whole;    /* STEP_FINISH: until the task of the thread has finished */
	bool spawned;  /* STEP_INTO: to the first line of a task that the line spawns */
	bool all_code; /* stop in code of libraries, too */
	unsigned line; /* STEP_UNTIL: at least this line; 0: a later one */
};

/* What is known of the last step. */
struct step_end {
	enum step_reason reason;
	enum step_kind kind;
	bool async;             /* it was one of a coroutine */
	uint64_t instance;      /* address of the coroutine's object; 0: unknown */
	uint64_t instance_size; /* in bytes; 0: unknown */
	uint64_t polls;         /* how often it was polled anew meanwhile */
	pid_t from;             /* the thread that it began on */
	const char *note;       /* what else there is to say; NULL: nothing. Until the next step */
	/*
	 * Of STEP_FINISH: what has been returned, as `print` shows it, of a coroutine what it is
	 * ready with; and its type. NULL: there is none, or the problem says why it is not known.
	 */
	const char *value, *value_type, *value_problem;
};

/* "next", "step", ...: how the commands are called. */
const char *step_kind_name(enum step_kind kind);
/* "step", "returned", ...: the reason of a stop in text and JSON. */
const char *step_reason_name(enum step_reason reason);

/*
 * Steps: returns when the program stands still again or has ended, as debuggee_continue() does.
 * d->step says how the step has ended. Its traps are gone then. interrupt_request() ends it.
 * ERR_STATE if there is no program, or no code of the user's on the thread's stack.
 */
struct error *step_run(struct debuggee *d, const struct step_options *options) MUST_CHECK;

#endif
