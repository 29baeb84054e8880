/*
 * Holds a child of this process where the program that it executes begins: its libraries are
 * loaded, and no instruction of its own has run. All calls come from one thread.
 */
#ifndef DEBUGGER_LIVE_EXEC_STOP_H
#define DEBUGGER_LIVE_EXEC_STOP_H

#include <stdbool.h>
#include <sys/types.h>

#include "debugger/base/error.h"

/* From now on the child will be held; it has not executed the program yet. */
struct error *exec_stop_begin(pid_t pid) MUST_CHECK;
/*
 * Waits until it is, and passes signals on to it meanwhile; *held false: it has ended instead.
 * ERR_UNSUPPORTED: the processor lets no breakpoint be set but by a change of the code; it is held
 * where the kernel has executed the program then.
 */
struct error *exec_stop_wait(pid_t pid, bool *held) MUST_CHECK;
/* Lets it run. If this process ends before, the kernel does that. */
void exec_stop_end(pid_t pid);

#endif
