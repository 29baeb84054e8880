/* Parses and formats typed durations, such as the interval between two snapshots. */
#ifndef COMMANDS_BASE_INTERVAL_H
#define COMMANDS_BASE_INTERVAL_H

#include "commands/base/call.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/*
 * Parses "5", "5s", "200ms", "500us", "2m" or "1h" into seconds, from 0 to one day. ERR_USAGE for
 * anything else.
 */
struct error *interval_read(const char *word, double *seconds) MUST_CHECK;
/* interval_read() for --max-pause, where a number without a unit is milliseconds. */
struct error *interval_read_pause(const char *word, double *seconds) MUST_CHECK;
/*
 * The time above 0 that is the value of an option; *seconds stays as it is where the option was not
 * given. ERR_USAGE.
 */
struct error *interval_option(const struct call *call, const char *name, double *seconds)
	MUST_CHECK;
/* Formats such a word for text output, in arena a: "5 s" for "5s" and "5". */
const char *interval_text(struct arena *a, const char *word);

#endif
