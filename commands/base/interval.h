/* Times as they are typed, those between two looks at a process too: told, and waited for. */
#ifndef COMMANDS_BASE_INTERVAL_H
#define COMMANDS_BASE_INTERVAL_H

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/*
 * Seconds from "5", "5s", "200ms", "500us", "2m" or "1h", up to a day; 0 too. ERR_USAGE for
 * anything else.
 */
struct error *interval_read(const char *word, double *seconds) MUST_CHECK;
/* The same where a number without a unit is milliseconds: --max-pause. */
struct error *interval_read_pause(const char *word, double *seconds) MUST_CHECK;
/* The same word for people, in arena a: "5 s", also of "5". */
const char *interval_text(struct arena *a, const char *word);
/* ERR_INTERRUPTED after ^C. */
struct error *interval_wait(double seconds) MUST_CHECK;

#endif
