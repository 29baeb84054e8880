/* Breakpoints as the client knows them. */
#ifndef COMMANDS_DAP_BREAKPOINTS_H
#define COMMANDS_DAP_BREAKPOINTS_H

#include "commands/dap/context.h"

/* Writes a Breakpoint. */
void breakpoints_put(struct dap *d, struct json_writer *w, const char *key,
                     const struct breakpoint *bp);
/* Kind of the client's breakpoint; DAP_LINE for a breakpoint of the console. */
enum dap_breakpoint_kind breakpoints_kind(const struct dap *d, const struct breakpoint *bp);
/*
 * A hitCondition. "3" and ">= 3": the third hit and all after it; "> 3": those after the third;
 * "% 3": each third. ERR_UNSUPPORTED for any other.
 */
struct error *breakpoints_read_hits(const char *text, uint64_t *skip, uint64_t *every) MUST_CHECK;
/* Sends an event for each breakpoint with a number above last: those of the console. */
void breakpoints_send_new(struct dap *d, unsigned last);
/*
 * Sends an event for each breakpoint that is not as the client knows it: it has a place now, or
 * none any more, or was deleted by the console or at its first hit.
 */
void breakpoints_send_changes(struct dap *d);

#endif
