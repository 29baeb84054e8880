/* Shell commands in a line of the prompt: `!COMMAND`, and what follows ` | `. */
#ifndef COMMANDS_SHELL_SHELL_H
#define COMMANDS_SHELL_SHELL_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* The parts of a line; in arena a. */
struct shell_line {
	const char *before; /* commands that run without a pipe; NULL: none */
	const char
		*piped; /* the command whose answer is piped to the shell's command; NULL: none */
	const char *shell; /* the shell's command; NULL: the line has none */
};

/*
 * A line that begins with `!` is a shell command. A `|` at the start of a word ends the commands:
 * the answer of the last one is piped into the rest of the line, which is passed to the shell as it
 * is. A `|` within quotes, a comment or a word ("--with function a|b") is no pipe. ERR_USAGE when
 * there is nothing before or after it.
 */
struct error *shell_split(struct arena *a, const char *line, struct shell_line *ret) MUST_CHECK;

/*
 * Starts `/bin/sh -c COMMAND`. *input: a stream to its standard input; input NULL: it inherits
 * ours. ERR_OS.
 */
struct error *shell_start(const char *command, FILE **input, pid_t *ret) MUST_CHECK;
/* Waits until the process has ended. */
void shell_wait(pid_t pid);

#endif
