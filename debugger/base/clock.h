/* The monotonic clock, and time without a processor. */
#ifndef DEBUGGER_BASE_CLOCK_H
#define DEBUGGER_BASE_CLOCK_H

#include <stdint.h>

/* Now, in ns of CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);
/* From one time to another; 0 if that is not later: a difference of unsigned numbers would wrap. */
uint64_t clock_between(uint64_t from, uint64_t to);
/* From a time to now. */
uint64_t clock_since(uint64_t time);
/* How long the calling thread has waited for a processor since it began, in ns; 0: unknown. */
uint64_t clock_waited_ns(void);

#endif
