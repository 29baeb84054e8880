/*
 * The commands that query one snapshot of a program, one file each. A command selects data from the
 * snapshot, orders it and calls the output.
 */
#ifndef COMMANDS_ASK_ASK_H
#define COMMANDS_ASK_ASK_H

#include "commands/base/call.h"
#include "commands/out/out.h"

extern const struct command async_backtrace_command, async_backtrace_all_command;
extern const struct command async_task_command;
extern const struct command async_graph_command, async_deadlocks_command;
extern const struct command task_command, frame_command, up_command, down_command;
extern const struct command list_command, set_command, disassemble_command;
extern const struct command x_command, info_registers_command;
extern const struct command locals_command, print_command, whatis_command;
extern const struct command type_command, types_command;
extern const struct command threads_command, thread_command, bt_command, bt_all_command;
extern const struct command runtimes_command, tasks_command;
extern const struct command info_command, info_layout_command, info_threads_command;
extern const struct command info_sockets_command;
extern const struct command info_locals_command;

#endif
