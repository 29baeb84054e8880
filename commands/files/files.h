/* The commands that read or write snapshots and layout files. */
#ifndef COMMANDS_FILES_FILES_H
#define COMMANDS_FILES_FILES_H

#include "commands/base/call.h"
#include "commands/out/out.h"

extern const struct command layout_command;
extern const struct command save_command, diff_command;

#endif
