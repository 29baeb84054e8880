/* Progress of long work, such as reading debug info, as events for the client. */
#ifndef COMMANDS_DAP_LOADING_H
#define COMMANDS_DAP_LOADING_H

#include "commands/dap/context.h"

enum { LOADING_DELAY_MS = 500 };

/* Sends events of all work that lasts longer than delay_ms. d must live until loading_ignore(). */
void loading_listen(struct dap *d, unsigned delay_ms);
void loading_ignore(void);

#endif
