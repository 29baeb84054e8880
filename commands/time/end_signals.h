/*
 * Signals that end a trace: its last line has the number of lost events. A write to a pipe that is
 * full goes on, so that no line is cut; the second signal ends asyncdbg even so.
 */
#ifndef COMMANDS_TIME_END_SIGNALS_H
#define COMMANDS_TIME_END_SIGNALS_H

#include <signal.h>

enum { END_SIGNALS = 3 };

/* Handlers before end_signals_catch(). */
struct end_signals {
	struct sigaction before[END_SIGNALS];
};

/* Handles these signals as ^C from now on: see interrupt_request(). */
void end_signals_catch(struct end_signals *ret);
void end_signals_restore(const struct end_signals *s);

#endif
