/*
 * Internals of the tracer, shared by tracer.c, tracer_launch.c, tracer_event.c, tracer_stop.c,
 * tracer_control.c, tracer_break.c, tracer_filter.c, tracer_batched_read.c and tracer_watch.c. All
 * functions run in the tracer thread.
 */
#ifndef DEBUGGER_LIVE_TRACER_PRIVATE_H
#define DEBUGGER_LIVE_TRACER_PRIVATE_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "debugger/base/vec.h"
#include "debugger/live/live.h"
#include "debugger/live/tracer.h"

enum { TRACER_NSEC = 1000000000 };
/* A thread in uninterruptible sleep must not keep the others stopped. */
enum { TRACER_TIMEOUT_NS = 2000000000 };

enum tracee_state { TRACEE_RUNNING, TRACEE_STOPPED, TRACEE_GONE };

struct tracee {
	pid_t tid;
	enum tracee_state state;
	bool kept; /* belongs to the session; others are seized for one stop */
	bool held; /* stays stopped until TRACER_CONTINUE */
	/* The main thread has ended while others run: it never stops, and is gone with them. */
	bool ended;
	/*
	 * Address of the breakpoint that it stands at and that was reported: TRACER_CONTINUE steps
	 * over it. 0: none.
	 */
	uint64_t reported;
	bool group_stop; /* stopped by job control: must not continue before SIGCONT */
	int signal;      /* to be delivered when the thread continues */
	int watch_fd[TRACER_MAX_WATCHES]; /* perf events of tracer.watches, each plus 1; 0: none */
	unsigned late;  /* bit n: it has hit tracer.watches[n], which no event has said yet */
	bool at_signal; /* a signal has stopped it: it can receive one when it continues */
	/* Used during a stop; name is in the target's stop_arena. */
	const char *name;
	char run_state;
};

struct pid_list {
	VEC(pid_t) pids;
};

enum { MAX_BREAKPOINT = 8 };
enum { GLANCE_CODE = 16, GLANCE_WORDS = 8 };

/* A breakpoint. */
struct planted {
	uint64_t addr;
	unsigned char original[MAX_BREAKPOINT]; /* arch->breakpoint_size bytes */
	bool lifted; /* the original bytes are in the memory, for a moment or a vfork() */
	struct tracer_filter *filters; /* nfilters of them, owned; see tracer_request */
	size_t nfilters;
	uint64_t seen[GLANCE_WORDS]; /* nseen addresses that values led the filters to, last time */
	size_t nseen;
	uint64_t data_at;         /* where its instruction read memory, last time; 0: nowhere */
	uint64_t passes, pass_ns; /* of TRACER_PASSES */
	bool passing;             /* a thread steps over it; its time is not counted yet */
};

/* Memory that was read at once for a thread that stands at a breakpoint. */
struct glance {
	pid_t tid;
	unsigned char code[GLANCE_CODE]; /* ncode bytes from the breakpoint on, with it */
	size_t ncode;
	struct glance_word {
		uint64_t addr, value;
	} words[GLANCE_WORDS];
	size_t n;
	uint64_t data_at, data[2]; /* twice what is there; 0: not read */
};

/* A child of vfork(), which uses the memory of the program. */
struct vforked {
	pid_t parent; /* the thread that called it */
	pid_t child;
};

/* The request that the caller has set, and the tracer thread completes. */
struct tracer_errand {
	struct tracer_request *request;
	struct error *error;
	sem_t requests, done;
};

/* Events for the caller. */
struct tracer_events {
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	VEC(struct event) queue;
	size_t taken, lost;
	bool halting; /* an event is queued whose halt is not complete: the caller waits */
};

/* Hardware breakpoints. */
struct tracer_hardware {
	struct tracer_watch watches[TRACER_MAX_WATCHES]; /* len 0: none */
	struct planted filters[TRACER_MAX_WATCHES];      /* their filters, and nothing else */
	int lowest_fd, highest_fd; /* of all that were used for them; 0: none */
};

/* Calls of vfork(). */
struct tracer_vforks {
	VEC(struct vforked) waiting; /* they have not begun: parent and child are stopped */
	pid_t parent;                /* sleeps in vfork() while its child runs; 0: none */
	bool over;                   /* the call of parent has just ended */
};

/* The scheduling of the tracer thread before it was raised for a stop. */
struct tracer_priority {
	bool raised;
	int old_policy, old_nice; /* policy -1: only nice was changed */
	struct sched_param old_param;
};

struct tracer {
	/* Used by the calling thread. */
	pthread_t thread;
	bool started;
	sigset_t caller_mask; /* signal mask for a launched program */
	struct tracer_errand errand;
	bool quit; /* the thread ends; the kernel then detaches all tracees left */
	struct tracer_events events;
	/*
	 * Breakpoints; changed by the tracer thread with the lock of the events, which other
	 * readers take.
	 */
	VEC(struct planted) planted;
	atomic_size_t nplanted;
	struct tracer_hardware hardware;
	/* Used by the tracer thread. */
	pid_t tid;
	pid_t pid; /* of the session's program; 0: no session */
	bool launched;
	VEC(struct tracee) tracees;
	bool standing;           /* from TRACER_STOP to TRACER_RESUME */
	const struct arch *arch; /* of the session's program; NULL: not supported */
	bool controlled;         /* TRACER_CONTROL */
	uint64_t stop_signals, drop_signals;
	atomic_bool halted; /* from TRACER_HALT, or an event that halts, to TRACER_CONTINUE */
	bool want_halt;     /* an event halts the program: tracer_halt() must follow */
	bool want_pass;     /* a thread is to step over a breakpoint that its filters let pass */
	uint64_t event_ns;  /* when the event that is attended to was taken */
	struct {
		bool passed;             /* the last event was of a thread that passed */
		unsigned vain, left_out; /* see may_spin() */
	} spin;
	bool busy; /* waits for single threads: ^C must not end that */
	/*
	 * Threads whose first stop came before the clone event of the thread that started them:
	 * they may have ended when that event comes.
	 */
	struct pid_list unannounced;
	struct pid_list newborn; /* new processes that are stopped before their first instruction */
	struct tracer_vforks vforks;
	pid_t left_out; /* not resumed by tracer_continue(); 0: all are */
	struct tracer_priority priority;
};

/* A result of waitpid(). */
struct wait_status {
	pid_t tid;
	int status; /* -1: there is no such tracee */
};

/*
 * The only function that waits for tracees: for one, or with tid -1 for any of this thread. False
 * at the deadline (TRACER_NEVER: none), and when there is something else to do: a new request if
 * tid is -1, otherwise ^C.
 */
#define TRACER_NEVER UINT64_MAX
bool next_event(struct tracer *tr, pid_t tid, uint64_t deadline, struct wait_status *ret);
/*
 * Updates the tracee and queues events for the caller. Returns the tracee if it is stopped now;
 * NULL if it is gone or is not a thread of the session's process.
 */
struct tracee *take_event(struct tracer *tr, const struct wait_status *w);
/* Continues a tracee of the session, unless it is held. */
void tracer_go_on(struct tracer *tr, struct tracee *tracee);
/* Removes tracees that are gone or not kept from the list. */
void tracer_prune(struct tracer *tr);

/* The tracee that is not gone; NULL: none. */
struct tracee *tracer_find(struct tracer *tr, pid_t tid);
/* When a wait for single threads that starts now ends. */
uint64_t tracer_short_deadline(void);

/* Queues an event for the caller. */
void tracer_keep_event(struct tracer *tr, struct event e);
/* The caller can take events that halt: the program stands still. */
void tracer_show_events(struct tracer *tr);
/* Whether an event that halts is queued, and not taken yet. */
bool tracer_has_halt(struct tracer *tr);

/* tracer_launch.c */
struct error *tracer_launch(struct tracer *tr, struct tracer_request *r) MUST_CHECK;
/* Kills a child of ours and waits until it is no longer a zombie. */
void tracer_reap(struct tracer *tr, pid_t pid);
/*
 * A tracee that runs and belongs to the session; it is held where the program is halted. The vector
 * may move.
 */
struct tracee *tracer_add(struct tracer *tr, pid_t tid);
/* Options of PTRACE_SEIZE for threads of a session. */
uintptr_t tracer_options(void);

/* tracer_control.c */
/* Stops all threads until tracer_continue(). Threads that do not stop in time cannot run either. */
void tracer_halt(struct tracer *tr);
/* Steps threads over the breakpoints that were reported, then resumes all. */
void tracer_continue(struct tracer *tr);
/* Follows up an event: halts, or holds the threads for a vfork(). */
void tracer_after_event(struct tracer *tr);
/* True: pid was in the list, and is removed from it. */
bool tracer_take_pid(struct pid_list *list, pid_t pid);
/* Handles a new process, which is stopped or will be: see tracer.h. */
void tracer_new_process(struct tracer *tr, pid_t parent, pid_t child, bool is_vfork);
struct error *tracer_detach(struct tracer *tr) MUST_CHECK;
/* Requests of a controlled program. */
struct error *tracer_control(struct tracer *tr, struct tracer_request *r) MUST_CHECK;
/* The program is gone or let go: forgets what belongs to it. */
void tracer_end_session(struct tracer *tr);

/* tracer_break.c. tid: any stopped thread of the process. */
struct planted *tracer_planted_at(struct tracer *tr, uint64_t addr);
/* Writes bytes; ERR_FAULT. */
struct error *tracer_poke(pid_t tid, uint64_t addr, const void *bytes, size_t len) MUST_CHECK;
struct error *tracer_plant(struct tracer *tr, pid_t tid, const struct tracer_request *r) MUST_CHECK;
void tracer_unplant(struct tracer *tr, pid_t tid, const struct tracer_request *r);
/* Puts the original bytes into the memory, and the breakpoint again. False: it is not writable. */
bool tracer_lift(struct tracer *tr, pid_t tid, struct planted *p);
bool tracer_replant(struct tracer *tr, pid_t tid, struct planted *p);
void tracer_lift_all(struct tracer *tr, pid_t tid);
void tracer_replant_all(struct tracer *tr, pid_t tid);
/* The original bytes for another process, which has a copy of the memory. */
void tracer_clean(struct tracer *tr, pid_t tid);
/* Forgets all breakpoints, which are not in the memory any more. */
void tracer_forget_breakpoints(struct tracer *tr);
/* TRACER_WRITE_MEMORY */
struct error *tracer_write(struct tracer *tr, pid_t tid, uint64_t addr, const void *bytes,
                           size_t len) MUST_CHECK;
/* The pc of a stopped thread; 0: unknown. */
uint64_t tracer_pc(struct tracer *tr, pid_t tid);
/* Lets a stopped thread execute its next instruction in spite of a hardware breakpoint at it. */
void tracer_pass(struct tracer *tr, pid_t tid);
/*
 * The breakpoint that a thread stopped by SIGTRAP has executed; NULL: none. regs
 * (TRACER_MAX_USER_REGS bytes) are its registers with the pc at the breakpoint, which the thread
 * itself does not have yet.
 */
struct planted *tracer_take_trap(struct tracer *tr, pid_t tid, unsigned char *regs);
/* Whether a stopped thread has executed a breakpoint whose SIGTRAP it has not received yet. */
bool tracer_is_trap_pending(struct tracer *tr, pid_t tid);

/* tracer_filter.c */
/*
 * Whether a thread that stands at a breakpoint is to be reported. regs: its registers. g: only tid
 * is set; the rest is filled in.
 */
bool tracer_filter_matches(struct tracer *tr, struct glance *g, const unsigned char *regs,
                           struct planted *p);
/*
 * Does what the instruction at a breakpoint does, for a thread that stands at it, which then has
 * passed it. g: from tracer_filter_matches(). regs: its registers, which become the new ones.
 * False: the thread must step over it; nothing of the thread has changed.
 */
bool tracer_execute(struct tracer *tr, const struct glance *g, struct planted *p,
                    unsigned char *regs);
/* Sets the filters of a breakpoint. */
void tracer_filter_set(struct planted *p, const struct tracer_filter *filters, size_t n);
/* Counts a thread that passes the breakpoint by itself; others are counted with their time. */
void tracer_count_step(struct planted *p);
void tracer_count_pass(struct tracer *tr, struct planted *p);
/* Counts the time of threads that stepped over breakpoints, all of which run again. */
void tracer_count_steps(struct tracer *tr);
/* TRACER_PASSES */
void tracer_passes(struct tracer *tr, struct tracer_request *r);
/* TRACER_REGISTERS */
struct error *tracer_registers(struct tracer *tr, struct tracer_request *r) MUST_CHECK;
/* Reads the general registers of a stopped thread: arch->user_regs_size bytes. False: impossible.
 */
bool tracer_read_registers(struct tracer *tr, pid_t tid, unsigned char *ret);
bool tracer_write_registers(struct tracer *tr, pid_t tid, const unsigned char *regs);
enum { TRACER_MAX_USER_REGS = 1024 };

/* tracer_batched_read.c */
/* An address at which tracer_batched_read_take() reads 8 bytes; one too many is left out. */
void tracer_batched_read_want(struct glance *g, uint64_t addr);
/* Reads the wanted addresses, those of p->seen and p->data_at and, unless it is 0, p->addr. */
void tracer_batched_read_take(struct glance *g, const struct planted *p);
/* The size (1 to 8) bytes at an address, which are read now if they were not. False: impossible. */
bool tracer_batched_read_load(struct glance *g, uint64_t addr, unsigned size, uint64_t *ret);
/*
 * At most 8 bytes of one moment; false too if another thread writes there just now. Breakpoints
 * are among them.
 */
bool tracer_batched_read_data(const struct glance *g, uint64_t addr, void *buf, size_t len);

/* tracer_watch.c */
struct error *tracer_watch(struct tracer *tr, const struct tracer_watch *w) MUST_CHECK;
void tracer_unwatch(struct tracer *tr, const struct tracer_watch *w);
/* A new thread gets the hardware breakpoints that there are; EVENT_UNWATCHED if it cannot. */
void tracer_watch_thread(struct tracer *tr, struct tracee *tracee);
/* Closes the perf events of a thread. */
void tracer_unwatch_thread(struct tracee *tracee);
/* Removes all, of all threads. */
void tracer_unwatch_all(struct tracer *tr);
/* Whether a hardware breakpoint halts before the instruction at addr. */
bool tracer_is_watched(const struct tracer *tr, uint64_t addr);
/* Whether a stopped thread has hit one and will receive the signal as soon as it continues. */
bool tracer_is_hit_pending(struct tracer *tr, const struct tracee *tracee);
/*
 * Whether the signal that has stopped a thread was of a hardware breakpoint: tracee->late says of
 * which, if it is still there.
 */
bool tracer_take_hit(struct tracer *tr, struct tracee *tracee);
/*
 * Queues the event of one late hit, which halts. False: there is none. new: the thread that has
 * just stopped for one; it may be in a handler of another signal, which came first. NULL: none.
 */
bool tracer_report_hit(struct tracer *tr, const struct tracee *new);

/* tracer_stop.c. b: NULL, or with an act() of NULL, the stop lasts until tracer_resume(). */
struct error *tracer_stop(struct tracer *tr, struct live *l, const struct brief_stop *b) MUST_CHECK;
/*
 * Resumes or detaches all tracees after a stop. Sets tr->quit if threads could not be detached:
 * they are detached only when the tracer thread ends.
 */
void tracer_resume(struct tracer *tr, struct live *l);

#endif
