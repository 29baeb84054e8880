/* Follows a trace until its time is over, the process has ended, or ^C. */
#ifndef COMMANDS_TIME_FOLLOWING_H
#define COMMANDS_TIME_FOLLOWING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "commands/out/out.h"
#include "runtimes/trace/trace.h"

struct following {
	struct trace *trace;
	pid_t pid;       /* of the process */
	double duration; /* seconds; 0: without end */
	uint64_t start;  /* ns, CLOCK_MONOTONIC: when it began */
	trace_item_fn *item;
	/* Called every few milliseconds, after the items; NULL: none. ended: for the last time. */
	struct error *(*tick)(bool ended, void *arg);
	void *arg;
	bool *executed; /* set at the end: the process has executed another program; NULL: ignored
	                 */
};

/* Detaches the trace at the end. The first error of trace_read() and tick(). */
struct error *following_run(const struct following *f) MUST_CHECK;

/* Prints a note for each wanted event that the program does not show. */
void following_warn(const struct trace_plan *plan, const bool *wanted, const struct out *out);
/* Whether one of them is missing. */
bool following_misses(const struct trace_plan *plan, const bool *wanted);

#endif
