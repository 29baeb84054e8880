/* The monotonic clock. */
#ifndef DEBUGGER_BASE_CLOCK_H
#define DEBUGGER_BASE_CLOCK_H

#include <stdint.h>

/* Now, in ns of CLOCK_MONOTONIC. */
uint64_t clock_now_ns(void);

#endif
