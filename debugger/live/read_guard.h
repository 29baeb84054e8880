/*
 * A read of another process's memory can block for good: a page of it may be served by a process
 * that does not serve it (userfaultfd, FUSE), and the kernel lets nothing but SIGKILL interrupt
 * that. A thread watches the reads. Where the reader has been in one sleep for too long, the
 * watching thread says so and ends asyncdbg: the kernel then lets all threads of the target go on.
 * A reader that runs, or waits for a CPU, is never ended.
 */
#ifndef DEBUGGER_LIVE_READ_GUARD_H
#define DEBUGGER_LIVE_READ_GUARD_H

#include <stdbool.h>
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
void read_guard_stopped(bool yes);
/*
 * Whether breakpoints are in the code of the process: a blocked read is then reported, and asyncdbg
 * goes on waiting, since breakpoints that it leaves behind end the process.
 */
void read_guard_planted(bool yes);
/* end() is called instead of an exit with status 2, and does not return. NULL: none. */
void read_guard_at_end(void (*end)(void));

#endif
