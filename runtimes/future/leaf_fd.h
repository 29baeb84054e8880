/* File descriptors at which leaves wait. */
#ifndef RUNTIMES_FUTURE_LEAF_FD_H
#define RUNTIMES_FUTURE_LEAF_FD_H

#include "debugger/live/fd_info.h"
#include "runtimes/future/leaf.h"

/*
 * Adds a file descriptor, and what the kernel reports about it, to the wait's details. Returns the
 * text to append to the phrase: ", fd 9, 127.0.0.1:80 -> 127.0.0.1:5123", of a socket whose
 * connection is being established with ", connecting, 3 SYNs sent".
 */
const char *leaf_fd_describe(const struct leaf *l, int fd);
/*
 * Describes a socket that the future waits to write to: the bytes that the kernel has not sent yet,
 * and whether the peer's window lets it. Returns a suffix for the phrase, and adds the same as
 * details.
 */
const char *leaf_fd_send_queue(const struct leaf *l, int fd);
/* Words for IO_READS and IO_WRITES, "an event" for other bits; NULL: no bit is set. */
const char *leaf_fd_interest(unsigned interest);
/* Has a TCP socket asked its peer, which has not answered yet? */
bool leaf_fd_is_connecting(const struct descriptor *d);
/*
 * "readable" or "writable": what an operation of io_uring waits for, by the name that its crate
 * gives it, such as RecvFrom. NULL: its name does not tell.
 */
const char *leaf_fd_direction(const char *operation);

#endif
