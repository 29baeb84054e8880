/* The commands about time: activity of a running program, event by event. One file each. */
#ifndef COMMANDS_TIME_TIME_H
#define COMMANDS_TIME_TIME_H

#include "commands/base/call.h"
#include "commands/out/out.h"

extern const struct command trace_command, probes_command, stalls_command, metrics_command;

#endif
