/*
 * A program that is started to be traced. Its process exists, with its pid, before the program is
 * executed in it, so that the kernel can learn what to observe there from the first instruction
 * on. It is not traced by ptrace, unless it is to be held where the program begins, and lives on
 * when this process ends.
 */
#ifndef COMMANDS_TIME_LAUNCHED_H
#define COMMANDS_TIME_LAUNCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

struct launched {
	pid_t pid;        /* 0: none */
	int go, executed; /* pipes: what lets it go on; its errno if it cannot; -1: closed */
	bool held;        /* it waits where the program begins */
};

/* The file that execvp() would execute; in a. ERR_OS: there is none. */
struct error *launched_find(const char *program, struct arena *a, const char **ret) MUST_CHECK;
/* Starts the process, which waits. words: the file's path and arguments, then NULL. */
struct error *launched_start(const char *const *words, struct launched *ret) MUST_CHECK;
/*
 * Executes the program in it. hold: no instruction of it runs before launched_release(). ERR_OS: it
 * could not be executed.
 */
struct error *launched_go(struct launched *l, const char *const *words, bool hold) MUST_CHECK;
/* Lets it run, if it is held. */
void launched_release(struct launched *l);
/* The distance of the program's run-time addresses from those of its file. */
struct error *launched_bias(const struct launched *l, const char *file, uint64_t *ret) MUST_CHECK;
/* Ends a process that was not let go, or is held. */
void launched_close(struct launched *l);

#endif
