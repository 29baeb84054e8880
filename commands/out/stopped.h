/* What commands show of a program under control. */
#ifndef COMMANDS_OUT_STOPPED_H
#define COMMANDS_OUT_STOPPED_H

#include "runtimes/stepping/breakpoint.h"
#include "runtimes/stepping/control.h"
#include "runtimes/stepping/logpoint.h"
#include "runtimes/stepping/step.h"
#include "runtimes/stepping/watch.h"

struct changed_variable;
struct thread_info;

/* Where and why it stands still. Lives until the end of the answer. */
struct stopped {
	pid_t pid;
	struct control_stop why;
	const struct breakpoint *breakpoint; /* NULL: none */
	const struct watchpoint *watch;      /* NULL: none */
	/* All that halt it, with these two. */
	const struct breakpoint **breakpoints;
	const struct watchpoint **watches;
	size_t nbreakpoints, nwatches;
	struct step_end step;             /* reason STEP_NONE: it was not stepping */
	const struct thread_info *from;   /* thread on which the step began; NULL: unknown */
	const char *event;                /* of it: "task 12 is woken by task 5"; NULL: none */
	const struct thread_info *thread; /* NULL: unknown */
	const char *function;             /* at its pc; NULL: unknown */
	const char *aliases; /* others that may be there, as in struct future; or NULL */
	const char *file;    /* for display; NULL: unknown */
	unsigned line;       /* 0: unknown */
	const char *source;  /* text of that line; NULL: not here */
	/* What a step within the function has changed, see commands/base/seen_variables.h. */
	const struct changed_variable *changed;
	size_t nchanged;
};

/* "breakpoint", "signal", ...: also the value of "reason" in JSON. */
const char *stopped_reason_name(const struct stopped *s);
/* Whether a step has come to its end, and no breakpoint of the user's is there. */
bool stopped_is_step(const struct stopped *s);
/* Why the condition cannot be read for which it stands still; NULL: that is not the reason. */
const char *stopped_problem(const struct stopped *s);

#endif
