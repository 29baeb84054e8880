/* Options of the flight recorder: see recorder.h. */
#ifndef COMMANDS_TIME_RECORDER_OPTIONS_H
#define COMMANDS_TIME_RECORDER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands/base/call.h"
#include "commands/time/condition.h"
#include "debugger/base/error.h"

/* Rows for the table of options of `trace`. */
#define RECORDER_OPTIONS                                                                           \
	{ "ring", "SIZE", false,                                                                   \
	  "Keep the last events in SIZE bytes of memory (K, M, G), and write FILE when a "         \
	  "condition is met, or on SIGUSR1" },                                                     \
		{ "when", "CONDITION", true,                                                       \
		  "With --ring: write FILE on 'poll>TIME', 'runnable>TIME', 'alive>N', deadlock "  \
		  "or death (by a signal)" },                                                      \
		{ "count", "N", false,                                                             \
		  "With --ring: write FILE, FILE.2 and so on up to N, then exit; default 1" },     \
	{                                                                                          \
		"every", "TIME", false,                                                            \
			"With --when deadlock: check for one every TIME, default 10s"              \
	}

struct recorder_options {
	uint64_t size; /* 0: no recorder is asked for */
	struct condition conditions[CONDITION_MAX];
	size_t n;
	uint64_t count;
	double every; /* seconds */
	const char *path;
};

/* ERR_USAGE. The options borrow from the call. */
struct error *recorder_options_read(const struct call *call, struct recorder_options *ret)
	MUST_CHECK;
/* Adds the events that its conditions need. */
void recorder_options_events(const struct recorder_options *o, bool events[TRACE_NEVENTS]);
/* Whether there is a condition of that kind. */
bool recorder_options_have(const struct recorder_options *o, enum condition_kind kind);

#endif
