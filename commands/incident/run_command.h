/* The command of `check --run`: it runs beside the watchdog, which never waits for it. */
#ifndef COMMANDS_INCIDENT_RUN_COMMAND_H
#define COMMANDS_INCIDENT_RUN_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "debugger/base/error.h"

struct run_command {
	const char *line;    /* for /bin/sh -c; borrowed */
	double limit;        /* seconds after which it is ended, with its process group */
	pid_t pid;           /* 0: it does not run */
	uint64_t started_ns; /* on the monotonic clock */
};

/* A file in memory for the command's input; NULL with errno. */
FILE *run_command_input(void);
/*
 * Starts the command with the contents of input as its standard input; its standard output goes to
 * our standard error. Closes input. ERR_STATE while the command of an earlier call still runs,
 * ERR_OS when it cannot be started.
 */
struct error *run_command_start(struct run_command *c, FILE *input) MUST_CHECK;
/*
 * Takes the status of a command that has ended, and ends one that has run for its limit. An error
 * says that it failed or was ended. wait: until it has ended, at most for what is left of that
 * time; interrupt_request(), as by a second ^C, ends it: the caller clears that of the first.
 */
struct error *run_command_reap(struct run_command *c, bool wait) MUST_CHECK;

#endif
