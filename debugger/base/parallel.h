/* Runs one function in several threads. */
#ifndef DEBUGGER_BASE_PARALLEL_H
#define DEBUGGER_BASE_PARALLEL_H

#include <stddef.h>

enum { PARALLEL_MAX = 8 };

/*
 * Calls run(arg) in the calling thread and in new threads, at most wanted times and no more than
 * there are CPUs, nor PARALLEL_MAX. Returns when all calls have returned. Each call must be
 * able to do all the work alone, because no thread may be available.
 */
void parallel_run(void *(*run)(void *arg), void *arg, size_t wanted);

#endif
