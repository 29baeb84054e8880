/* Finds the process that `--name PATTERN` or `--unit NAME` means. */
#ifndef COMMANDS_INCIDENT_BY_NAME_H
#define COMMANDS_INCIDENT_BY_NAME_H

#include <sys/types.h>

#include "debugger/base/error.h"
#include "runtimes/session/asyncdbg.h"

/*
 * pattern: an extended regular expression (regex(7)). It matches a process by its name or the file
 * name of its executable, or, where none has such a name, by its command line. Of several matches
 * those with an executor count (async_processes.h). ERR_USAGE when none or several are left; the
 * message lists them.
 */
struct error *by_name_find(const char *pattern, const struct asyncdbg_options *options, pid_t *ret)
	MUST_CHECK;
/* Finds the process of a systemd unit, whose name may lack ".service"; errors as above. */
struct error *by_name_find_unit(const char *unit, const struct asyncdbg_options *options,
                                pid_t *ret) MUST_CHECK;

#endif
