/*
 * Reads the user's list of secret names, whose values are not shown.
 * $XDG_CONFIG_HOME/asyncdbg/redact (else ~/.config/asyncdbg/redact) has one word on each line. The
 * word is added to those of secrets.h, or removed when a "-" precedes it. "#" begins a comment.
 */
#ifndef COMMANDS_SHELL_REDACT_H
#define COMMANDS_SHELL_REDACT_H

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "dwarf/names/secrets.h"

/*
 * Loads the list; without a file, that of secrets.h. Words are in arena a. The caller frees ret. On
 * failure ret is unchanged: ERR_CORRUPT for an invalid list, ERR_OS when the file cannot be read,
 * so that no value is shown by mistake.
 */
struct error *redact_load(struct arena *a, struct secrets *ret) MUST_CHECK;
/* Reads one file, which may be absent. */
struct error *redact_read(struct arena *a, const char *path, struct secrets *ret) MUST_CHECK;

#endif
