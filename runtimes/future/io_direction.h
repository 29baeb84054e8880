/*
 * Whether a future reads or writes its I/O resource, by the future's type. The wakers in a socket
 * do not show this: the waker of a cancelled read stays in the socket, and one future may read a
 * socket that another future writes.
 */
#ifndef RUNTIMES_FUTURE_IO_DIRECTION_H
#define RUNTIMES_FUTURE_IO_DIRECTION_H

#include "runtimes/common/runtime.h"
#include "runtimes/future/object_walk.h"

/*
 * Looks a type up in the rows of io_direction.c and of crates (a list that ends with NULL).
 * type_name: as in DWARF. member: its member that leads to the socket; NULL unknown.
 */
enum io_direction_of io_direction_of(const struct crate_types *const *crates, const char *type_name,
                                     const char *member);

/* The direction in which the start of the walk uses list[index], which is a resource. */
struct io_direction io_direction(const struct reach *r, size_t index);

/*
 * For what a future waits at a resource that wakes its task for the directions `woken`, none of
 * which is ready. A read or write that was given up leaves its waker in the socket: of two, that
 * counts which the future asks of the stream around the socket. The other one alone is a wait, too:
 * TLS may have to write in order to read.
 */
unsigned io_direction_woken(const struct decoder *d, unsigned woken);

/*
 * The direction that a future of the type wants of the stream inside it: IO_READS or IO_WRITES; 0:
 * unknown, or both.
 */
unsigned io_direction_wanted(const struct type *t);

#endif
