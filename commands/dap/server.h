/* Serves one client: takes its requests one after the other, and continues the program. */
#ifndef COMMANDS_DAP_SERVER_H
#define COMMANDS_DAP_SERVER_H

#include "commands/dap/context.h"

/* Table of the requests that are answered; terminated by a NULL name. */
extern const struct dap_command_row dap_table[];

/*
 * Serves a client until it goes away: reads requests from in, and answers to out. d->s, d->call and
 * d->table are given, all else is zero. The program is let go then, or ended if it was launched.
 */
struct error *dap_serve(struct dap *d, int in, int out) MUST_CHECK;

#endif
