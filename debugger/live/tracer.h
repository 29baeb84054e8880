/*
 * The only user of ptrace: one tracer thread for each session with a live target. The kernel ties a
 * tracee to the thread that seized it, so callers send requests to the tracer thread and receive
 * events from it. The thread starts with the first request. It blocks all signals, and raises its
 * own scheduling policy while a target is stopped. The caller has SIGCHLD blocked while it waits in
 * tracer_request(); afterwards its mask and policy are what they were. The functions of one tracer
 * must not be called by two threads at the same time.
 *
 * There are two kinds of use, which may be combined:
 * - A stop (tracer_stop.c): the target is seized, stopped and detached again.
 * - A session: a program is launched or attached to, and stays seized until it ends or is detached.
 *   It runs between requests. Signals are passed on to it, and events are queued. A stop of a
 *   session's target uses the threads that are seized already.
 *
 * When asyncdbg ends, for whatever reason, the kernel detaches an attached program, which runs on,
 * and kills a launched one (PTRACE_O_EXITKILL): no other process waits for it, and nobody would
 * handle a breakpoint in it. Nothing is written to a target.
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
	TRACER_STOP_BRIEFLY, /* stop, act, resume: see struct brief_stop */
	TRACER_STOP,         /* until TRACER_RESUME */
	TRACER_RESUME,
	TRACER_LAUNCH,   /* the program is stopped after exec, before its code runs */
	TRACER_ATTACH,   /* the program runs on */
	TRACER_CONTINUE, /* resumes a program after TRACER_LAUNCH */
	TRACER_DETACH,   /* the program runs on, and survives asyncdbg */
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
			const char *path;  /* as for execvp(); inherits our standard streams */
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
/*
 * Frees a tracer and ends its session: an attached program runs on, a launched one is killed. NULL
 * is allowed.
 */
void tracer_free(struct tracer *tr);

/* Executes a request; returns when it is done. */
struct error *tracer_request(struct tracer *tr, struct tracer_request *request) MUST_CHECK;

/* Takes the oldest queued event, waiting for at most timeout_ns. *found false: there was none. */
struct error *tracer_wait_event(struct tracer *tr, uint64_t timeout_ns, struct event *ret,
                                bool *found) MUST_CHECK;

#endif
