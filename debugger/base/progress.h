/*
 * One line on a terminal that says how far a long piece of work is: not within its first second,
 * at most ten times a second, and erased when it is over. Off unless commands/ turns it on.
 */
#ifndef DEBUGGER_BASE_PROGRESS_H
#define DEBUGGER_BASE_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

enum { PROGRESS_DELAY_MS = 1000, PROGRESS_EACH_MS = 100, PROGRESS_STRIDE = 1024 };

/* f: a terminal, borrowed; NULL: off. delay_ms: of work before the first line. */
void progress_enable(FILE *f, unsigned delay_ms);
/* Work begins: its time counts from here. */
void progress_begin(void);
/*
 * done of total; total 0 where it is unknown. Asks for the time: to be called once in
 * PROGRESS_STRIDE small steps. what is one of our own words.
 */
void progress(const char *what, uint64_t done, uint64_t total);
/* Erases the line, if there is one: before anything else is written to the terminal. */
void progress_end(void);

#endif
