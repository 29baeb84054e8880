/* Deadlines of timers: when they are due, as details and text of a wait. */
#ifndef RUNTIMES_FUTURE_DEADLINE_H
#define RUNTIMES_FUTURE_DEADLINE_H

#include "runtimes/future/leaf.h"

/* "18446744073 seconds", "3.2 seconds", marked */
struct deadline_seconds {
	char text[26];
};

/* A deadline relative to the current time. */
struct deadline {
	const char *unknown; /* why the distance is unknown; NULL when it is known */
	bool past;
	struct deadline_seconds seconds; /* distance from now */
	/*
	 * "" where the current time is known. Else it is a lower bound, from a core: "at most "
	 * goes before a future deadline, "at least " before a past one. or_past follows a future
	 * one that may have passed, because a runtime does not wait for its timers.
	 */
	const char *at_most, *at_least, *or_past;
};

struct deadline_seconds deadline_seconds_text(uint64_t ns);
/*
 * Reads the Instant, or a wrapper of one, and adds the wait's details. unknown: why it says nothing
 * about the distance from now; NULL: it does. runs: if the time is that of a core, no timer of its
 * kind is overdue.
 */
struct error *deadline_read(const struct leaf *l, struct value instant, const char *unknown,
                            bool runs, struct deadline *ret) MUST_CHECK;
/* Sets the readable line: "sleep future, never polled, sleeping 3.2 seconds". */
void deadline_phrase(const struct leaf *l, const char *name, const char *polled,
                     const struct deadline *due);

#endif
