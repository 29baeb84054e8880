/*
 * Which values are not shown, as the user wishes it. $XDG_CONFIG_HOME/asyncdbg/redact (else
 * ~/.config/asyncdbg/redact) has a word a line that is added to those of secrets.h, or with a "-"
 * in front taken away; "#" begins a comment.
 */
#ifndef COMMANDS_SHELL_REDACT_H
#define COMMANDS_SHELL_REDACT_H

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "dwarf/names/secrets.h"

/*
 * Without a file those of secrets.h. Words are in arena a; the caller frees ret, which is as it was
 * on failure. ERR_CORRUPT for what is no such list, ERR_OS when there is one and it cannot be read:
 * nothing is shown by mistake.
 */
struct error *redact_load(struct arena *a, struct secrets *ret) MUST_CHECK;
/* The same of one file; it may be absent. */
struct error *redact_read(struct arena *a, const char *path, struct secrets *ret) MUST_CHECK;

#endif
