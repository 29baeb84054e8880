/* Adds numbered breakpoints, for commands. */
#ifndef COMMANDS_CONTROL_BREAKING_H
#define COMMANDS_CONTROL_BREAKING_H

#include "commands/base/call.h"
#include "commands/out/out.h"

/* Adds a breakpoint and shows it. ERR_STATE if the session's program can have none. */
struct error *breaking_add(struct session *s, const struct answer *answer,
                           const struct breakpoint_options *options, struct out *out) MUST_CHECK;

#endif
