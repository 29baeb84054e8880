/*
 * A command that `guard` runs: starts it, passes signals and output on, and waits until it ends,
 * takes too long or is silent for too long.
 */
#ifndef COMMANDS_INCIDENT_GUARDED_H
#define COMMANDS_INCIDENT_GUARDED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/error.h"

struct guarded_limits {
	double timeout; /* seconds from the start; 0: none */
	double silence; /* seconds without output; 0: none */
};

/* Method of observing output without changing the file that the command writes to. */
enum output_kind {
	OUTPUT_NONE,  /* closed, or written together with the other one */
	OUTPUT_TIME,  /* a file: by the time of its last change */
	OUTPUT_TTY,   /* a terminal: by that time, too, which the kernel updates each 8 seconds only
	               */
	OUTPUT_RELAY, /* a pipe, a socket or a device: through a pipe of ours */
};

struct guarded_output {
	enum output_kind kind;
	int fd;                      /* 1 or 2 */
	int ends[2];                 /* OUTPUT_RELAY: the pipe; -1: closed */
	struct timespec last_change; /* OUTPUT_TIME, OUTPUT_TTY */
	size_t len;                  /* OUTPUT_RELAY: bytes that were read and not yet passed on */
	char waiting[65536];
};

struct guarded {
	pid_t pid;
	struct guarded_limits limits;
	struct guarded_output outputs[2];
	uint64_t started_ns, last_output_ns; /* on the monotonic clock */
	sigset_t mask;                       /* of the caller */
	int signals;                         /* a signalfd */
	bool ended;
	int status; /* as exit statuses are: 128 + N for a signal */
};

enum guarded_end { GUARDED_ENDED, GUARDED_TIMEOUT, GUARDED_SILENT };

/*
 * Starts the command. The calling process becomes the parent of all processes below it that lose
 * theirs (PR_SET_CHILD_SUBREAPER). ERR_OS with errnum ENOENT, EACCES, ... when it cannot be
 * executed. Call guarded_close() in any case.
 */
struct error *guarded_start(struct guarded *g, const char *const *argv,
                            const struct guarded_limits *limits) MUST_CHECK;
/* Waits for the end or a limit. Signals that were sent to this process alone are passed on. */
struct error *guarded_wait(struct guarded *g, enum guarded_end *ret) MUST_CHECK;
/* Whether output was not passed on, since nobody reads it: the command may wait for that alone. */
bool guarded_is_unread(const struct guarded *g);
/* Ends all processes below this one: SIGTERM, after grace seconds SIGKILL. */
void guarded_end_all(struct guarded *g, double grace);
void guarded_close(struct guarded *g);

#endif
