/* The file that a trace is written to while it goes on. */
#ifndef COMMANDS_TIME_TRACE_FILE_H
#define COMMANDS_TIME_TRACE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "debugger/base/error.h"

/* Opens it, only for its owner; standard where path is NULL or "-". ERR_OS. */
struct error *trace_file_open(const char *path, FILE *standard, FILE **ret) MUST_CHECK;
/*
 * Closes it and returns err, or else the error of writing its last bytes. lines: where one of the
 * two is an error, half a line at its end is cut off.
 */
struct error *trace_file_close(FILE *f, bool lines, struct error *err) MUST_CHECK;

#endif
