/* Inside of the tracer: tracer.c, tracer_event.c, tracer_stop.c. All of it runs in its thread. */
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
	bool kept;       /* of the session; others are seized for one stop */
	bool held;       /* it stands still until TRACER_CONTINUE */
	bool group_stop; /* by job control: it must not go on before SIGCONT */
	int signal;      /* it was about to be delivered when the thread stopped */
	/* Of a stop: name in the target's stop_arena. */
	const char *name;
	char run_state;
};

struct tracer {
	/* Of the caller. */
	pthread_t thread;
	bool started;
	sigset_t caller_mask; /* what a launched program gets */
	/* A request: from the caller, and back when it is done. */
	struct tracer_request *request;
	struct error *error;
	sem_t requests, done;
	bool quit; /* the thread ends, and the kernel detaches what could not be */
	/* Events, for the caller. */
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	VEC(struct event) events;
	size_t taken, lost;
	/* Of the thread. */
	pid_t tid;
	pid_t pid; /* of the session's program; 0: no session */
	bool launched;
	VEC(struct tracee) tracees;
	bool standing; /* from TRACER_STOP to TRACER_RESUME */
	bool raised;
	int old_policy, old_nice; /* policy -1: it was not changed, but nice was */
	struct sched_param old_param;
};

/* What waitpid() said. */
struct wait_status {
	pid_t tid;
	int status; /* -1: there is no such tracee */
};

/*
 * The only wait for tracees: for one, or for any of this thread with tid -1. False at the deadline
 * (TRACER_NEVER: there is none) and when there is something else to do: a request where any is
 * waited for, ^C otherwise.
 */
#define TRACER_NEVER UINT64_MAX
bool next_event(struct tracer *tr, pid_t tid, uint64_t deadline, struct wait_status *ret);
/*
 * Takes down what happened, in the tracee and for the caller. The tracee that stands still now;
 * NULL where none does, as it is gone or another process than the session's.
 */
struct tracee *take_event(struct tracer *tr, const struct wait_status *w);
/* Lets a tracee of the session go on, unless it is held. */
void tracer_go_on(struct tracee *tracee);
/* Removes tracees that are gone and those that are not kept. */
void tracer_prune(struct tracer *tr);

/* tracer_stop.c */
struct error *tracer_stop(struct tracer *tr, struct live *l, const struct brief_stop *b) MUST_CHECK;
/* Where threads could not be detached, tr->quit: only the end of the tracer thread detaches them.
 */
void tracer_resume(struct tracer *tr, struct live *l);

#endif
