/*
 * A read of another process's memory can block for good: a page of it may be served by a process
 * that does not serve it (userfaultfd, FUSE), and the kernel lets nothing but SIGKILL interrupt
 * that. A thread watches the reads. Where one goes on for too long, it says so and ends asyncdbg:
 * the kernel then lets all threads of the target go on.
 */
#ifndef DEBUGGER_LIVE_READ_GUARD_H
#define DEBUGGER_LIVE_READ_GUARD_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Starts the thread, which runs until the end: for main(), as no library may end its program.
 * Without it nothing is watched.
 */
void read_guard_start(void);
/* The process that the message names. */
void read_guard_name(pid_t pid);
/* Around each system call that reads memory of the process. */
void read_guard_begin(void);
void read_guard_end(void);
/* Around a stop: a read may take less time then. */
void read_guard_stopped(int yes);
/* end() is called instead of an exit with status 2, and does not return. NULL: none. */
void read_guard_at_end(void (*end)(void));

#endif
