/* Commands that start a debuggee, attach to it, and control it. */
#ifndef COMMANDS_CONTROL_CONTROL_H
#define COMMANDS_CONTROL_CONTROL_H

#include "commands/base/call.h"
#include "commands/out/out.h"

extern const struct command run_command, attach_command, continue_command, detach_command;
extern const struct command kill_command, stepi_command;
extern const struct command next_command, step_command, finish_command, until_command;
extern const struct command nexti_command;
extern const struct command break_command, tbreak_command, logpoint_command, condition_command;
extern const struct command info_breakpoints_command;
extern const struct command catch_command;
extern const struct command handle_command, info_signals_command, signal_command;
extern const struct command interrupt_command;
extern const struct command delete_command, enable_command, disable_command;
extern const struct command watch_command;
extern const struct command rwatch_command;
extern const struct command awatch_command;

#endif
