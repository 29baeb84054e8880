/* The monotonic clock, and time without a processor. */
#ifndef DEBUGGER_BASE_CLOCK_H
#define DEBUGGER_BASE_CLOCK_H

#include <stdint.h>

/* Now, in ns of CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);
/* How long the calling thread has waited for a processor since it began, in ns; 0: unknown. */
uint64_t clock_waited_ns(void);

#endif
