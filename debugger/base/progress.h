/*
 * A progress line on a terminal for long work. It appears after one second, is updated at most ten
 * times a second, and is erased at the end. Off unless commands/ enables it.
 */
#ifndef DEBUGGER_BASE_PROGRESS_H
#define DEBUGGER_BASE_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

enum { PROGRESS_DELAY_MS = 1000, PROGRESS_EACH_MS = 100, PROGRESS_STRIDE = 1024 };

/*
 * f: a terminal, not owned; NULL: off. delay_ms: how long work must last before the line appears.
 */
void progress_enable(FILE *f, unsigned delay_ms);
/*
 * Shows it in another way than as a line. what NULL: the work has ended; called only if it was
 * reported before.
 */
typedef void progress_listener(void *arg, const char *what, uint64_t done, uint64_t total);
/* Calls fn in place of writing to a terminal. fn NULL: off. */
void progress_listen(progress_listener *fn, void *arg, unsigned delay_ms);
/* Starts the delay. */
void progress_begin(void);
/*
 * Reports done of total; total 0: unknown. It reads the clock, so call it once in PROGRESS_STRIDE
 * small steps. what must be a text of ours, as it is not sanitised.
 */
void progress(const char *what, uint64_t done, uint64_t total);
/* Erases the line if it is shown. Call this before anything else is written to the terminal. */
void progress_end(void);

#endif
