/* Work that several threads share. */
#ifndef DEBUGGER_BASE_PARALLEL_H
#define DEBUGGER_BASE_PARALLEL_H

#include <stddef.h>

enum { PARALLEL_MAX = 8 };

/*
 * Calls run(arg) in the calling thread and in others, wanted calls at most and no more than there
 * are processors, nor PARALLEL_MAX; returns when all have returned. One call alone must do all the
 * work: where no thread can be made it is the only one.
 */
void parallel_run(void *(*run)(void *arg), void *arg, size_t wanted);

#endif
