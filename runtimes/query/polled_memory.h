/*
 * Variables of a coroutine that optimised code is polling, where the debug info has no place for
 * them: the coroutine's memory has those that live across an await, at the same offset in all of
 * its states.
 */
#ifndef RUNTIMES_QUERY_POLLED_MEMORY_H
#define RUNTIMES_QUERY_POLLED_MEMORY_H

#include "runtimes/query/locals.h"

/*
 * Gives those of the list that are placeless and sole the value that the coroutine has in memory,
 * with the doubts that hold for it: a variable of the state in which the poll began may have a
 * newer value in a register; any other one may not have been set yet. coroutine: of type NULL or at
 * 0 where that is unknown; then nothing changes.
 */
void polled_memory_read(struct collector *c, struct value coroutine, struct local_place *list,
                        size_t n);

#endif
