/* What is told of all threads alike, whatever runtime has described them. */
#ifndef RUNTIMES_THREAD_THREADS_H
#define RUNTIMES_THREAD_THREADS_H

#include "runtimes/common/inspector.h"

/* What needs line tables but no more memory: chains of running futures, native frames. */
void threads_finish(struct collector *c);

#endif
