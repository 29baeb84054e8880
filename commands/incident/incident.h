/* The commands that find and watch the processes of this machine: one file each. */
#ifndef COMMANDS_INCIDENT_INCIDENT_H
#define COMMANDS_INCIDENT_INCIDENT_H

#include "commands/base/call.h"
#include "commands/out/out.h"

extern const struct command ps_command, check_command, guard_command;

#endif
