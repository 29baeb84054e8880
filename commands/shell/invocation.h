/*
 * Parses the words of the command line that are no options: the target, then the command.
 *
 *     asyncdbg PID [COMMAND]      asyncdbg EXE CORE [COMMAND]     asyncdbg EXE -c CORE [COMMAND]
 *
 * The last one is what `coredumpctl debug --debugger=asyncdbg` calls: its run_debug() (systemd,
 * src/coredump/coredumpctl.c, of 252 and 257) passes the words of --debugger-arguments, then the
 * executable, "-c" and the core. Such words may be a command, so EXE may also follow one.
 */
#ifndef COMMANDS_SHELL_INVOCATION_H
#define COMMANDS_SHELL_INVOCATION_H

#include <stdbool.h>

#include "commands/shell/command.h"

/* The target as named so far by words and options. Members that are NULL or 0 are not named. */
struct named {
	pid_t pid;
	const char *core;
	const char *exe;   /* named by a word; */
	bool exe_is_taken; /* --exe was given instead */
};

/*
 * Whether a word names the target; if so it is stored in *named. command: the preceding words, of
 * the command that the word may belong to. A command, a prefix of one, or an argument of that
 * command never names the target.
 */
bool invocation_takes(const struct command *const *table, const struct words *command,
                      const char *word, struct named *named);

/* ERR_USAGE when a word named an executable but no core or process was named. */
struct error *invocation_check(const struct named *named) MUST_CHECK;

#endif
