/*
 * Holds a child of this process where it has executed a program, so that no instruction of the
 * program runs until it is let go. All calls come from one thread.
 */
#ifndef DEBUGGER_LIVE_STOP_AFTER_EXEC_H
#define DEBUGGER_LIVE_STOP_AFTER_EXEC_H

#include <stdbool.h>
#include <sys/types.h>

#include "debugger/base/error.h"

/* The place at which the child is held. */
enum stop_after_exec_place {
	STOP_AFTER_EXEC_MAPPED, /* the kernel has mapped the program and its loader */
	STOP_AFTER_EXEC_ENTRY,  /* the loader has loaded the libraries, too */
};

/* Prepares to hold the child, which has not executed the program yet. ERR_OS: it may not be. */
struct error *stop_after_exec_begin(pid_t pid) MUST_CHECK;
/*
 * Waits until the child is held there, and passes signals on to it meanwhile; *held false: it has
 * ended instead. ERR_UNSUPPORTED: the CPU lets no breakpoint be set at the entry but by a change of
 * the code; the child is held where the program is mapped then.
 */
struct error *stop_after_exec_wait(pid_t pid, enum stop_after_exec_place place, bool *held)
	MUST_CHECK;
/* Lets the child run. If this process ends before, the kernel does that. */
void stop_after_exec_end(pid_t pid);

#endif
