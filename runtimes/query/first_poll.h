/*
 * The code of a coroutine's poll function before the jump by its state. Every poll executes it, but
 * rustc puts lines of the body there: constants and promoted references (`let retries = 3`, `let
 * name = "x"` of rustc 1.95, debug) are set before the jump, not where the body comes to them.
 * These lines belong to the first poll alone.
 */
#ifndef RUNTIMES_QUERY_FIRST_POLL_H
#define RUNTIMES_QUERY_FIRST_POLL_H

#include "debugger/live/tracer.h"
#include "dwarf/lookup/function_lines.h"
#include "dwarf/types/type.h"

struct inspector;

/* First-poll code of a function; all zeros: no coroutine's, or the code does not tell. */
struct first_poll {
	const struct function *function;
	uint64_t begin, end;        /* run-time: the body's first line there, and the jump */
	const struct member *state; /* the discriminant of the coroutine */
	uint64_t unresumed;         /* its value before the first poll */
};

/* f NULL: all zeros. l: its lines. */
void first_poll_read(struct inspector *in, const struct function *f, const struct function_lines *l,
                     struct first_poll *ret);
/* Whether an address is before the jump. */
bool first_poll_has(const struct first_poll *poll, uint64_t addr);
/*
 * The thread is in the first poll. False: the address is not before the jump, or the debug info
 * does not tell there which coroutine is polled.
 */
bool first_poll_filter(const struct first_poll *poll, uint64_t addr, struct tracer_filter *ret);

#endif
