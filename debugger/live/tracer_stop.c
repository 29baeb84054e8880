/*
 * Stops a running process and resumes it, in the tracer thread. Threads are seized for the stop and
 * detached after it, except those of the tracer's session. If PTRACE_DETACH fails for a thread in
 * uninterruptible sleep, the tracer thread ends; then the kernel detaches all its tracees. To keep
 * the stop short, as much work as possible is done before the first thread stops and after the last
 * one is resumed.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "debugger/base/clock.h"
#include "debugger/base/log.h"
#include "debugger/live/live.h"
#include "debugger/live/live_check.h"
#include "debugger/live/proc.h"
#include "debugger/live/read_guard.h"
#include "debugger/live/tracer_private.h"

enum {
	SEIZE_TRIES = 5,  /* of one thread, a millisecond apart */
	MAX_PASSES = 100, /* passes over task/ until there is no new thread */
	BEST_NICE = -20,
};

/* ptrace() declares data as a pointer where the kernel expects a number. */
static long tracer_stop_trace(enum __ptrace_request request, pid_t tid, uintptr_t data)
{
	return ptrace(request, tid, NULL, (void *)data);
}

static bool tracer_stop_thread_stat(struct live *l, pid_t tid, struct proc_stat *ret)
{
	SCRATCH(scratch);
	char name[64];

	snprintf(name, sizeof(name), "task/%d/stat", (int)tid);
	const char *text = proc_read(&scratch, l->t->pid, name, NULL);
	return text && proc_stat_parse(&l->t->stop.arena, text, ret);
}

/*
 * Whether the thread may stay asleep during this stop. Checked only before any thread stops,
 * because it takes time.
 */
static bool leave_asleep(struct live *l, pid_t tid)
{
	struct peek p;

	if (!l->brief || l->t->stop.began || !target_is_excluded(l->t, tid) ||
	    !live_thread_stat(l, tid, &p) || !p.asleep || !p.regs.thread_pointer)
		return false;
	*vec_push(&l->peeks) = p;
	map_put(&l->known, (uint64_t)tid, l);
	return true;
}

/* Whether the thread runs on because another one alone is to be stopped. */
static bool leave_running(struct live *l, pid_t tid)
{
	struct peek p;

	if (!l->brief || !l->t->stop.options.only || tid == l->t->stop.options.only)
		return false;
	map_put(&l->known, (uint64_t)tid, l);
	if (!l->t->stop.began && live_thread_stat(l, tid, &p))
		*vec_push(&l->peeks) = p;
	return true;
}

/* Whether the tracer's session has seized the thread already. */
static bool of_session(struct live *l, pid_t tid, const struct proc_stat *stat)
{
	struct tracer *tr = l->tracer;

	for (size_t i = 0; tr->pid && i < tr->tracees.n; i++) {
		struct tracee *tracee = &tr->tracees.data[i];

		if (tracee->tid != tid || tracee->state == TRACEE_GONE || !tracee->kept)
			continue;
		tracee->name = stat->comm;
		tracee->run_state = stat->state;
		if (stat->state == 'Z' || stat->state == 'X')
			tracee->state = TRACEE_GONE;
		map_put(&l->known, (uint64_t)tid, l);
		return true;
	}
	return false;
}

/*
 * *errnum is 0 or the reason of a failure; the error is about another debugger that was seen to
 * have the thread. One that has it for a moment causes EPERM, and may be gone before anyone can see
 * it: so EPERM counts when it stays.
 */
static struct error *try_seize(const struct live *l, pid_t tid, int *errnum)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 1;; i++) {
		*errnum = tracer_stop_trace(PTRACE_SEIZE, tid, 0) == 0 ? 0 : errno;
		struct error *traced = *errnum ? live_traced(tid) : NULL;

		if (*errnum != EPERM || l->tracer->pid || traced || i == SEIZE_TRIES)
			return traced;
		nanosleep(&pause, NULL);
	}
}

static struct error *seize(struct live *l, pid_t tid)
{
	struct tracee tracee = { .tid = tid, .state = TRACEE_RUNNING };
	struct proc_stat stat;

	if (!tracer_stop_thread_stat(l, tid, &stat) || of_session(l, tid, &stat))
		return NULL;
	tracee.name = stat.comm;
	tracee.run_state = stat.state;
	int errnum;
	struct error *traced CLEANUP(error_freep) = try_seize(l, tid, &errnum);
	if (errnum) {
		if (errnum == ESRCH)
			return NULL;
		/* A main thread that has ended stays listed while other threads run. */
		if (!tracer_stop_thread_stat(l, tid, &stat))
			return NULL;
		if (stat.state == 'Z' || stat.state == 'X') {
			tracee.state = TRACEE_GONE;
			tracee.run_state = stat.state;
		} else if (errnum == EPERM && l->tracer->pid) {
			/* A new thread of the session, whose event has not arrived yet. */
			tracee.kept = true;
		} else {
			struct error *err = traced;

			traced = NULL;
			if (err)
				return err;
			return errnum == EPERM ? live_denied(l->t->pid)
			                       : error_os(errnum, "seizing thread %d", (int)tid);
		}
	}
	*vec_push(&l->tracer->tracees) = tracee;
	map_put(&l->known, (uint64_t)tid, l);
	return NULL;
}

static struct error *seize_new(struct live *l, DIR *tasks)
{
	const struct dirent *entry;

	rewinddir(tasks);
	while ((entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid > 0 && !map_has(&l->known, (uint64_t)tid) && !leave_running(l, tid) &&
		    !leave_asleep(l, tid))
			TRY(seize(l, tid));
	}
	/* At least one thread is seized even if all sleep: a stop without a thread is none. */
	if (!l->tracer->tracees.n && l->peeks.n && !(l->brief && l->t->stop.options.only))
		TRY(seize(l, l->peeks.data[--l->peeks.n].tid));
	return interrupt_check();
}

/* Whether the options limit the stop to less than TRACER_TIMEOUT_NS. */
static bool tracer_stop_is_limited(const struct live *l)
{
	return l->brief && l->brief->max_ns && l->brief->max_ns < TRACER_TIMEOUT_NS;
}

/* Deadline for all threads to stop, which leaves time to read their registers and resume them. */
static uint64_t deadline_of(const struct live *l)
{
	uint64_t rest = BASE_COST_NS + l->tracer->tracees.n * (REGS_COST_NS + RESUME_COST_NS);

	if (!tracer_stop_is_limited(l))
		return l->t->stop.began + TRACER_TIMEOUT_NS;
	return l->t->stop.began + clock_between(rest, l->brief->max_ns);
}

/*
 * Sets and returns l->over: the limit is exceeded. Also if all threads have stopped, but too late.
 */
static bool tracer_stop_is_over(struct live *l)
{
	l->over |= tracer_stop_is_limited(l) && clock_now_ns() > deadline_of(l);
	return l->over;
}

/* Waits for the tracees from first on to stop. Tracees that do not stop stay TRACEE_RUNNING. */
static struct error *wait_stopped(struct live *l, size_t first)
{
	struct tracer *tr = l->tracer;
	uint64_t deadline = deadline_of(l);
	struct wait_status w;

	for (size_t i = first; i < tr->tracees.n; i++) {
		while (tr->tracees.data[i].state == TRACEE_RUNNING &&
		       next_event(tr, tr->tracees.data[i].tid, deadline, &w))
			take_event(tr, &w);
		TRY(interrupt_check());
	}
	tracer_stop_is_over(l);
	return NULL;
}

/* Interrupts the tracees from first on, but no more once the time is over: each takes time. */
static void interrupt_from(struct live *l, size_t first)
{
	for (size_t i = first; i < l->tracer->tracees.n && !tracer_stop_is_over(l); i++) {
		if (l->tracer->tracees.data[i].state == TRACEE_RUNNING)
			tracer_stop_trace(PTRACE_INTERRUPT, l->tracer->tracees.data[i].tid, 0);
	}
}

/*
 * Raises the priority of the tracer thread. Otherwise resumed threads of the target preempt it
 * before the last of them is detached.
 */
static void raise_priority(struct tracer *tr)
{
	const struct sched_param param = { .sched_priority = 1 };

	tr->priority.old_policy = sched_getscheduler(0);
	if (sched_getparam(0, &tr->priority.old_param) != 0 ||
	    sched_setscheduler(0, SCHED_FIFO, &param) != 0)
		tr->priority.old_policy = -1;
	/* Without permission for SCHED_FIFO, try a better nice value. */
	tr->priority.old_nice = getpriority(PRIO_PROCESS, 0);
	if (tr->priority.old_policy < 0)
		setpriority(PRIO_PROCESS, 0, BEST_NICE);
	tr->priority.raised = true;
}

static void restore_priority(struct tracer *tr)
{
	if (!tr->priority.raised)
		return;
	if (tr->priority.old_policy >= 0)
		sched_setscheduler(0, tr->priority.old_policy, &tr->priority.old_param);
	else
		setpriority(PRIO_PROCESS, 0, tr->priority.old_nice);
	tr->priority.raised = false;
}

/*
 * Whether the number of threads is that of the stopped and the sleeping ones: then there is no new
 * thread.
 */
static bool all_known(const struct live *l, int task_fd)
{
	enum { LINKS = 2 }; /* links of the directory itself; each thread adds one */
	struct stat stat;

	for (size_t i = 0; i < l->tracer->tracees.n; i++) {
		if (l->tracer->tracees.data[i].state != TRACEE_STOPPED)
			return false;
	}
	return fstat(task_fd, &stat) == 0 &&
	       stat.st_nlink == LINKS + l->tracer->tracees.n + l->peeks.n;
}

static struct error *stop_threads(struct live *l)
{
	char path[64];
	struct error *err = NULL;
	size_t done = 0;
	unsigned passes = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)l->t->pid);
	DIR *tasks = l->tasks = opendir(path);
	if (!tasks)
		return live_exited(l->t->pid);
	/*
	 * Seizing does not stop a thread. The first pass seizes all threads, so that they stop
	 * together.
	 */
	while (!(err = seize_new(l, tasks)) && done < l->tracer->tracees.n &&
	       passes++ < MAX_PASSES) {
		if (l->t->stop.began == 0) {
			if (l->brief && l->brief->prepare)
				l->brief->prepare(l->brief->arg);
			/*
			 * Not before prepare(), which runs while the target runs and must not
			 * compete with it.
			 */
			raise_priority(l->tracer);
			l->t->stop.began = clock_now_ns();
		}
		interrupt_from(l, done);
		if ((err = wait_stopped(l, done)))
			break;
		done = l->tracer->tracees.n;
		if (l->over || all_known(l, dirfd(tasks)))
			break;
	}
	if (!err && passes > MAX_PASSES)
		return error_new(ERR_STATE,
		                 "process %d starts threads faster than they can be "
		                 "stopped",
		                 (int)l->t->pid);
	return err;
}

/* Reads size bytes of one of a thread's register sets. */
static bool read_regset(pid_t tid, uint32_t set, void *ret, size_t size)
{
	struct iovec iov = { ret, size };

	return ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)set, &iov) == 0 &&
	       iov.iov_len == size;
}

/* user_regs: room for user_regs_size bytes. */
static bool read_regs(struct target *t, pid_t tid, void *user_regs, struct regs *ret)
{
	const struct arch *arch = t->arch;

	if (!read_regset(tid, NT_PRSTATUS, user_regs, arch->regset.user_regs_size))
		return false;
	*ret = arch_regs_from_user(arch, &t->stop.arena, user_regs);
	if (arch->thread_pointer.regset != NT_PRSTATUS &&
	    read_regset(tid, arch->thread_pointer.regset, user_regs,
	                arch->thread_pointer.offset + sizeof(uint64_t)))
		arch_regs_add_thread_pointer(arch, user_regs,
		                             arch->thread_pointer.offset + sizeof(uint64_t), ret);
	return true;
}

/* ---- few threads of a program that is halted ---- */

/* Whether the stop lists that thread. */
static bool is_wanted(const struct target *t, pid_t tid)
{
	bool wanted = !t->stop.nfew;

	for (size_t i = 0; i < t->stop.nfew; i++)
		wanted |= t->stop.few[i] == tid;
	return wanted;
}

/*
 * Looks at the listed threads only: all threads of the session stand still, and new ones were
 * seized by the kernel.
 */
static void look_at_threads(struct live *l)
{
	l->t->stop.began = clock_now_ns();
	for (size_t i = 0; i < l->t->stop.nfew; i++) {
		struct proc_stat stat;

		if (tracer_stop_thread_stat(l, l->t->stop.few[i], &stat))
			of_session(l, l->t->stop.few[i], &stat);
	}
}

/* Numbers the listed threads as target_set_threads() does all. */
static void number_threads(struct live *l)
{
	pid_t pid = l->t->pid;

	for (size_t i = 0; i < l->t->nthreads; i++) {
		struct thread *th = &l->t->threads[i];

		/* The main thread is the first one, also where it had ended before us. */
		th->number = th->tid == pid ? 1 : 2;
		for (size_t j = 0; j < l->tracer->tracees.n && th->tid != pid; j++) {
			const struct tracee *other = &l->tracer->tracees.data[j];

			th->number += other->tid != pid && other->state != TRACEE_GONE &&
			              other->tid < th->tid;
		}
	}
}

/* Threads that were to stop and did not. */
struct unstopped {
	size_t n, asleep; /* asleep: uninterruptibly; the others got no CPU */
};

/*
 * Adds a thread whose registers are unknown, but for the thread pointer, which does not change:
 * thread-locals tell which runtime it is inside. The main thread may be a zombie.
 */
static void add_unstopped(struct live *l, struct thread *th, struct unstopped *all)
{
	struct peek p;

	all->n++;
	if (!live_thread_stat(l, th->tid, &p))
		return;
	all->asleep += p.run_state == 'D';
	th->regs = p.regs;
	th->run_state = p.run_state;
	th->problem = "it did not stop in time: its registers are not known";
}

static const char *why_unstopped(const struct unstopped *u)
{
	if (u->asleep == u->n)
		return "are in uninterruptible sleep";
	return u->asleep ? "are in uninterruptible sleep or got no CPU time" : "got no CPU time";
}

static struct error *list_threads(struct live *l)
{
	struct target *t = l->t;
	VEC(struct thread) threads = { 0 };
	struct unstopped unstopped = { 0 };
	size_t nstopped = 0;
	SCRATCH(scratch);
	void *user_regs = arena_alloc(&scratch, t->arch->regset.user_regs_size);

	for (size_t i = 0; i < l->tracer->tracees.n; i++) {
		const struct tracee *tracee = &l->tracer->tracees.data[i];
		struct thread *th;
		/*
		 * Skip threads that have ended, except the main one, which has the name of the
		 * process.
		 */
		if ((tracee->state == TRACEE_GONE && tracee->tid != t->pid) ||
		    !is_wanted(t, tracee->tid))
			continue;
		th = vec_push(&threads);
		th->tid = tracee->tid;
		th->name = tracee->name;
		th->run_state = tracee->run_state;
		if (tracee->state == TRACEE_RUNNING)
			add_unstopped(l, th, &unstopped);
		if (tracee->state != TRACEE_STOPPED)
			continue;
		th->has_regs = th->stopped = read_regs(t, th->tid, user_regs, &th->regs);
		if (nstopped++ == 0 || th->tid == t->pid)
			l->reader = th->tid;
	}
	for (size_t i = 0; i < l->peeks.n; i++)
		*vec_push(&threads) = live_peeked(l, &l->peeks.data[i]);
	target_set_threads(t, threads.data, threads.n);
	vec_free(&threads);
	if (t->stop.nfew)
		number_threads(l);
	if (unstopped.n > 0)
		target_note(t,
		            "%zu of %zu threads did not stop within %d s: they %s, their stacks "
		            "are unknown",
		            unstopped.n, l->tracer->tracees.n,
		            (int)(TRACER_TIMEOUT_NS / TRACER_NSEC), why_unstopped(&unstopped));
	if (nstopped > 0)
		return NULL;
	if (l->brief && t->stop.options.only && unstopped.n == 0)
		return error_new(ERR_STATE, "thread %d has ended", (int)t->stop.options.only);
	/* A process that is being killed stops responding, and is gone a moment later. */
	struct proc_stat now;
	bool dying =
		!tracer_stop_thread_stat(l, t->pid, &now) || now.state == 'Z' || now.state == 'X';
	return unstopped.n == 0 || dying
	               ? live_exited(t->pid)
	               : error_new(ERR_STATE, "no thread of process %d could be stopped: they %s",
	                           (int)t->pid, why_unstopped(&unstopped));
}

static struct error *stop_all(struct live *l)
{
	if (l->t->stop.nfew) {
		look_at_threads(l);
		TRY(list_threads(l));
		live_read_clock(l);
		return NULL;
	}
	TRY(stop_threads(l));
	if (l->over)
		return NULL;
	TRY(list_threads(l));
	live_read_clock(l);
	/* A brief stop checks this after it, in live_stop_briefly(). */
	return l->brief ? NULL : live_same_program(l);
}

/*
 * Whether the thread has ended: one that was killed during the stop is a zombie until its tracer
 * waits for it.
 */
static bool is_reaped(struct tracer *tr, pid_t tid)
{
	struct wait_status w;

	return next_event(tr, tid, 0, &w) && (w.status == -1 || !WIFSTOPPED(w.status));
}

/* Resumes or detaches a tracee. False if that failed. */
static bool tracer_stop_let_go(struct tracer *tr, size_t i)
{
	struct tracee *tracee = &tr->tracees.data[i];
	struct wait_status w;

	if (tracee->state == TRACEE_RUNNING && !tracee->kept && next_event(tr, tracee->tid, 0, &w))
		take_event(tr, &w);
	if (tracee->state == TRACEE_GONE)
		return true;
	if (tracee->kept) {
		if (!tr->want_halt && !tr->want_pass)
			tracer_go_on(tr, tracee);
		return true;
	}
	return tracee->state == TRACEE_STOPPED &&
	       (tracer_stop_trace(PTRACE_DETACH, tracee->tid, (uintptr_t)tracee->signal) == 0 ||
	        is_reaped(tr, tracee->tid));
}

void tracer_resume(struct tracer *tr, struct live *l)
{
	read_guard_stopped(false);
	l->standing = false;
	tr->standing = false;
	for (size_t i = 0; i < tr->tracees.n; i++)
		tr->quit |= !tracer_stop_let_go(tr, i);
	l->t->stop.pause_ns = l->t->stop.began ? clock_since(l->t->stop.began) : 0;
	restore_priority(tr);
	if (l->tasks)
		closedir(l->tasks);
	l->tasks = NULL;
	map_free(&l->known);
	tracer_prune(tr);
}

struct error *tracer_stop(struct tracer *tr, struct live *l, const struct brief_stop *b)
{
	l->reads = 0;
	l->brief = b;
	l->over = false;
	l->peeks.n = 0;
	l->t->stop.began = 0;
	read_guard_stopped(true);
	l->standing = true;
	struct error *err = stop_all(l);
	tr->standing = !err && !l->over && !(b && b->act);
	if (!err && !l->over && !tr->standing)
		b->act(b->arg);
	if (!tr->standing)
		tracer_resume(tr, l);
	return err;
}

/* --- target_ops --- */

static struct error *tracer_stop_request(struct live *l, enum tracer_request_kind kind,
                                         const struct brief_stop *b)
{
	struct tracer_request r = { .kind = kind, .stop = { l, b } };
	struct error *err = tracer_request(l->tracer, &r);

	if (err || kind != TRACER_STOP)
		LOG("target", "stopped for %" PRIu64 " us, %zu reads", l->t->stop.pause_ns / 1000,
		    l->reads);
	return err ? error_wrap(err, "stopping") : NULL;
}

/*
 * A brief stop of a session's program: this thread reads its memory, so that the tracer thread can
 * let it go whatever a read does.
 */
static struct error *stop_for_caller(struct live *l, const struct brief_stop *s)
{
	const struct brief_stop limits = { .max_ns = s->max_ns };

	if (s->prepare)
		s->prepare(s->arg);
	TRY(tracer_stop_request(l, TRACER_STOP, &limits));
	if (!l->over) {
		s->act(s->arg);
		live_resume(l->t);
	}
	l->brief = NULL;
	return NULL;
}

struct error *live_stop(struct target *t)
{
	return tracer_stop_request(t->private, TRACER_STOP, NULL);
}

void live_resume(struct target *t)
{
	error_free(tracer_stop_request(t->private, TRACER_RESUME, NULL));
}

static size_t count_stopped(const struct target *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		n += t->threads[i].stopped;
	return n;
}

struct error *live_stop_briefly(struct target *t, const struct brief_stop *s, struct copy *ret)
{
	struct live *l = t->private;

	TRY(l->own_tracer ? tracer_stop_request(l, TRACER_STOP_BRIEFLY, s) : stop_for_caller(l, s));
	ret->pause_ns = t->stop.pause_ns;
	ret->stopped = l->over ? 0 : count_stopped(t);
	for (size_t i = 0; i < l->peeks.n && !t->stop.options.only && !ret->spoiled; i++)
		ret->spoiled = !live_stayed_asleep(l, &l->peeks.data[i]);
	return live_same_program(l);
}
