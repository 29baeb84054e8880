/* Kinds of steps, and how they end. */
#ifndef RUNTIMES_STEP_RULES_STEP_KIND_H
#define RUNTIMES_STEP_RULES_STEP_KIND_H

enum step_kind {
	STEP_NEXT,        /* to another line, over calls and awaits */
	STEP_INTO,        /* to another line, into functions and awaited coroutines */
	STEP_FINISH,      /* until the function or coroutine has returned */
	STEP_UNTIL,       /* as STEP_NEXT, but to no line before */
	STEP_INSTRUCTION, /* one instruction, over calls */
};

/* Reason for the end of a step. */
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
	STEP_CANCELLED, /* the coroutine is being dropped, because its task was cancelled */
	STEP_PANICKED,  /* it panics, and nothing within it catches that; before unwinding */
	/*
	 * The thread has ended that was in the function, or whose stack has the suspended
	 * coroutine. The stop is of the main thread, or of any other if that one has ended.
	 */
	STEP_THREAD_ENDED,
	STEP_BROKEN, /* something else has halted the program: its control_stop says what */
};

#endif
