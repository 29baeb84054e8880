/* Meaning of an empty line at the prompt. */
#ifndef COMMANDS_SHELL_REPEAT_H
#define COMMANDS_SHELL_REPEAT_H

#include "commands/base/call.h"
#include "debugger/base/arena.h"

/*
 * The line that an empty line after this one runs: the same line if all its commands step, or show
 * something; `list` and `x` continue where they ended. In the arena; NULL: nothing, as it is no
 * line of commands, or one of them starts, ends, sets or writes something.
 */
const char *repeat_line(struct arena *a, const struct command *const *table, const char *line);

#endif
