/*
 * Long polls without a trace: tasks that the same thread polls at each of several looks. Shorter
 * ones may be missed, and several polls of a task may be taken for one.
 */
#ifndef COMMANDS_TIME_STALL_LOOKS_H
#define COMMANDS_TIME_STALL_LOOKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "commands/base/session.h"
#include "commands/time/stall.h"
#include "debugger/base/error.h"

/* stall is valid during the call. */
typedef struct error *stall_report_fn(const struct stall *stall, void *arg);

struct stall_looks {
	const struct session *s; /* with a running process */
	pid_t pid;
	double over;     /* seconds between the first look and the last one */
	double duration; /* seconds, at most; 0: no limit */
	stall_report_fn *report;
	void *arg;
};

/* Looks until the time is over, ^C, or the end of the process. */
struct error *stall_looks_run(const struct stall_looks *l) MUST_CHECK;

#endif
