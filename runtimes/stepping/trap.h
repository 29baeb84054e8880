/*
 * Traps: breakpoints of the debugger itself. A trap is an address, and a function that decides
 * whether a thread which comes there halts the program. Numbered breakpoints, steps and catches are
 * made of traps. An address may have several; all decide at each hit.
 */
#ifndef RUNTIMES_STEPPING_TRAP_H
#define RUNTIMES_STEPPING_TRAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/error.h"
#include "debugger/base/vec.h"
#include "debugger/live/tracer.h"

struct control;
struct trap;

/* A thread that is about to execute the instruction at addr; the program is halted. */
struct trap_hit {
	pid_t tid;
	uint64_t addr; /* run-time */
};

/*
 * Decides: *stop true halts. It may add and remove traps, also its own. After an error the program
 * is halted, and control_continue() returns the error.
 */
typedef struct error *trap_decide(void *arg, const struct trap_hit *hit, bool *stop) MUST_CHECK;

enum { TRAP_MAX_FILTERS = 3 };

struct trap_options {
	uint64_t addr; /* run-time */
	/*
	 * The function is called only for threads that match; with and_next another one follows it
	 * in memory, which must match, too, up to TRAP_MAX_FILTERS. NULL: for all. Copied.
	 */
	const struct tracer_filter *filter;
	trap_decide *decide;
	void *arg;
};

/* Those of a program. All zeros: none. */
struct traps {
	VEC(struct trap *) list;
	VEC(uint64_t) changed; /* addresses whose traps have changed: see trap_hold() */
	bool held;
	bool deciding; /* traps that are removed meanwhile are freed afterwards */
};

/*
 * Adds a trap to the program, which must be under control. *ret is valid until trap_remove(), also
 * when the program is gone.
 */
struct error *trap_add(struct control *c, const struct trap_options *options, struct trap **ret)
	MUST_CHECK;
/* Removes and frees a trap; NULL is allowed. */
struct error *trap_remove(struct control *c, struct trap *trap) MUST_CHECK;
/*
 * From here on traps that are added and removed change nothing in the program before trap_apply(),
 * which is one request for all of them instead of one for each. An error of trap_add() is an error
 * of trap_apply() then. Where traps are the processor's breakpoints, each change is made at once.
 */
void trap_hold(struct control *c);
/* Makes all changes. Whatever lets a thread run begins with it. */
struct error *trap_apply(struct control *c) MUST_CHECK;
/* Likewise; err, if there is one, is returned in place of an error of it. */
struct error *trap_apply_after(struct control *c, struct error *err) MUST_CHECK;
/* Whether any trap is at the address. */
bool trap_is_at(const struct control *c, uint64_t addr);
/* Asks all traps at hit->addr; *stop: whether one of them halts. */
struct error *trap_ask(struct control *c, const struct trap_hit *hit, bool *stop) MUST_CHECK;
/* The program is another one, or gone: nothing is planted any more. */
void trap_forget(struct control *c);
/* Frees all of them. */
void trap_free_all(struct control *c);

#endif
