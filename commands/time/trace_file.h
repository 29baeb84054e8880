/* The file that a trace is written to while it goes on. */
#ifndef COMMANDS_TIME_TRACE_FILE_H
#define COMMANDS_TIME_TRACE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "debugger/base/error.h"

struct out;

const struct file_format *trace_file_format(const struct out *out, bool perfetto);
/*
 * Opens it, only for its owner; standard where path is NULL or "-". It replaces an older trace at
 * once, so that others can read it while it grows. ERR_OS or ERR_USAGE, see new_file_open().
 */
struct error *trace_file_open(const char *path, const struct file_format *format, FILE *standard,
                              FILE **ret) MUST_CHECK;
/*
 * Closes it and returns err, or else the error of writing its last bytes. lines: where one of the
 * two is an error, half a line at its end is cut off.
 */
struct error *trace_file_close(FILE *f, bool lines, struct error *err) MUST_CHECK;

#endif
