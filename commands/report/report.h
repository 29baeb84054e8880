/* The command that writes a report: the page and its data in one. */
#ifndef COMMANDS_REPORT_REPORT_H
#define COMMANDS_REPORT_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "commands/base/call.h"
#include "commands/out/out.h"
#include "debugger/base/error.h"

/*
 * Writes the whole page to f. written: time of writing, in seconds since 1970. ERR_OS when f cannot
 * be written, ERR_INTERRUPTED after ^C.
 */
struct error *report_write(FILE *f, const struct answer *answer, int64_t written) MUST_CHECK;

/* report_write() to a file, which is replaced only when the page is complete. */
struct error *report_write_file(const char *path, const struct answer *answer) MUST_CHECK;

extern const struct command report_command;

#endif
