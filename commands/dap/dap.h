/* The command `dap`. */
#ifndef COMMANDS_DAP_DAP_H
#define COMMANDS_DAP_DAP_H

#include "commands/base/call.h"

extern const struct command dap_command;

#endif
