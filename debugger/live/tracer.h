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
 *   session's target uses the threads that are seized already. After TRACER_CONTROL the program can
 *   be halted, and has breakpoints; only then anything is written to it.
 *
 * When asyncdbg ends, for whatever reason, the kernel detaches an attached program, which runs on,
 * and kills a launched one (PTRACE_O_EXITKILL), unless it is kept: no other process waits for it,
 * and nobody would handle a breakpoint in it. Before TRACER_DETACH and tracer_free() let an
 * attached program go, the original bytes are back in place of all breakpoints. If asyncdbg is
 * killed, they are not: the next thread of the program that comes to a breakpoint ends it by
 * SIGTRAP.
 *
 * A breakpoint is the instruction of struct arch in place of the program's own. Reads of the
 * program's memory show the original bytes (tracer_hide_breakpoints()). It is stepped over while
 * all other threads are held. A new process of fork() gets its original bytes back before it runs.
 * While a child of vfork() uses the program's memory, no breakpoint is in it, and the other threads
 * are held. A process that shares the memory in another way (clone() with CLONE_VM only) would end
 * by SIGTRAP at a breakpoint. execve() removes all breakpoints.
 *
 * A hardware breakpoint or watchpoint (TRACER_WATCH) is a perf event in each thread, also in those
 * that start later: perf_event_open(2), PERF_TYPE_BREAKPOINT. Nothing is written to the program,
 * and it is gone as soon as our descriptors are: when asyncdbg ends, by kill -9 too. The thread
 * that hits one gets SIGURG, before the next instruction; the tracer takes that away. A program
 * that is left alone with such a signal ignores it, unless it handles SIGURG, which may come at any
 * time. attr.sigtrap is not used: of 400 programs whose tracer was killed, 129 were ended by its
 * SIGTRAP. What the kernel writes for a system call is not seen. A thread that blocks SIGURG
 * reports a hit when it no longer does. execve() removes them. New processes do not have them.
 */
#ifndef DEBUGGER_LIVE_TRACER_H
#define DEBUGGER_LIVE_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/arch/arch.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/live/event.h"

struct live;
struct brief_stop;
struct tracer;

enum tracer_request_kind {
	TRACER_STOP_BRIEFLY, /* stop, act, resume: see struct brief_stop */
	TRACER_STOP,         /* until TRACER_RESUME; brief: only its max_ns counts */
	TRACER_RESUME,
	TRACER_LAUNCH,   /* the program is stopped after exec, before its code runs */
	TRACER_ATTACH,   /* the program runs on */
	TRACER_CONTINUE, /* resumes a program after TRACER_LAUNCH or when it is halted: see struct
	                    tracer_request */
	TRACER_DETACH,   /* the program runs on, and survives asyncdbg */
	TRACER_KILL,     /* EVENT_KILLED follows */
	TRACER_CONTROL,  /* from now on breakpoints, some signals and execve() halt the program */
	TRACER_HALT,     /* stops all threads, until TRACER_CONTINUE */
	TRACER_PASSES,   /* counts threads that filters have let pass: see struct tracer_request */
	/* Requests of a controlled program that is halted; ERR_STATE otherwise. */
	TRACER_BREAK,        /* plants breakpoints; changes the filters of those that are there */
	TRACER_UNBREAK,      /* removes them; no error if there is none */
	TRACER_WRITE_MEMORY, /* a breakpoint in these bytes stays */
	TRACER_STEP,         /* one instruction of one thread: see struct tracer_request */
	TRACER_REGISTERS,    /* reads the registers of one thread */
	TRACER_WATCH,        /* a hardware breakpoint; no error if it is there */
	TRACER_UNWATCH,      /* removes it; no error if there is none */
	TRACER_SIGNAL, /* which signal a thread receives in place of the one that stopped it */
	TRACER_ARRIVE, /* whether a thread that something else has halted is at a breakpoint, too */
	TRACER_MATCH,  /* whether a thread passes the tests of filters: see struct tracer_request */
	/* Not supported yet: ERR_STATE. */
	TRACER_SET_REGISTERS,
};

enum tracer_watch_kind {
	TRACER_EXECUTED, /* EVENT_BREAKPOINT */
	TRACER_WRITTEN,  /* EVENT_WATCH; also if the value stays the same */
	TRACER_ACCESSED, /* written or read */
};

/* A CPU has four hardware breakpoints for each thread: x86-64, debug registers. */
enum { TRACER_MAX_WATCHES = 4 };

/* How a program is launched. All zeros: as a child that shares everything with us. */
struct tracer_launch {
	const char *cwd;    /* its working directory; NULL: ours */
	char *const *env;   /* its environment, ended by NULL; NULL: ours */
	bool fixed;         /* addresses are not randomised (ADDR_NO_RANDOMIZE) */
	bool own_group;     /* it leads a process group of its own: ^C is not for it and us alike */
	bool keep;          /* it survives us, as a program that was attached to does */
	bool no_input;      /* its standard input is /dev/null */
	int output, errors; /* descriptors for its standard output and error; 0: ours */
};

enum { TRACER_MAX_LOADS = 4 };

/*
 * The thread pointer as a register of a filter, on machines where it is among the general registers
 * of the kernel, as on x86-64. Elsewhere it cannot be read.
 */
enum { TRACER_THREAD_POINTER = 1 << 16 };

/* Order of the thread's value to that of the filter. */
enum tracer_order { TRACER_EQUAL, TRACER_LESS, TRACER_MORE };

/*
 * A test of a thread that comes to a breakpoint, made by the tracer thread: the value of a
 * register, or of the memory that it leads to, is a certain one.
 */
struct tracer_filter {
	unsigned reg; /* DWARF number, or TRACER_THREAD_POINTER */
	/* Each load reads 8 bytes at the value so far plus its offset; the last one size bytes. */
	unsigned nloads;
	int64_t offset[TRACER_MAX_LOADS]; /* without loads, the first one is added to the value */
	unsigned size;                    /* 1 to 8 */
	uint64_t value;                   /* compared with the low size bytes */
	enum tracer_order order;
	bool is_signed; /* in two's complement of size bytes; for an order */
	bool differs;   /* the opposite: any other value, not less, not more */
	bool and_next;  /* a thread that matches must match the next one of the list, too */
};

struct tracer_break {
	uint64_t addr;
	/*
	 * TRACER_BREAK: only a thread that matches one of them is reported, or all of those that
	 * and_next combines. A value that cannot be read matches. n 0: every thread.
	 */
	const struct tracer_filter *filters;
	size_t n;
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
			const struct tracer_launch *how; /* NULL: all zeros */
		} launch;
		struct {
			pid_t pid;
		} attach;
		/* Bit n - 1 is signal n. */
		struct {
			uint64_t stop; /* signals that halt the program before they are delivered */
			uint64_t drop; /* signals that are not delivered */
		} control;
		/* n of them, in that order; one that cannot be planted does not keep the rest. */
		struct {
			const struct tracer_break *list;
			size_t n;
		} breaks;
		/* Errors of TRACER_WATCH say what can be done about them. */
		struct tracer_watch {
			uint64_t addr; /* a multiple of len */
			unsigned len;  /* 1, 2, 4 or 8; of TRACER_EXECUTED: 0 */
			enum tracer_watch_kind kind;
			const struct tracer_filter *filters; /* TRACER_EXECUTED: as above */
			size_t nfilters;
		} watch;
		/*
		 * TRACER_PASSES: how many threads the filters at an address have let pass since the
		 * last such request, and for how long at least these stood still for it. 0 where
		 * there is no breakpoint.
		 */
		struct {
			uint64_t addr;
			uint64_t n, ns; /* results */
		} passes;
		struct {
			uint64_t addr;
			const void *bytes;
			size_t len;
		} write;
		/* TRACER_CONTINUE: a thread that stays where it is; 0: all are resumed. */
		struct {
			pid_t but;
		} resume;
		/*
		 * TRACER_STEP: the instruction at a breakpoint is the original one. Other threads
		 * are held, and signals that can wait are kept until TRACER_CONTINUE. A system call
		 * that sleeps is given up after a while. *done false: the thread ended, or received
		 * a signal, which an event tells.
		 */
		struct {
			pid_t tid;
			bool done; /* result */
		} step;
		/*
		 * TRACER_SIGNAL: 0 for none. ERR_STATE if no signal stopped the thread. One that is
		 * dropped can be replaced, too.
		 */
		struct {
			pid_t tid;
			int signal;
		} signal;
		/*
		 * TRACER_ARRIVE: the address of the breakpoint that the thread is about to execute,
		 * if a filter does not let it pass; 0: there is none. No event says so again, nor
		 * of one that is planted there before it goes on.
		 */
		struct {
			pid_t tid;
			uint64_t addr; /* result */
		} arrive;
		/*
		 * TRACER_MATCH: filters as of TRACER_BREAK, n of them. A value that cannot be read
		 * matches.
		 */
		struct {
			pid_t tid;
			const struct tracer_filter *filters;
			size_t n;
			bool matches; /* result */
		} match;
		struct {
			pid_t tid;
			struct arena *arena; /* of the result */
			struct regs regs;    /* result; the thread pointer as of a filter, else 0 */
		} registers;
	};
};

struct tracer *tracer_new(void);
/*
 * Frees a tracer and ends its session: a program that was attached to or is kept runs on, another
 * launched one is killed. NULL is allowed.
 */
void tracer_free(struct tracer *tr);

/* Executes a request; returns when it is done. */
struct error *tracer_request(struct tracer *tr, struct tracer_request *request) MUST_CHECK;

/* Whether the tracer has halted a controlled program. For any thread. */
bool tracer_is_halted(const struct tracer *tr);

/*
 * Puts the original bytes in place of breakpoints in len bytes that were read at addr from the
 * memory of the tracer's program. For any thread.
 */
void tracer_hide_breakpoints(struct tracer *tr, uint64_t addr, void *bytes, size_t len);

/*
 * Takes the oldest queued event, waiting for at most timeout_ns. *found false: there was none. An
 * event that halts is there as soon as all threads stand still. Several threads may have caused one
 * at the same time: TRACER_CONTINUE resumes nothing before the last of them is taken. The program
 * may end in between: TRACER_CONTINUE is ERR_STATE then, and its last event follows.
 */
struct error *tracer_wait_event(struct tracer *tr, uint64_t timeout_ns, struct event *ret,
                                bool *found) MUST_CHECK;

#endif
