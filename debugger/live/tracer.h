/*
 * The only user of ptrace: one thread for each session with a live target. The kernel ties a tracee
 * to the thread that seized it, so requests go in and events come out. The thread begins with the
 * first request. It blocks all signals and raises its own scheduling policy while a target stands
 * still; it changes neither for any other thread. Functions of one tracer are called by one thread
 * at a time.
 *
 * Two kinds of use, which may be combined:
 * - A stop (tracer_stop.c): the target is seized, stopped and detached again.
 * - A session: a program is launched or attached to, and stays seized until it ends or is detached.
 *   It runs while nobody calls; signals are passed on to it, and what happens is kept as events.
 *   A stop of a session's target uses the threads that are seized already.
 *
 * When asyncdbg ends, in whatever way, the kernel detaches an attached program, which runs on, and
 * kills a launched one (PTRACE_O_EXITKILL): nobody else waits for it, and a breakpoint in it would
 * have no one to handle it. Nothing is written to a target.
 */
#ifndef DEBUGGER_LIVE_TRACER_H
#define DEBUGGER_LIVE_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/arch/arch.h"
#include "debugger/base/error.h"
#include "debugger/live/event.h"

struct live;
struct brief_stop;
struct tracer;

enum tracer_request_kind {
	TRACER_STOP_BRIEFLY, /* stop, act, let go: see struct brief_stop */
	TRACER_STOP,         /* until TRACER_RESUME */
	TRACER_RESUME,
	TRACER_LAUNCH,   /* the program stands still when it has been loaded, before its code */
	TRACER_ATTACH,   /* the program runs on */
	TRACER_CONTINUE, /* what stands still since its launch */
	TRACER_DETACH,   /* the program runs on, in our absence too */
	TRACER_KILL,     /* EVENT_KILLED follows */
	/* Not supported yet: ERR_STATE. */
	TRACER_WRITE_MEMORY,
	TRACER_SET_REGISTERS,
	TRACER_STEP,
};

struct tracer_request {
	enum tracer_request_kind kind;
	union {
		struct {
			struct live *live;
			const struct brief_stop *brief;
		} stop;
		struct {
			const char *path;  /* as execvp() takes it; standard streams are ours */
			char *const *argv; /* ended by NULL */
			pid_t pid;         /* result */
		} launch;
		struct {
			pid_t pid;
		} attach;
		struct {
			uint64_t addr;
			const void *bytes;
			size_t len;
		} write;
		struct {
			pid_t tid;
			const struct regs *regs; /* of TRACER_SET_REGISTERS */
		} thread;
	};
};

struct tracer *tracer_new(void);
/* Ends its session: an attached program runs on, a launched one is killed. NULL is allowed. */
void tracer_free(struct tracer *tr);

/* Returns when it is done. */
struct error *tracer_request(struct tracer *tr, struct tracer_request *request) MUST_CHECK;

/* The oldest event that nobody took yet, waiting for at most timeout_ns. *found false: none. */
struct error *tracer_wait_event(struct tracer *tr, uint64_t timeout_ns, struct event *ret,
                                bool *found) MUST_CHECK;

#endif
