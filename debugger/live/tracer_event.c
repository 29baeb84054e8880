/* Waits for tracees and interprets their stops: ptrace(2), "Stopped states" and "PTRACE_O_...". */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/live/proc.h"
#include "debugger/live/tracer_private.h"

enum {
	MIN_NAP_NS = 20000,
	FIRST_NAP_NS = 250000, /* measured: shorter ones cost more than they save */
	MAX_NAP_NS = 1000000,
	LONG_NAP_NS = 20000000, /* if no thread is stopped meanwhile */
	LATE_NAP_NS = 80000,    /* measured: longest time that the shortest nap takes */
	MAX_EVENTS = 1 << 16,   /* limit of the event queue */
	SPIN_NS = 30000,        /* measured: about what falling asleep and waking takes */
	MAX_LEFT_OUT = 256,
};

/*
 * Sleeps until a tracee may have stopped, but not beyond the deadline; close to it returns at once.
 * The kernel sends SIGCHLD to us for each stop, but before we wait for it another thread of our
 * process may receive it. Then the whole nap is lost.
 */
static void nap(uint64_t *length, uint64_t longest, uint64_t deadline)
{
	uint64_t now = deadline == TRACER_NEVER ? 0 : clock_now_ns(), ns = *length;
	sigset_t child;

	if (deadline != TRACER_NEVER && now + LATE_NAP_NS > deadline)
		return;
	if (deadline != TRACER_NEVER && now + ns + LATE_NAP_NS > deadline)
		ns = MIN_NAP_NS;
	*length = *length * 2 < longest ? *length * 2 : longest;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &(struct timespec){ .tv_nsec = (long)ns });
}

static bool something_else(struct tracer *tr, pid_t tid)
{
	int n = 0;

	if (tid == -1)
		return sem_getvalue(&tr->errand.requests, &n) == 0 && n > 0;
	if (tr->busy)
		return false;
	return interrupt_is_requested();
}

/*
 * Whether to ask again at once: a thread that has passed a breakpoint may be at it again before
 * this thread could sleep and be woken. *until: 0 at first. Each time that it is in vain, twice as
 * many waits are left out.
 */
static bool may_spin(struct tracer *tr, uint64_t *until)
{
	uint64_t now;

	if (!tr->spin.passed)
		return false;
	if (!*until && tr->spin.left_out) {
		tr->spin.left_out--;
		tr->spin.passed = false;
		return false;
	}
	now = clock_now_ns();
	if (!*until)
		*until = now + SPIN_NS;
	if (now < *until)
		return true;
	tr->spin.passed = false;
	tr->spin.vain = tr->spin.vain ? tr->spin.vain * 2 : 1;
	if (tr->spin.vain > MAX_LEFT_OUT)
		tr->spin.vain = MAX_LEFT_OUT;
	tr->spin.left_out = tr->spin.vain;
	return false;
}

bool next_event(struct tracer *tr, pid_t tid, uint64_t deadline, struct wait_status *ret)
{
	uint64_t length = FIRST_NAP_NS, until = 0;

	for (;;) {
		ret->tid = waitpid(tid, &ret->status, __WALL | __WNOTHREAD | WNOHANG);
		if (ret->tid > 0) {
			if (until && tr->spin.passed)
				tr->spin.vain = 0;
			return true;
		}
		if (ret->tid < 0 && errno != EINTR) {
			*ret = (struct wait_status){ tid, -1 };
			return true;
		}
		if (something_else(tr, tid) ||
		    (deadline != TRACER_NEVER && clock_now_ns() > deadline))
			return false;
		if (tid == -1 && may_spin(tr, &until))
			continue;
		nap(&length, deadline == TRACER_NEVER ? LONG_NAP_NS : MAX_NAP_NS, deadline);
	}
}

/* --- handling of an event --- */

struct tracee *tracer_find(struct tracer *tr, pid_t tid)
{
	for (size_t i = 0; i < tr->tracees.n; i++) {
		if (tr->tracees.data[i].tid == tid && tr->tracees.data[i].state != TRACEE_GONE)
			return &tr->tracees.data[i];
	}
	return NULL;
}

void tracer_keep_event(struct tracer *tr, struct event e)
{
	pthread_mutex_lock(&tr->events.lock);
	if (tr->events.queue.n - tr->events.taken >= MAX_EVENTS && e.kind != EVENT_EXIT &&
	    e.kind != EVENT_KILLED) {
		tr->events.lost++;
	} else {
		e.lost = tr->events.lost;
		tr->events.lost = 0;
		*vec_push(&tr->events.queue) = e;
		tr->events.halting |= e.halted;
		pthread_cond_signal(&tr->events.arrived);
	}
	pthread_mutex_unlock(&tr->events.lock);
}

void tracer_show_events(struct tracer *tr)
{
	pthread_mutex_lock(&tr->events.lock);
	tr->events.halting = false;
	pthread_cond_signal(&tr->events.arrived);
	pthread_mutex_unlock(&tr->events.lock);
}

bool tracer_has_halt(struct tracer *tr)
{
	bool has = false;

	pthread_mutex_lock(&tr->events.lock);
	for (size_t i = tr->events.taken; i < tr->events.queue.n && !has; i++)
		has = tr->events.queue.data[i].halted;
	pthread_mutex_unlock(&tr->events.lock);
	return has;
}

static bool is_thread(const struct tracer *tr, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)tr->pid, (int)tid);
	return access(path, F_OK) == 0;
}

/*
 * The kernel seizes new threads and processes for us (PTRACE_O_TRACECLONE, ..FORK, ..VFORK). The
 * first stop of a new one may arrive before its parent's event. A new process is detached, with
 * breakpoints after its parent's event.
 */
static struct tracee *new_tracee(struct tracer *tr, const struct wait_status *w)
{
	if (tr->pid && is_thread(tr, w->tid)) {
		*vec_push(&tr->unannounced.pids) = w->tid;
		return tracer_add(tr, w->tid);
	}
	if (tr->pid && tr->planted.n)
		*vec_push(&tr->newborn.pids) = w->tid;
	else
		ptrace(PTRACE_DETACH, w->tid, NULL, NULL);
	return NULL;
}

static void take_end(struct tracer *tr, struct tracee *tracee, const struct wait_status *w)
{
	struct event e = { .kind = EVENT_EXIT, .tid = w->tid, .status = -1 };

	if (tracee)
		tracee->state = TRACEE_GONE;
	/*
	 * A tracee of a stop causes no event. If there is no tracee, a stop may have marked the
	 * main thread as gone already.
	 */
	if (tracee ? !tracee->kept : !tr->pid || w->tid != tr->pid)
		return;
	if (w->status != -1 && WIFSIGNALED(w->status)) {
		e.kind = EVENT_KILLED;
		e.signal = WTERMSIG(w->status);
	} else if (w->status != -1) {
		e.status = WEXITSTATUS(w->status);
	}
	if (w->tid != tr->pid)
		e.kind = EVENT_THREAD_EXIT;
	else
		tracer_end_session(tr);
	tracer_keep_event(tr, e);
}

/* A thread that calls execve() takes over the tid of the main thread; all others end. */
static void take_exec(struct tracer *tr, struct tracee *tracee)
{
	for (size_t i = 0; i < tr->tracees.n; i++) {
		struct tracee *other = &tr->tracees.data[i];

		if (other != tracee && other->kept)
			other->state = TRACEE_GONE;
	}
	tr->unannounced.pids.n = 0;
	tracer_forget_breakpoints(tr);
	tracer_unwatch_all(tr);
	tracee->reported = 0;
	tr->vforks.parent = 0;
	tr->want_halt |= tr->controlled;
	tracer_keep_event(
		tr,
		(struct event){ .kind = EVENT_EXEC, .tid = tracee->tid, .halted = tr->controlled });
}

static void take_child(struct tracer *tr, pid_t tid, int event)
{
	struct event e = { .kind = EVENT_CLONE, .tid = tid };
	unsigned long child = 0;
	bool known = false;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &child) != 0)
		return;
	e.child = (pid_t)child;
	if (event == PTRACE_EVENT_FORK)
		e.kind = EVENT_FORK;
	else if (event == PTRACE_EVENT_VFORK)
		e.kind = EVENT_VFORK;
	else if ((known = tracer_take_pid(&tr->unannounced, e.child)) || is_thread(tr, e.child))
		e.kind = EVENT_NEW_THREAD;
	tracer_keep_event(tr, e);
	if (e.kind != EVENT_NEW_THREAD)
		tracer_new_process(tr, tid, e.child, e.kind == EVENT_VFORK);
	else if (!known && !tracer_find(tr, e.child))
		tracer_add(tr, e.child);
}

static bool stops_jobs(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * A thread has executed a breakpoint, and is set back to it, unless the filters let it pass and
 * that needs no step. The first one halts the program. Others that come to one before they stop are
 * not reported: they come to it again. False: it is gone.
 */
static bool take_breakpoint(struct tracer *tr, struct tracee *tracee, struct planted *p,
                            unsigned char *regs)
{
	struct glance g = { .tid = tracee->tid };
	bool halts = tr->halted || tr->want_halt;
	bool passes = !halts && !tracer_filter_matches(tr, &g, regs, p);

	if (passes && tracer_execute(tr, &g, p, regs)) {
		tracee->signal = 0;
		tr->spin.passed = true;
		tracer_count_pass(tr, p);
		return true;
	}
	if (!tracer_write_registers(tr, tracee->tid, regs))
		return false;
	tracee->signal = 0;
	if (halts)
		return true;
	tracee->reported = p->addr;
	tr->want_pass |= passes;
	if (passes) {
		tracer_count_step(p);
		return true;
	}
	tr->want_halt = true;
	tracer_keep_event(tr, (struct event){ .kind = EVENT_BREAKPOINT,
	                                      .tid = tracee->tid,
	                                      .addr = p->addr,
	                                      .halted = true });
	return true;
}

/*
 * Handles a hit like take_breakpoint(), but other threads' hits before they stop are reported
 * later.
 */
static void take_watch(struct tracer *tr, struct tracee *tracee)
{
	tracee->signal = 0;
	if (!tr->halted && !tr->want_halt)
		tr->want_halt = tracer_report_hit(tr, tracee);
}

/*
 * Whether the thread has left the stop that was reported: its process has been killed or exits. The
 * thread's end follows.
 */
static bool has_left(const struct tracee *tracee)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &info) != 0 && errno == ESRCH;
}

static void take_signal(struct tracer *tr, struct tracee *tracee, int signal)
{
	uint64_t bit = UINT64_C(1) << (signal - 1);
	unsigned char regs[TRACER_MAX_USER_REGS];
	struct planted *p = signal == SIGTRAP ? tracer_take_trap(tr, tracee->tid, regs) : NULL;

	if (p && take_breakpoint(tr, tracee, p, regs))
		return;
	/*
	 * The sender of the signal is unknown if the thread has left; the signal is received no
	 * more.
	 */
	if (has_left(tracee)) {
		tracee->signal = 0;
		return;
	}
	if (tracer_take_hit(tr, tracee)) {
		take_watch(tr, tracee);
		return;
	}
	if (tr->drop_signals & bit)
		tracee->signal = 0;
	tr->want_halt |= (tr->stop_signals & bit) != 0;
	tracer_keep_event(tr, (struct event){ .kind = EVENT_SIGNAL,
	                                      .tid = tracee->tid,
	                                      .signal = signal,
	                                      .halted = tr->stop_signals & bit });
}

static void take_kept(struct tracer *tr, struct tracee *tracee, int event, int signal)
{
	bool before = tracee->group_stop;

	tracee->group_stop = event == PTRACE_EVENT_STOP && stops_jobs(signal);
	/* Every thread reports a stop of job control: queue the event once. */
	if (tracee->group_stop && !before && tracee->tid == tr->pid)
		tracer_keep_event(tr, (struct event){ .kind = EVENT_STOPPED,
		                                      .tid = tracee->tid,
		                                      .signal = signal });
	if (event == 0) {
		take_signal(tr, tracee, signal);
	} else if (event == PTRACE_EVENT_VFORK_DONE && tracee->tid == tr->vforks.parent) {
		tr->vforks.parent = 0;
		tr->vforks.over = true;
		tracer_replant_all(tr, tracee->tid);
	} else if (event == PTRACE_EVENT_EXEC) {
		take_exec(tr, tracee);
	}
}

struct tracee *take_event(struct tracer *tr, const struct wait_status *w)
{
	struct tracee *tracee = tracer_find(tr, w->tid);

	if (w->status == -1 || !WIFSTOPPED(w->status)) {
		take_end(tr, tracee, w);
		return NULL;
	}
	if (!tracee && !(tracee = new_tracee(tr, w)))
		return NULL;
	int event = w->status >> 16, signal = WSTOPSIG(w->status);
	tracee->state = TRACEE_STOPPED;
	/*
	 * A stop without an event is a signal to deliver: the thread receives it when it continues.
	 */
	tracee->signal = event == 0 ? signal : 0;
	tracee->at_signal = event == 0;
	if (!tracee->kept)
		return tracee;
	take_kept(tr, tracee, event, signal);
	if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK ||
	    event == PTRACE_EVENT_VFORK) {
		take_child(tr, w->tid, event);
		tracee = tracer_find(tr, w->tid); /* the vector may have grown */
	}
	return tracee;
}

/*
 * A program that ends by a signal has its own code in its core. Where it does not end after all,
 * tracer_continue() has the breakpoints back.
 */
static void prepare_core(struct tracer *tr, const struct tracee *tracee)
{
	if (tracee->signal && tr->planted.n && !tr->vforks.parent &&
	    proc_signal_ends(tracee->tid, tracee->signal))
		tracer_lift_all(tr, tracee->tid);
}

void tracer_go_on(struct tracer *tr, struct tracee *tracee)
{
	if (tracee->state != TRACEE_STOPPED || tracee->held)
		return;
	prepare_core(tr, tracee);
	if (tracee->group_stop)
		ptrace(PTRACE_LISTEN, tracee->tid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, tracee->tid, NULL, (void *)(intptr_t)tracee->signal);
	tracee->state = TRACEE_RUNNING;
	tracee->signal = 0;
	tracee->at_signal = false;
}

void tracer_prune(struct tracer *tr)
{
	size_t n = 0;

	for (size_t i = 0; i < tr->tracees.n; i++) {
		const struct tracee *tracee = &tr->tracees.data[i];

		if (tracee->state != TRACEE_GONE && tracee->kept && tr->pid)
			tr->tracees.data[n++] = *tracee;
		else
			tracer_unwatch_thread(&tr->tracees.data[i]);
	}
	tr->tracees.n = n;
}
