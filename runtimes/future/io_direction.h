/*
 * Whether a future reads or writes what it does I/O with, as its type says: the wakers in a socket
 * do not say it. The waker of a read that was given up stays there, and a socket may be read by one
 * future and written by another.
 */
#ifndef RUNTIMES_FUTURE_IO_DIRECTION_H
#define RUNTIMES_FUTURE_IO_DIRECTION_H

#include "runtimes/common/runtime.h"
#include "runtimes/future/object_walk.h"

/*
 * By the rows of this file and of runtimes, a list ended by NULL. type_name: as in DWARF. member:
 * the one of its members that leads to the socket, NULL unknown.
 */
enum io_direction_of io_direction_of(const struct runtime *const *runtimes, const char *type_name,
                                     const char *member);

/*
 * IO_READS or IO_WRITES: what the start of the walk does with list[index]; 0 where that is not
 * known, or both.
 */
unsigned io_direction(const struct reach *r, size_t index);

#endif
