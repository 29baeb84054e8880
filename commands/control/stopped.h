/* Kinds of answers about a debuggee: its stops, lines of logpoints, breakpoints and watchpoints. */
#ifndef COMMANDS_CONTROL_STOPPED_H
#define COMMANDS_CONTROL_STOPPED_H

#include "runtimes/stepping/debuggee.h"

struct breakpoint;
struct changed_variable;
struct logged;
struct out;
struct thread_info;

/* Place and reason of the stop. Lives until the end of the answer. */
struct stopped {
	pid_t pid;
	struct control_stop why;
	const struct breakpoint *breakpoint; /* NULL: none */
	const struct watchpoint *watch;      /* NULL: none */
	/* All breakpoints and watchpoints that halt it, including these two. */
	const struct breakpoint **breakpoints;
	const struct watchpoint **watches;
	size_t nbreakpoints, nwatches;
	struct step_exit step;          /* reason STEP_NONE: it was not stepping */
	const struct thread_info *from; /* thread on which the step began; NULL: unknown */
	const char
		*event; /* the event at the breakpoint: "task 12 is woken by task 5"; NULL: none */
	const struct thread_info *thread; /* NULL: unknown */
	const char *function;             /* at its pc; NULL: unknown */
	const char *aliases; /* others that may be there, as in struct future; or NULL */
	const char *file;    /* for display; NULL: unknown */
	unsigned line;       /* 0: unknown */
	const char *source;  /* text of that line; NULL: not here */
	/*
	 * Variables that a step within the function has changed, see
	 * commands/base/seen_variables.h.
	 */
	const struct changed_variable *changed;
	size_t nchanged;
};

/* "breakpoint", "signal", ...: also the value of "reason" in JSON. */
const char *stopped_reason_name(const struct stopped *s);
/* Whether a step has come to its end, and no breakpoint of the user's is there. */
bool stopped_is_step(const struct stopped *s);
/*
 * The reason why a condition cannot be read, for which the program stands still; NULL: no such
 * stop.
 */
const char *stopped_problem(const struct stopped *s);

/* See commands/out/out.h: data is borrowed until the end of the answer. */
void part_stopped(struct out *o, const struct stopped *s);
/* A line of a logpoint. */
void part_logged(struct out *o, const struct logged *line);
void part_breakpoints(struct out *o, struct breakpoint *const *list, size_t n);
void part_watchpoints(struct out *o, struct watchpoint *const *list, size_t n);
/* The internal breakpoints that are planted in the program. */
void part_internal_breakpoints(struct out *o, const struct internal_breakpoint_row *rows, size_t n);

#endif
