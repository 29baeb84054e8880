/* Exceptions, as an editor calls them: panics, deadlocks and signals. */
#ifndef COMMANDS_DAP_EXCEPTIONS_H
#define COMMANDS_DAP_EXCEPTIONS_H

#include "commands/dap/context.h"

/* The exception that the program stands at. Texts are in the arena that was given. */
struct exception {
	const char *id;    /* of the filter, or the signal's name: "task-panic", "SIGSEGV" */
	const char *title; /* "Panic", "Signal SIGSEGV" */
	const char *text;  /* all that is known of it */
	const char *mode;  /* ExceptionBreakMode */
};

/* False: it stands for another reason. */
bool exceptions_at_stop(struct dap *d, struct arena *a, struct exception *ret);
/* The number of a thread that a deadlock is of; 0: it stands at none. */
int exceptions_deadlocked(struct dap *d);
/* Writes exceptionBreakpointFilters. */
void exceptions_put_filters(struct json_writer *w);
/*
 * The event that a filter stops at. ERR_UNSUPPORTED: there is no filter of that name; id may be
 * NULL.
 */
struct error *exceptions_find(const char *id, enum event_break_kind *ret) MUST_CHECK;

#endif
