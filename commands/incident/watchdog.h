/* `check --every TIME`: checks a live process again and again, and reports findings that last. */
#ifndef COMMANDS_INCIDENT_WATCHDOG_H
#define COMMANDS_INCIDENT_WATCHDOG_H

#include "commands/base/call.h"
#include "commands/out/out.h"

/* Rows for the table of options of `check`. */
#define WATCHDOG_OPTIONS                                                                           \
	{ "every", "TIME", false, "Check a live process every TIME, until it ends or ^C" },        \
		{ "for", "N", false,                                                               \
		  "With --every: report a finding after N checks in a row have found it, default " \
		  "2" },                                                                           \
		{ "on", "LIST", false,                                                             \
		  "With --every: report these checks, as in --fail-on; default: certain errors" }, \
		{ "save", "DIR", false,                                                            \
		  "With --every: write a snapshot and a report of each reported finding to DIR" }, \
		{ "keep", "N", false,                                                              \
		  "With --save: keep the N newest of each program, default 10" },                  \
		{ "run", "COMMAND", false,                                                         \
		  "With --every: run COMMAND with /bin/sh, with the finding as JSON on its "       \
		  "standard input" },                                                              \
	{                                                                                          \
		"run-limit", "TIME", false, "With --run: kill COMMAND after TIME, default 1m"      \
	}

/* ERR_USAGE when an option of the watchdog is wrong, or given without --every. */
struct error *watchdog_check(const struct call *call) MUST_CHECK;
/*
 * Checks until the process has ended, ^C, or an error that will not go away. interval: seconds
 * between the two looks of one check. s->finding is STATUS_FOUND if anything was reported.
 */
struct error *watchdog_run(struct session *s, const struct call *call, double interval,
                           struct out *out) MUST_CHECK;

#endif
