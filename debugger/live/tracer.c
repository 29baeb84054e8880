#include "debugger/live/tracer.h"
#include "debugger/base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "debugger/live/live_check.h"
#include "debugger/live/proc.h"
#include "debugger/live/read_guard.h"
#include "debugger/live/tracer_private.h"

enum {
	SLICE_NS = 50000000, /* how often a caller that waits for an event checks for ^C */
	MAX_PASSES = 100,    /* passes over task/ until there is no new thread */
};

/* --- sessions: these functions run in the tracer thread --- */

uint64_t tracer_short_deadline(void)
{
	return clock_now_ns() + TRACER_TIMEOUT_NS;
}

struct tracee *tracer_add(struct tracer *tr, pid_t tid)
{
	struct tracee *tracee = vec_push(&tr->tracees);

	*tracee = (struct tracee){
		.tid = tid, .state = TRACEE_RUNNING, .kept = true, .held = tr->halted
	};
	tracer_watch_thread(tr, tracee);
	return tracee;
}

static bool is_traced(const struct tracer *tr, pid_t tid)
{
	for (size_t i = 0; i < tr->tracees.n; i++) {
		if (tr->tracees.data[i].tid == tid)
			return true;
	}
	return false;
}

static struct error *attach_thread(struct tracer *tr, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)tracer_options()) == 0) {
		tracer_add(tr, tid);
		return NULL;
	}
	int errnum = errno;
	/* The thread has ended, or the kernel seized it because a tracee of ours started it. */
	if (errnum == ESRCH ||
	    (errnum == EPERM && (tr->tracees.n > 0 || proc_thread_has_ended(tr->pid, tid))))
		return NULL;
	TRY(live_traced(tr->pid));
	return errnum == EPERM ? live_denied(tr->pid)
	                       : error_os(errnum, "seizing thread %d", (int)tid);
}

static struct error *tracer_attach_all(struct tracer *tr, DIR *tasks)
{
	const struct dirent *entry;
	size_t before;

	for (int pass = 0; pass < MAX_PASSES; pass++) {
		before = tr->tracees.n;
		rewinddir(tasks);
		while ((entry = readdir(tasks))) {
			pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

			if (tid > 0 && !is_traced(tr, tid))
				TRY(attach_thread(tr, tid));
		}
		TRY(interrupt_check());
		if (tr->tracees.n == before)
			break;
	}
	return tr->tracees.n ? NULL : live_exited(tr->pid);
}

static struct error *attach(struct tracer *tr, pid_t pid)
{
	char path[64];

	if (tr->pid)
		return error_new(ERR_STATE, "process %d is already being traced", (int)tr->pid);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return live_exited(pid);
	tr->pid = pid;
	tr->launched = false;
	struct error *err = tracer_attach_all(tr, tasks);
	closedir(tasks);
	if (err) {
		tr->pid = 0;
		tr->tracees.n = 0;
		tr->quit = true;
	}
	return err;
}

static struct error *tracer_need_session(const struct tracer *tr)
{
	return tr->pid ? NULL : error_new(ERR_STATE, "no program is being traced, or it has ended");
}

/* The caller of all other requests is in a read that does not end. */
static void tracer_let_go(void *arg)
{
	struct tracer_request r = { .kind = TRACER_DETACH };

	error_free(tracer_request(arg, &r));
}

/* Registers tracer_let_go() with the read guard, after the first request of a session. */
static struct error *begin_session(struct tracer *tr, struct error *err)
{
	if (!err)
		read_guard_let_go(tracer_let_go, tr);
	return err;
}

static struct error *serve(struct tracer *tr, struct tracer_request *r)
{
	switch (r->kind) {
	case TRACER_STOP_BRIEFLY:
	case TRACER_STOP:
		return tracer_stop(tr, r->stop.live, r->stop.brief);
	case TRACER_RESUME:
		tracer_resume(tr, r->stop.live);
		return NULL;
	case TRACER_LAUNCH:
		return begin_session(tr, tracer_launch(tr, r));
	case TRACER_ATTACH:
		return begin_session(tr, attach(tr, r->attach.pid));
	case TRACER_CONTINUE:
		TRY(tracer_need_session(tr));
		tr->left_out = r->resume.but;
		tracer_continue(tr);
		return NULL;
	case TRACER_DETACH:
		TRY(tracer_need_session(tr));
		return tracer_detach(tr);
	case TRACER_KILL:
		TRY(tracer_need_session(tr));
		return kill(tr->pid, SIGKILL) == 0 ? NULL : error_os(errno, "killing it");
	default:
		TRY(tracer_need_session(tr));
		return tracer_control(tr, r);
	}
}

/*
 * No tracee is left: of a process whose main thread had ended before it was traced, no event tells
 * the end.
 */
static void end_unseen(struct tracer *tr)
{
	struct event e = { .kind = EVENT_EXIT, .tid = tr->pid, .status = -1 };
	bool is_open = tr->pid != 0;

	tracer_end_session(tr);
	if (is_open)
		tracer_keep_event(tr, e);
}

/* Waits for one event of the session, and continues the thread. */
static void attend(struct tracer *tr)
{
	struct wait_status w;

	if (!next_event(tr, -1, TRACER_NEVER, &w))
		return;
	tr->event_ns = clock_now_ns();
	tr->spin.passed = false;
	struct tracee *tracee = take_event(tr, &w);
	if (w.tid == -1)
		end_unseen(tr);
	if (tracee && !tr->standing && !tr->want_halt && !tr->want_pass)
		tracer_go_on(tr, tracee);
	tracer_after_event(tr);
	if (!tr->standing)
		tracer_prune(tr);
}

/* Lets the program go at the end of the tracer. */
static void tracer_leave(struct tracer *tr)
{
	if (tr->launched)
		tracer_reap(tr, tr->pid);
	else if (tr->controlled)
		error_free(tracer_detach(tr));
}

static void *tracer_main(void *arg)
{
	struct tracer *tr = arg;

	tr->tid = gettid();
	while (!tr->quit) {
		if (tr->pid && sem_trywait(&tr->errand.requests) != 0) {
			attend(tr);
			continue;
		}
		while (!tr->pid && sem_wait(&tr->errand.requests) != 0)
			;
		if (tr->errand.request) {
			tr->errand.error = serve(tr, tr->errand.request);
			tracer_after_event(tr);
		} else {
			tr->quit = true; /* tracer_free() */
		}
		if (tr->quit && tr->pid)
			tracer_leave(tr);
		sem_post(&tr->errand.done);
	}
	return NULL;
}

/* --- functions of the calling thread --- */

struct tracer *tracer_new(void)
{
	struct tracer *tr = calloc(1, sizeof(*tr));
	pthread_condattr_t attr;

	if (!tr)
		out_of_memory();
	sem_init(&tr->errand.requests, 0, 0);
	sem_init(&tr->errand.done, 0, 0);
	pthread_mutex_init(&tr->events.lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&tr->events.arrived, &attr);
	pthread_condattr_destroy(&attr);
	return tr;
}

/*
 * Waits until the tracer thread has ended completely: then the kernel has detached the tracees
 * left.
 */
static void wait_gone(struct tracer *tr)
{
	uint64_t deadline = tracer_short_deadline();
	char path[64];

	pthread_join(tr->thread, NULL);
	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tr->tid);
	while (access(path, F_OK) == 0 && clock_now_ns() < deadline)
		sched_yield();
	tr->started = tr->quit = false;
}

static struct error *tracer_start(struct tracer *tr)
{
	sigset_t all;

	if (tr->started)
		return NULL;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &tr->caller_mask);
	int errnum = pthread_create(&tr->thread, NULL, tracer_main, tr);
	pthread_sigmask(SIG_SETMASK, &tr->caller_mask, NULL);
	if (errnum != 0)
		return error_os(errnum, "starting a thread");
	tr->started = true;
	return NULL;
}

/*
 * Each stop of a tracee makes SIGCHLD. Waking this thread for it costs the target time, and a nap
 * of the tracer thread, which does not get the signal then.
 */
static void block_child(sigset_t *before)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, before);
}

/* Passes a request to the tracer thread and waits for it. NULL: the thread ends. */
static struct error *tracer_ask(struct tracer *tr, struct tracer_request *r)
{
	sigset_t before;

	tr->errand.request = r;
	tr->errand.error = NULL;
	block_child(&before);
	sem_post(&tr->errand.requests);
	/* If the thread waits for an event, this signal ends the wait. It blocks the signal. */
	pthread_kill(tr->thread, SIGCHLD);
	while (sem_wait(&tr->errand.done) != 0)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (tr->quit)
		wait_gone(tr);
	return tr->errand.error;
}

struct error *tracer_request(struct tracer *tr, struct tracer_request *request)
{
	TRY(tracer_start(tr));
	return tracer_ask(tr, request);
}

void tracer_free(struct tracer *tr)
{
	if (!tr)
		return;
	if (tr->started)
		error_free(tracer_ask(tr, NULL));
	tracer_unwatch_all(tr);
	vec_free(&tr->tracees);
	vec_free(&tr->events.queue);
	vec_free(&tr->planted);
	vec_free(&tr->newborn.pids);
	vec_free(&tr->unannounced.pids);
	vec_free(&tr->vforks.waiting);
	sem_destroy(&tr->errand.requests);
	sem_destroy(&tr->errand.done);
	pthread_cond_destroy(&tr->events.arrived);
	pthread_mutex_destroy(&tr->events.lock);
	free(tr);
}

bool tracer_is_halted(const struct tracer *tr)
{
	return tr->halted;
}

/* Waits for an event, for at most SLICE_NS. */
static void wait_arrived(struct tracer *tr, uint64_t deadline)
{
	uint64_t until = clock_now_ns() + SLICE_NS;

	if (until > deadline)
		until = deadline;
	const struct timespec ts = { .tv_sec = (time_t)(until / TRACER_NSEC),
		                     .tv_nsec = (long)(until % TRACER_NSEC) };
	pthread_cond_timedwait(&tr->events.arrived, &tr->events.lock, &ts);
}

struct error *tracer_wait_event(struct tracer *tr, uint64_t timeout_ns, struct event *ret,
                                bool *found)
{
	uint64_t now = clock_now_ns();
	uint64_t deadline =
		timeout_ns < clock_between(now, UINT64_MAX) ? now + timeout_ns : UINT64_MAX;
	struct error *err = NULL;
	sigset_t before;

	block_child(&before);
	pthread_mutex_lock(&tr->events.lock);
	while ((tr->events.halting || tr->events.taken == tr->events.queue.n) &&
	       !(err = interrupt_check()) && clock_now_ns() < deadline)
		wait_arrived(tr, deadline);
	*found = !err && !tr->events.halting && tr->events.taken < tr->events.queue.n;
	if (*found)
		*ret = tr->events.queue.data[tr->events.taken++];
	if (tr->events.taken == tr->events.queue.n)
		tr->events.taken = tr->events.queue.n = 0;
	pthread_mutex_unlock(&tr->events.lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}
