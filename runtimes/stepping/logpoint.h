/* Lines that logpoints report at hits, and the listener for them: see breakpoint_decide(). */
#ifndef RUNTIMES_STEPPING_LOGPOINT_H
#define RUNTIMES_STEPPING_LOGPOINT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/error.h"
#include "runtimes/hits/log_message.h"

struct breakpoint;

/* A line of a logpoint; valid while it is reported. */
struct logged {
	const struct breakpoint *breakpoint;
	uint64_t when_ns; /* of CLOCK_REALTIME */
	pid_t tid;
	const char *task;               /* its id; NULL: none, or unknown */
	const char *text;               /* with the values in it; sanitised */
	const struct log_value *values; /* breakpoint->message.npaths */
};

/*
 * Listener for reports that do not halt the program. Called while it stands still, by the thread
 * that continues it. An error halts it.
 */
struct debuggee_listener {
	struct error *(*logged)(void *arg, const struct logged *line)MUST_CHECK; /* NULL: nobody */
	void (*warned)(void *arg, const char *text);                             /* NULL: nobody */
	void *arg;
};

#endif
