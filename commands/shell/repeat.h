/* What an empty line at the prompt stands for. */
#ifndef COMMANDS_SHELL_REPEAT_H
#define COMMANDS_SHELL_REPEAT_H

#include "commands/base/call.h"
#include "debugger/base/arena.h"

/*
 * What an empty line does after this one: the same again if all its commands step, or show
 * something; `list` and `x` go on where they have ended. In the arena; NULL: nothing, as it is no
 * line of commands, or one of them starts, ends, sets or writes something.
 */
const char *repeat_line(struct arena *a, const struct command *const *table, const char *line);

#endif
