/*
 * The debuggee as a process: started or attached to, halted and continued. It stands still between
 * two calls. What halts it by itself are internal breakpoints (internal_breakpoint.h). All requests
 * go to debugger/live/tracer.h. Numbered breakpoints, and what else a user sees of it, are in
 * debuggee.h.
 */
#ifndef RUNTIMES_STEPPING_CONTROL_H
#define RUNTIMES_STEPPING_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/arch/arch.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/live/terminal.h"
#include "runtimes/stepping/internal_breakpoint.h"

struct tracer;

enum control_reason {
	CONTROL_STARTED, /* its libraries are loaded, no instruction of its own has run */
	CONTROL_ATTACHED,
	CONTROL_BREAKPOINT,  /* an internal breakpoint halts: a thread is about to execute the
	                        instruction at addr */
	CONTROL_CAUGHT,      /* control.look or control.step halts it */
	CONTROL_WATCH,       /* a thread has written to memory at addr, or accessed it, and
	                        control.watched halts */
	CONTROL_SIGNAL,      /* a thread is about to receive a signal */
	CONTROL_INTERRUPTED, /* by interrupt_request() */
	CONTROL_STEPPED,     /* a thread has executed one instruction */
	CONTROL_EXEC,        /* it is another program now, as after CONTROL_STARTED */
	CONTROL_EXITED,      /* with status; it is gone */
	CONTROL_KILLED,      /* by a signal; it is gone */
	CONTROL_GONE,        /* detached, or never there */
};

/* Reason why the program stands still. */
struct control_stop {
	enum control_reason reason;
	pid_t tid;     /* the thread; 0: no certain one */
	uint64_t addr; /* CONTROL_BREAKPOINT, CONTROL_WATCH; run-time */
	int signal;    /* CONTROL_SIGNAL, CONTROL_KILLED */
	int status;    /* CONTROL_EXITED */
};

/* A program to start. */
struct control_program {
	const char *const *argv; /* ended by NULL; the first one as for execvp() */
	const char *cwd;         /* NULL: ours */
	bool random;             /* leave the addresses random */
	bool no_input;           /* its standard input is /dev/null */
	bool keep;               /* it runs on when we end */
	char *const *env;        /* its environment, ended by NULL; NULL: ours */
	int output, errors;      /* its standard output and error; 0: ours */
};

/*
 * A look at the program from time to time while it runs, which is not halted for it. *stop true
 * halts it; control_continue() returns an error of it, and the program runs on.
 */
struct periodic_check {
	uint64_t every_ns; /* 0: there is none */
	struct error *(*look)(void *arg, bool *stop)MUST_CHECK;
	void *arg;
	uint64_t last_ns; /* for control.c alone */
};

/* Treatment of the program's signals. Bit n - 1 is signal n. */
struct control_signals {
	uint64_t stop;  /* they halt it before they are delivered; they are reported, too */
	uint64_t drop;  /* they are not delivered */
	uint64_t print; /* they are reported */
	bool is_set;    /* false: the defaults hold */
};

struct control {
	struct tracer *tracer; /* for target_options.tracer; closed by control_close() */
	pid_t pid;             /* 0: there is no program */
	bool launched;         /* it ends with us */
	struct terminal terminal;
	/*
	 * Set by the caller while there is no program: its code is never written to. Internal
	 * breakpoints are the CPU's breakpoints, four at a time with those of watchpoints:
	 * internal_breakpoint_add() is an error where there are no more, or where the kernel
	 * permits none.
	 */
	bool hw_breakpoints_only;
	struct control_stop stop; /* the last one */
	uint64_t stop_ns;         /* when its event was taken: clock_now_ns() */
	uint64_t nstops; /* number of halts; internal breakpoints let the program pass at some of
	                    them */
	struct internal_breakpoints internals;
	struct periodic_check look;
	struct periodic_check count; /* counts how often internal breakpoints let threads pass */
	struct periodic_check step;  /* watches a step, whose thread may end */
	struct control_signals signals;
	/* Called while it runs for signals that are reported and do not halt it; NULL: nothing is.
	 */
	void (*on_signal)(void *arg, pid_t tid, int signal);
	void *on_signal_arg;
	/*
	 * Called for a new thread that the kernel gives no hardware breakpoint, of a watchpoint or
	 * of --production, with the errno; NULL: nothing is.
	 */
	void (*on_unwatched)(void *arg, pid_t tid, int errnum);
	void *on_unwatched_arg;
	/* Decides about CONTROL_WATCH, as an internal breakpoint does; for watch.c alone. */
	hit_callback *watched;
	void *watched_arg;
};

/*
 * Starts a program and runs it to CONTROL_STARTED. If the terminal is our standard input, the
 * program gets it whenever it runs: ^C is a signal for it, which halts it and is not delivered.
 * ERR_STATE if there is a program already. ERR_INTERRUPTED: ^C, ^Z or interrupt_request() came
 * before CONTROL_STARTED, and the program was ended.
 */
struct error *control_run(struct control *c, const struct control_program *program) MUST_CHECK;
/* Attaches to a process and halts it. */
struct error *control_attach(struct control *c, pid_t pid) MUST_CHECK;
/*
 * Lets the program run until it is halted or ends: c->stop. interrupt_request() halts it, and is
 * then cleared. ERR_STATE: there is no program.
 */
struct error *control_continue(struct control *c) MUST_CHECK;
/*
 * An error while the program stands still in the middle of what runs it: by interrupt_request(),
 * which is cleared, or because the program has ended meanwhile, as a thread that exits takes even
 * halted ones with it. Both are stops, too. Owns err; returns any other one.
 */
struct error *control_stop_from_error(struct control *c, struct error *err) MUST_CHECK;
/*
 * Asks those whom the last stop concerns, internal breakpoints and watchpoints, whether it halts
 * the program: *stop. For a caller that an interruption has kept from the answer;
 * control_continue() asks by itself.
 */
struct error *control_ask(struct control *c, bool *stop) MUST_CHECK;
/* Treatment of signals; also when there is no program. */
const struct control_signals *control_signals(struct control *c);
struct error *control_set_signals(struct control *c, const struct control_signals *signals)
	MUST_CHECK;
/*
 * The thread that stands at a signal receives this one instead when the program continues; 0: none.
 * ERR_STATE if there is no such thread.
 */
struct error *control_replace_signal(struct control *c, int signal) MUST_CHECK;
/* Runs, after CONTROL_EXEC, to where the new program begins, as control_run() does. */
struct error *control_enter(struct control *c) MUST_CHECK;
/* Executes one instruction of a thread, the others are held: c->stop. */
struct error *control_step(struct control *c, pid_t tid) MUST_CHECK;
/*
 * Asks the internal breakpoints at the instruction that a thread is about to execute, to which
 * single steps have brought it. If one halts, c->stop is CONTROL_BREAKPOINT, else it stays. None of
 * them decides again when the thread goes on.
 */
struct error *control_report_breakpoint_here(struct control *c, pid_t tid) MUST_CHECK;
/*
 * Lets the others run for a moment, as the thread may wait for them; it stays where it is. c->stop
 * is CONTROL_STEPPED, or says what has halted the program meanwhile.
 */
struct error *control_yield(struct control *c, pid_t tid) MUST_CHECK;
/*
 * For internal_breakpoint.c alone: puts n breakpoints into the program, which must be there, or
 * changes their filters, and takes them away.
 */
struct error *control_plant(struct control *c, const struct tracer_break *list, size_t n)
	MUST_CHECK;
struct error *control_unplant(struct control *c, const struct tracer_break *list, size_t n)
	MUST_CHECK;
/* For internal_breakpoint.c alone: whether a thread of the halted program passes n filters; see
 * TRACER_MATCH. */
struct error *control_matches(struct control *c, pid_t tid, const struct tracer_filter *filters,
                              size_t n, bool *ret) MUST_CHECK;
/* For watch.c alone: watches writes to len bytes, and reads, or no longer; see TRACER_WATCH. */
struct error *control_watch(struct control *c, uint64_t addr, unsigned len, bool reads, bool on)
	MUST_CHECK;
/*
 * Number of threads that the filters at an address have let pass since the last call, and the least
 * time for which these stood still for it. The program may run.
 */
struct error *control_passes(struct control *c, uint64_t addr, uint64_t *n, uint64_t *ns)
	MUST_CHECK;
/* The registers of a thread, without its thread pointer; in the arena. */
struct error *control_registers(struct control *c, pid_t tid, struct arena *a, struct regs *ret)
	MUST_CHECK;
/* Reads memory, with the original bytes in place of breakpoints; ERR_FAULT if not all of it. */
struct error *control_read(struct control *c, uint64_t addr, void *buf, size_t len) MUST_CHECK;
/* The program runs on without us, with its own code. */
struct error *control_detach(struct control *c) MUST_CHECK;
/* Ends the program; c->stop is CONTROL_KILLED. */
struct error *control_kill(struct control *c) MUST_CHECK;
/* Detaches, or ends what was started. */
void control_close(struct control *c);

/*
 * Writes bytes at a run-time address while the program stands still; a breakpoint in them stays.
 * ERR_STATE: there is no debuggee. Snapshots taken before have the old bytes.
 */
struct error *control_write(struct control *c, uint64_t addr, const void *bytes, size_t len)
	MUST_CHECK;

#endif
