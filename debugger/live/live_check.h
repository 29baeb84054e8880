/* Whether a process can be debugged, and if not, what the user can do about it. */
#ifndef DEBUGGER_LIVE_LIVE_CHECK_H
#define DEBUGGER_LIVE_LIVE_CHECK_H

#include <sys/types.h>

#include "debugger/arch/arch.h"
#include "debugger/base/error.h"

/*
 * Looks at /proc only; the process is not touched. to_stop: it shall be stopped, which only one
 * debugger at a time can do. *ret is the architecture of its executable.
 */
struct error *live_check(pid_t pid, bool to_stop, const struct arch **ret) MUST_CHECK;

/* Why the kernel answered EPERM or EACCES for pid. */
struct error *live_denied(pid_t pid) MUST_CHECK;
/* ERR_STATE: traced by another process, or NULL when it is not. */
struct error *live_traced(pid_t pid) MUST_CHECK;
struct error *live_exited(pid_t pid) MUST_CHECK;

#endif
