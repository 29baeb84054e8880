/*
 * The words of a command line that are no options: who is asked, then what.
 *
 *     asyncdbg PID [COMMAND]      asyncdbg EXE CORE [COMMAND]     asyncdbg EXE -c CORE [COMMAND]
 *
 * The last one is what `coredumpctl debug --debugger=asyncdbg` calls: its run_debug() (systemd,
 * src/coredump/coredumpctl.c, of 252 and 257) passes the words of --debugger-arguments, then the
 * executable, "-c" and the core. Such words may be a command, so EXE may also stand behind one.
 */
#ifndef COMMANDS_SHELL_INVOCATION_H
#define COMMANDS_SHELL_INVOCATION_H

#include <stdbool.h>

#include "commands/shell/command.h"

/* Who was named so far, by words and by options: what is not NULL or 0. */
struct named {
	pid_t pid;
	const char *core;
	const char *exe;   /* by a word; */
	bool exe_is_taken; /* or by the option --exe */
};

/*
 * Whether a word says who is asked, and is then kept in *named. command: the words before it that
 * are not, of the command that it may belong to. A command or a prefix of one is never taken, nor
 * is what that command takes as an argument.
 */
bool invocation_takes(const struct command *const *table, const struct words *command,
                      const char *word, struct named *named);

/* ERR_USAGE where an executable was named by a word, and nothing that it belongs to. */
struct error *invocation_check(const struct named *named) MUST_CHECK;

#endif
