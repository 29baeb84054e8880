/*
 * Whether a future reads or writes what it does I/O with, as its type says: the wakers in a socket
 * do not say it. The waker of a read that was given up stays there, and a socket may be read by one
 * future and written by another.
 */
#ifndef RUNTIMES_FUTURE_IO_DIRECTION_H
#define RUNTIMES_FUTURE_IO_DIRECTION_H

#include "runtimes/future/object_walk.h"

/* Bits, as those of tokio's Interest (tokio 1.54, src/io/interest.rs). */
enum { IO_READS = 1, IO_WRITES = 2 };

/* What one type on the way from a future to its socket says. */
enum io_says {
	IO_SAYS_NOTHING, /* it may read in order to write, as TLS does */
	IO_SAYS_READS = IO_READS,
	IO_SAYS_WRITES = IO_WRITES,
	IO_PASSES_ON, /* what is read from it is read from what it holds, and so with writing */
};

/* type_name: as in DWARF. member: the one of its members that leads to the socket, NULL unknown. */
enum io_says io_says(const char *type_name, const char *member);

/*
 * IO_READS or IO_WRITES: what the start of the walk does with list[index]; 0 where that is not
 * known, or both.
 */
unsigned io_direction(const struct reach *r, size_t index);

#endif
