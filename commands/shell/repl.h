/* The prompt: line editing, history, completion of commands. */
#ifndef COMMANDS_SHELL_REPL_H
#define COMMANDS_SHELL_REPL_H

#include "commands/base/session.h"
#include "commands/out/out.h"

/*
 * Reads and runs commands until `quit` or the end of input. ^C discards the line or cancels the
 * command. The history is in $XDG_STATE_HOME/asyncdbg/history if that can be written.
 */
void repl(struct session *s, struct out *out);

#endif
