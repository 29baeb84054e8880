/* Points in time on the monotonic clock of the target. */
#ifndef RUNTIMES_COMMON_INSTANT_H
#define RUNTIMES_COMMON_INSTANT_H

#include "dwarf/values/show_rows.h"
#include "runtimes/common/inspector.h"

/*
 * Text of a time from the moment of the snapshot: "in 3.2 seconds", "42 seconds ago"; of a core,
 * whose own time is known as a lower bound at best, "in at most 3.2 seconds". NULL when the moment
 * is not known. In c->scratch.
 */
const char *instant_text(struct collector *c, uint64_t ns);

/* Reads a std::time::Instant, or a wrapper of one, in nanoseconds. ERR_CORRUPT: it is no time. */
struct error *instant_read(struct inspector *in, struct value v, uint64_t *ns) MUST_CHECK;

/* Rows for show_register(): Instants printed as values. */
extern const struct show_row instant_shown[];

#endif
