/*
 * A read of another process's memory can block for ever: a page of it may be served by a process
 * that does not serve it (userfaultfd, FUSE), and the kernel lets nothing but SIGKILL interrupt
 * that. Memory of which that is known is read by another process (served_reader.h). For all other
 * memory a thread watches the reads: a mapping may have become one of that kind a moment ago. Where
 * the reader has been in one sleep for too long, the watching thread lets the target run on, says
 * so and ends asyncdbg. A reader that runs, or waits for a CPU, is never ended.
 */
#ifndef DEBUGGER_LIVE_READ_GUARD_H
#define DEBUGGER_LIVE_READ_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Starts the thread, which runs until the end: for main(), as no library may end its program.
 * Without it nothing is watched.
 */
void read_guard_start(void);
/* The process that the message names. */
void read_guard_name(pid_t pid);
/* Around each system call that reads memory of the process. The end does not change errno. */
void read_guard_begin(void);
void read_guard_end(void);
/* process_vm_readv() between both. */
ssize_t read_guard_vectors(pid_t pid, const struct iovec *local, size_t nlocal,
                           const struct iovec *remote, size_t nremote);
/* Around a stop: a read may take less time then. */
void read_guard_stopped(bool yes);
/*
 * How to let the process run on where the kernel alone would not: with breakpoints in its code it
 * would end, and so would one that was launched. Called by the watching thread; no reader returns
 * any more then. NULL: the end of asyncdbg is enough.
 */
void read_guard_let_go(void (*let_go)(void *arg), void *arg);
/* end() is called instead of an exit with status 2, and does not return. NULL: none. */
void read_guard_at_end(void (*end)(void));

#endif
