/* Breakpoints and their conditions, for commands. */
#ifndef COMMANDS_CONTROL_BREAK_CMD_H
#define COMMANDS_CONTROL_BREAK_CMD_H

#include <stdint.h>

#include "commands/base/call.h"
#include "commands/out/out.h"

/* Adds a breakpoint and shows it. ERR_STATE if the session's program can have none. */
struct error *break_cmd_add(struct session *s, const struct answer *answer,
                            const struct breakpoint_options *options, struct out *out) MUST_CHECK;

/*
 * The condition behind "if", the word of that number, in the arena; NULL if there are no more
 * words. before: what stands before it, for the error of any other word. ERR_USAGE if it cannot be
 * parsed.
 */
struct error *break_cmd_read_condition(const struct call *call, size_t from, const char *before,
                                       struct arena *a, const char **ret) MUST_CHECK;

/*
 * Reads --after N, which passes N hits, and --every N, which stops at each Nth hit; 0: not given.
 * ERR_USAGE if one is no such number.
 */
struct error *break_cmd_read_counts(const struct call *call, uint64_t *skip, uint64_t *every)
	MUST_CHECK;

#endif
