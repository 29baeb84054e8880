/* Checks whether a process can be debugged; errors tell the user what to do about it. */
#ifndef DEBUGGER_LIVE_LIVE_CHECK_H
#define DEBUGGER_LIVE_LIVE_CHECK_H

#include <sys/types.h>

#include "debugger/arch/arch.h"
#include "debugger/base/error.h"

/*
 * Checks a process by reading /proc only. to_stop: the process will be stopped, which only one
 * debugger at a time can do. *ret is the architecture of its executable.
 */
struct error *live_check(pid_t pid, bool to_stop, const struct arch **ret) MUST_CHECK;

/* An error that explains why the kernel returned EPERM or EACCES for pid. */
struct error *live_denied(pid_t pid) MUST_CHECK;
/* ERR_STATE if another process traces pid, else NULL. */
struct error *live_traced(pid_t pid) MUST_CHECK;
struct error *live_exited(pid_t pid) MUST_CHECK;

#endif
