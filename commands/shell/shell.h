/* What a line of the prompt leaves to a shell: `!COMMAND`, and what follows ` | `. */
#ifndef COMMANDS_SHELL_SHELL_H
#define COMMANDS_SHELL_SHELL_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* A line, taken apart; in arena a. */
struct shell_line {
	const char *before; /* commands that run as ever; NULL: none */
	const char *piped;  /* the one whose answer goes to the shell's command; NULL: none */
	const char *shell;  /* that; NULL: the line has no part for a shell */
};

/*
 * A line that begins with `!` is all a shell's. A `|` that begins a word ends the commands: the
 * last of them is piped into what follows, whatever that has in it. One within quotes, a comment or
 * a word ("--with function a|b") is none. ERR_USAGE where there is nothing before or behind it.
 */
struct error *shell_split(struct arena *a, const char *line, struct shell_line *ret) MUST_CHECK;

/* `/bin/sh -c COMMAND`; *input: what it reads, NULL: it reads what we read. ERR_OS. */
struct error *shell_start(const char *command, FILE **input, pid_t *ret) MUST_CHECK;
/* Until it has ended. */
void shell_wait(pid_t pid);

#endif
