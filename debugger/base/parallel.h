/* Work that several threads share. */
#ifndef DEBUGGER_BASE_PARALLEL_H
#define DEBUGGER_BASE_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { PARALLEL_MAX = 8 };

/*
 * Calls run(arg) in the calling thread and in others, wanted calls at most and no more than there
 * are processors, nor PARALLEL_MAX; returns when all have returned. One call alone must do all the
 * work: where no thread can be made it is the only one.
 */
void parallel_run(void *(*run)(void *arg), void *arg, size_t wanted);

/* Is there more than one processor? */
bool parallel_is_possible(void);

/* A thread beside the calling one. */
struct beside {
	pthread_t thread;
	bool started;
};
/* Calls run(arg) there; false when there is but one processor, or no thread can be made. */
bool parallel_start(struct beside *b, void *(*run)(void *arg), void *arg);
/* Waits until it has returned, if it was started. */
void parallel_wait(struct beside *b);

#endif
