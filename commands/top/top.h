/* The command top. */
#ifndef COMMANDS_TOP_TOP_H
#define COMMANDS_TOP_TOP_H

#include "commands/base/call.h"

extern const struct command top_command;

#endif
