/* Data breakpoints: watchpoints that a client has asked for. */
#ifndef COMMANDS_DAP_DATA_H
#define COMMANDS_DAP_DATA_H

#include "commands/dap/context.h"

/* The watchpoint whose value has changed at the last stop; NULL: none. */
const struct watchpoint *data_hit(const struct dap *d);
/* "req.id is 4, was 3" */
const char *data_describe(const struct watchpoint *w, struct arena *a);
/* Sends an event for each watchpoint with a number above last: those of the console. */
void data_send_new(struct dap *d, unsigned last);
/* Forgets the places that dataBreakpointInfo has named, as the program is another one. */
void data_forget(struct dap *d);

#endif
