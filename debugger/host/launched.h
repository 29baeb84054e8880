/*
 * A program that is started to be traced. Its process exists, with its pid, before the program is
 * executed in it, so that the kernel can learn what to observe there from the first instruction
 * on. ptrace holds it where it has executed the program: one that runs for a millisecond would end
 * before its addresses are read. It lives on when this process ends.
 */
#ifndef DEBUGGER_HOST_LAUNCHED_H
#define DEBUGGER_HOST_LAUNCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/live/stop_after_exec.h"

struct launched {
	pid_t pid;        /* 0: none */
	int go, executed; /* pipes: to let it go on; for its errno if it cannot; -1: closed */
	bool held;        /* the child waits where it has executed the program */
};

/* The file that execvp() would execute; in a. ERR_OS: there is none. */
struct error *launched_find(const char *program, struct arena *a, const char **ret) MUST_CHECK;
/* Starts the process, which waits. words: the file's path and arguments, then NULL. */
struct error *launched_start(const char *const *words, struct launched *ret) MUST_CHECK;
/*
 * Executes the program in it, and holds it at that place until launched_release(). ERR_OS: it could
 * not be executed. Where ptrace is refused, and the place is that of the mapped program, it runs on
 * unheld.
 */
struct error *launched_go(struct launched *l, const char *const *words,
                          enum stop_after_exec_place place) MUST_CHECK;
/* Lets it run, if it is held. */
void launched_release(struct launched *l);
/* The distance of the program's run-time addresses from those of its file. ERR_STATE: the process
 * executes another file, or has ended. */
struct error *launched_load_bias(const struct launched *l, const char *file, uint64_t *ret)
	MUST_CHECK;
/* Ends a process that was not let go, or is held. */
void launched_close(struct launched *l);

#endif
