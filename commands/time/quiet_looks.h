/*
 * Looks at a process again and again without stopping it, where there are no probes. They take at
 * most a tenth of a CPU, so the more there is to read, the rarer they are.
 */
#ifndef COMMANDS_TIME_QUIET_LOOKS_H
#define COMMANDS_TIME_QUIET_LOOKS_H

#include <stdint.h>

#include "commands/base/session.h"
#include "debugger/base/error.h"

struct quiet_looks {
	struct session session; /* a session of its own */
	unsigned wants;
	uint64_t next; /* the time at which the next look is due; ns, CLOCK_MONOTONIC */
};

/*
 * Opens the process of s once more, and takes a first look, which reads debug info: *ret is NULL
 * where that fails. wants: of each look.
 */
struct error *quiet_looks_begin(const struct session *s, unsigned wants, struct quiet_looks *q,
                                const struct snapshot **ret) MUST_CHECK;
/* The snapshot lives until the next look. Sets next, also where it fails. */
struct error *quiet_looks_take(struct quiet_looks *q, const struct snapshot **ret) MUST_CHECK;
/* All zeros is allowed. */
void quiet_looks_end(struct quiet_looks *q);

#endif
