/* File descriptors at which leaves wait. */
#ifndef RUNTIMES_FUTURE_LEAF_FD_H
#define RUNTIMES_FUTURE_LEAF_FD_H

#include "runtimes/future/leaf.h"

/*
 * Adds a file descriptor, and what the kernel reports about it, to the wait's details. Returns the
 * text to append to the phrase: ", fd 9, 127.0.0.1:80 -> 127.0.0.1:5123".
 */
const char *leaf_fd_describe(const struct leaf *l, int fd);
/*
 * "readable" or "writable": what an operation of io_uring waits for, by the name that its crate
 * gives it, such as RecvFrom. NULL: its name does not tell.
 */
const char *leaf_fd_direction(const char *operation);

#endif
