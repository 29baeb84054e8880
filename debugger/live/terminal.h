/* Our terminal, which the debuggee has while it runs. */
#ifndef DEBUGGER_LIVE_TERMINAL_H
#define DEBUGGER_LIVE_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

/* Zero: the program does not get our terminal. */
struct terminal {
	bool lent;    /* set by the caller: the program gets the terminal on our standard input */
	bool has_own; /* own is valid */
	bool has_program;       /* program is valid */
	struct termios own;     /* the modes that we had when the program got it last */
	struct termios program; /* the modes that the program had when we took it back */
};

/*
 * Makes the program's process group the one that the terminal is for, with the modes that the
 * program left. Errors are ignored: a program may have closed the terminal, or hung it up.
 */
void terminal_give(struct terminal *t, pid_t group);
/* Takes the terminal back, with our modes. */
void terminal_take(struct terminal *t);

#endif
