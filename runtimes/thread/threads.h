/* The parts of the thread descriptions that do not depend on the runtime. */
#ifndef RUNTIMES_THREAD_THREADS_H
#define RUNTIMES_THREAD_THREADS_H

#include "runtimes/common/inspector.h"

/* Adds what needs line tables but no target memory: chains of running futures, native frames. */
void threads_finish(struct collector *c);
/*
 * Adds the chains of one thread alone, if its innermost frame is a coroutine whose code is that of
 * others, too: the chain tells them apart.
 */
void threads_finish_merged(struct collector *c, pid_t tid);

#endif
