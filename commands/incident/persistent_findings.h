/*
 * The findings of a watchdog from one check to the next: which of them are the same, for how many
 * checks in a row they were found, which are to be reported and which are over.
 */
#ifndef COMMANDS_INCIDENT_PERSISTENT_FINDINGS_H
#define COMMANDS_INCIDENT_PERSISTENT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/finding.h"

enum {
	PERSISTENT_FINDINGS_MAX = 1024
}; /* findings that are followed at a time; each is compared with all */

/* A finding that the last check has found. */
struct persistent_finding {
	struct arena arena;
	struct finding finding; /* a copy */
	uint64_t looks;         /* checks in a row that have found it */
	bool reported, seen;
};

/* Zero-initialised; persistent_findings_free() frees it. */
struct persistent_findings {
	VEC(struct persistent_finding *) found;
	size_t left_out; /* findings of the last check for which there was no room */
};

/* The findings of one check that begin or end. */
struct batch {
	struct finding *data;
	size_t n;
	bool gone;
};

/*
 * Takes the n findings of one more check, of which those of the list `on` count
 * (checks_list_has()). Two checks have found the same when the check has the same name and the
 * tasks are the same or, if no finding has the same, overlap; without tasks, when the command that
 * shows more is the same, which names a thread or a runtime. The text is not compared: it has
 * numbers that change.
 *
 * *gone are the findings that were reported and that this check has not found, *due those that so
 * many checks in a row have found and that were not reported. Both are copies in arena a, and count
 * as reported from now on.
 */
void persistent_findings_compare(struct persistent_findings *list, struct arena *a,
                                 const struct finding *found, size_t n, const char *on,
                                 uint64_t looks, struct batch *gone, struct batch *due);
void persistent_findings_free(struct persistent_findings *list);

#endif
