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

/*
 * What the start of the walk does with list[index]: IO_READS or IO_WRITES; 0 if it is unknown or
 * both.
 */
unsigned io_direction(const struct reach *r, size_t index);

#endif
