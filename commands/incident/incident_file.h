/* The files that a watchdog or a guard leaves: a snapshot and a report of one program each. */
#ifndef COMMANDS_INCIDENT_INCIDENT_FILE_H
#define COMMANDS_INCIDENT_INCIDENT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "commands/base/session.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* The wants of the snapshot that is written. */
extern const unsigned incident_file_wants;

/*
 * Takes a snapshot and writes DIRECTORY/asyncdbg-NAME-TIME-PID-WHY.snapshot and the same name with
 * .html; the directory is made if its parent exists. name: of the program; why: a word. *ret, in
 * arena a, is the path without its ending. ERR_OS and the errors of session_snapshot(); what was
 * written before an error stays.
 */
struct error *incident_file_write(struct arena *a, struct session *s, const char *directory,
                                  const char *name, const char *why, const char **ret) MUST_CHECK;
/* Deletes all but the keep newest pairs of files about programs of that name. */
void incident_file_trim(const char *directory, const char *name, size_t keep);

#endif
