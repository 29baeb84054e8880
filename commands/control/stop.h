/* Lets the debuggee run, and shows where it stands afterwards. */
#ifndef COMMANDS_CONTROL_STOP_H
#define COMMANDS_CONTROL_STOP_H

#include "commands/base/call.h"
#include "commands/out/out.h"

struct stopped;

/* ERR_STATE if there is no debuggee. */
struct error *stop_need_program(const struct session *s) MUST_CHECK;
/* Takes the session to a new debuggee: opens its handle, and finds and plants the breakpoints. */
struct error *stop_begin(struct session *s, struct out *out) MUST_CHECK;
/*
 * Continues until something is worth a stop: see debuggee_continue(), and step_run() for a step,
 * NULL: none. A temporary breakpoint is the caller's to delete. After an execve() the session is
 * at the new program.
 */
struct error *stop_run(struct session *s, const struct step_options *step, struct out *out)
	MUST_CHECK;
/*
 * Describes where the program stands and why, and puts the thread of the stop in focus. *ret
 * borrows from s->answer and the snapshot. messages: where warnings about its source go.
 */
struct error *stop_describe(struct session *s, FILE *messages, struct stopped *ret) MUST_CHECK;
/* Deletes the temporary breakpoints that halt it. */
struct error *stop_delete_temporary(struct session *s) MUST_CHECK;
/* stop_run() without a step, then shows the stop. */
struct error *stop_continue(struct session *s, const struct answer *answer, struct out *out)
	MUST_CHECK;
/* stop_run() for count steps, then shows the last one. */
struct error *stop_step(struct session *s, const struct step_options *step, uint64_t count,
                        const struct answer *answer, struct out *out) MUST_CHECK;
/* Shows where the program stands and why, and puts the thread of the stop in focus. */
struct error *stop_show(struct session *s, const struct answer *answer, struct out *out) MUST_CHECK;

#endif
