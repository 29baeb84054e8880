/*
 * Internals of the tracer, shared by tracer.c, tracer_event.c and tracer_stop.c. All functions run
 * in the tracer thread.
 */
#ifndef DEBUGGER_LIVE_TRACER_PRIVATE_H
#define DEBUGGER_LIVE_TRACER_PRIVATE_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

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
	bool kept;       /* belongs to the session; others are seized for one stop */
	bool held;       /* stays stopped until TRACER_CONTINUE */
	bool group_stop; /* stopped by job control: must not continue before SIGCONT */
	int signal;      /* to be delivered when the thread continues */
	/* Used during a stop; name is in the target's stop_arena. */
	const char *name;
	char run_state;
};

struct tracer {
	/* Used by the calling thread. */
	pthread_t thread;
	bool started;
	sigset_t caller_mask; /* signal mask for a launched program */
	/* The current request, which the caller sets and the tracer thread completes. */
	struct tracer_request *request;
	struct error *error;
	sem_t requests, done;
	bool quit; /* the thread ends; the kernel then detaches all tracees left */
	/* Queued events, for the caller. */
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	VEC(struct event) events;
	size_t taken, lost;
	/* Used by the tracer thread. */
	pid_t tid;
	pid_t pid; /* of the session's program; 0: no session */
	bool launched;
	VEC(struct tracee) tracees;
	bool standing; /* from TRACER_STOP to TRACER_RESUME */
	bool raised;
	int old_policy, old_nice; /* policy -1: only nice was changed */
	struct sched_param old_param;
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
void tracer_go_on(struct tracee *tracee);
/* Removes tracees that are gone or not kept from the list. */
void tracer_prune(struct tracer *tr);

/* tracer_stop.c */
struct error *tracer_stop(struct tracer *tr, struct live *l, const struct brief_stop *b) MUST_CHECK;
/*
 * Resumes or detaches all tracees after a stop. Sets tr->quit if threads could not be detached:
 * they are detached only when the tracer thread ends.
 */
void tracer_resume(struct tracer *tr, struct live *l);

#endif
