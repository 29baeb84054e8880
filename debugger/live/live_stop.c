/*
 * Stopping a running process. Every stop has a thread of its own, the tracer, that seizes the
 * process's threads and lives until they run again: when a tracer thread ends, in whatever way,
 * the kernel detaches all it held, even a thread in uninterruptible sleep that PTRACE_DETACH
 * refuses. All that can be done before the first thread stops or after the last one runs is.
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

#include "debugger/base/log.h"
#include "debugger/live/live.h"
#include "debugger/live/live_check.h"
#include "debugger/live/proc.h"

enum {
	MAX_PASSES = 100, /* over task/, until no thread is new */
	MAX_NAP_NS = 1000000,
	MIN_NAP_NS = 20000,
	LATE_NAP_NS = 80000, /* measured: what the shortest nap may take until we run again */
	BEST_NICE = -20,
	NSEC = 1000000000,
};
/* A thread in uninterruptible sleep must not keep the others stopped. */
static const uint64_t stop_timeout_ns = UINT64_C(2) * NSEC;

/* ptrace() takes a long request for a pointer where the kernel wants a number. */
static long trace(enum __ptrace_request request, pid_t tid, uintptr_t data)
{
	return ptrace(request, tid, NULL, (void *)data);
}

/* --- stopping: all of this runs in the tracer thread --- */

static bool thread_stat(struct live *l, pid_t tid, struct proc_stat *ret)
{
	SCRATCH(scratch);
	char name[64];

	snprintf(name, sizeof(name), "task/%d/stat", (int)tid);
	const char *text = proc_read(&scratch, l->t->pid, name, NULL);
	return text && proc_stat_parse(&l->t->stop_arena, text, ret);
}

/* Whether the thread may sleep on during this stop. Only before anything stops: it takes time. */
static bool leave_asleep(struct live *l, pid_t tid)
{
	struct peek p;

	if (!l->brief || l->t->stopped_at || !target_is_spared(l->t, tid) ||
	    !live_peek_thread(l, tid, &p) || !p.asleep || !p.regs.thread_pointer)
		return false;
	*vec_push(&l->peeks) = p;
	map_put(&l->known, (uint64_t)tid, l);
	return true;
}

static struct error *seize(struct live *l, pid_t tid)
{
	struct tracee tracee = { .tid = tid, .state = TRACEE_RUNNING };
	struct proc_stat stat;

	if (leave_asleep(l, tid) || !thread_stat(l, tid, &stat))
		return NULL;
	tracee.name = stat.comm;
	tracee.run_state = stat.state;
	if (trace(PTRACE_SEIZE, tid, 0) != 0) {
		int errnum = errno;
		if (errnum == ESRCH)
			return NULL;
		/* A main thread that has ended stays listed while the others run. */
		if (!thread_stat(l, tid, &stat))
			return NULL;
		if (stat.state != 'Z' && stat.state != 'X') {
			TRY(live_traced(l->t->pid));
			return errnum == EPERM ? live_denied(l->t->pid)
			                       : error_os(errnum, "seizing thread %d", (int)tid);
		}
		tracee.state = TRACEE_GONE;
		tracee.run_state = stat.state;
	}
	*vec_push(&l->tracees) = tracee;
	map_put(&l->known, (uint64_t)tid, l);
	return NULL;
}

static struct error *seize_new(struct live *l, DIR *tasks)
{
	const struct dirent *entry;

	rewinddir(tasks);
	while ((entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid > 0 && !map_has(&l->known, (uint64_t)tid))
			TRY(seize(l, tid));
	}
	return interrupt_check();
}

/* true once the thread stands still or is gone. */
static bool collect(struct tracee *tracee)
{
	int status;
	pid_t tid = waitpid(tracee->tid, &status, __WALL | WNOHANG);

	if (tid == 0 || (tid < 0 && errno == EINTR))
		return false;
	if (tid < 0 || !WIFSTOPPED(status)) {
		tracee->state = TRACEE_GONE;
		return true;
	}
	tracee->state = TRACEE_STOPPED;
	/* Without an event it is a signal on its way: the thread gets it when it goes on. */
	if (status >> 16 == 0)
		tracee->signal = WSTOPSIG(status);
	return true;
}

/* Whether the stop may last for so long only. */
static bool is_limited(const struct live *l)
{
	return l->brief && l->brief->max_ns && l->brief->max_ns < stop_timeout_ns;
}

/* When all must stand still, so that their registers can be read and they be let go in time. */
static uint64_t deadline_of(const struct live *l)
{
	uint64_t rest = BASE_COST_NS + l->tracees.n * (REGS_COST_NS + RESUME_COST_NS);

	if (!is_limited(l))
		return l->t->stopped_at + stop_timeout_ns;
	return l->t->stopped_at + (l->brief->max_ns > rest ? l->brief->max_ns - rest : 0);
}

/* Takes down that it lasts too long. Also where all have stopped, but the last one too late. */
static bool is_over(struct live *l)
{
	l->over |= is_limited(l) && live_now_ns() > deadline_of(l);
	return l->over;
}

/* Until a thread may have stopped, but not beyond the deadline: then it looks again at once. */
static void nap_until(uint64_t deadline)
{
	struct timespec nap = { .tv_nsec = MAX_NAP_NS };
	uint64_t now = live_now_ns();
	sigset_t child;

	if (now + LATE_NAP_NS > deadline)
		return;
	if (now + MAX_NAP_NS + LATE_NAP_NS > deadline)
		nap.tv_nsec = MIN_NAP_NS;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	/* Another thread of ours may have got the signal: look again soon. */
	sigtimedwait(&child, NULL, &nap);
}

/* Waits for what stopped from first on; threads that do not are left TRACEE_RUNNING. */
static struct error *wait_stopped(struct live *l, size_t first)
{
	uint64_t deadline = deadline_of(l);

	for (size_t i = first; i < l->tracees.n; i++) {
		struct tracee *tracee = &l->tracees.data[i];
		while (tracee->state == TRACEE_RUNNING && !collect(tracee)) {
			TRY(interrupt_check());
			if (live_now_ns() > deadline)
				break;
			nap_until(deadline);
		}
	}
	is_over(l);
	return NULL;
}

/* Not one more where the time is over: each costs some. */
static void interrupt_from(struct live *l, size_t first)
{
	for (size_t i = first; i < l->tracees.n && !is_over(l); i++) {
		if (l->tracees.data[i].state == TRACEE_RUNNING)
			trace(PTRACE_INTERRUPT, l->tracees.data[i].tid, 0);
	}
}

/* Without it, the target's threads get our processor before the last of them is detached. */
static void raise_priority(struct live *l)
{
	const struct sched_param param = { .sched_priority = 1 };

	l->old_policy = sched_getscheduler(0);
	if (sched_getparam(0, &l->old_param) != 0 || sched_setscheduler(0, SCHED_FIFO, &param) != 0)
		l->old_policy = -1;
	/* Who may not may still be nice to itself. */
	l->old_nice = getpriority(PRIO_PROCESS, 0);
	if (l->old_policy < 0)
		setpriority(PRIO_PROCESS, 0, BEST_NICE);
}

/* Whether as many threads are there as stand still or are left asleep: then no other is. */
static bool all_known(const struct live *l, int task_fd)
{
	enum { LINKS = 2 }; /* of the directory itself; each thread is one more */
	struct stat stat;

	for (size_t i = 0; i < l->tracees.n; i++) {
		if (l->tracees.data[i].state != TRACEE_STOPPED)
			return false;
	}
	return fstat(task_fd, &stat) == 0 && stat.st_nlink == LINKS + l->tracees.n + l->peeks.n;
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
	/* Seizing does not stop. The first pass does it for all, so that they stop together. */
	while (!(err = seize_new(l, tasks)) && done < l->tracees.n && passes++ < MAX_PASSES) {
		if (l->t->stopped_at == 0) {
			if (l->brief && l->brief->prepare)
				l->brief->prepare(l->brief->arg);
			/* Not before: what is done while the target runs shall not keep it. */
			if (l->brief)
				raise_priority(l);
			l->t->stopped_at = live_now_ns();
		}
		interrupt_from(l, done);
		if ((err = wait_stopped(l, done)))
			break;
		done = l->tracees.n;
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

/* size bytes of one of a thread's register sets. */
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

	if (!read_regset(tid, NT_PRSTATUS, user_regs, arch->user_regs_size))
		return false;
	*ret = arch_regs_from_user(arch, &t->stop_arena, user_regs);
	return true;
}

static struct error *list_threads(struct live *l)
{
	struct target *t = l->t;
	VEC(struct thread) threads = { 0 };
	size_t nstopped = 0, nrunning = 0;
	SCRATCH(scratch);
	void *user_regs = arena_alloc(&scratch, t->arch->user_regs_size);

	for (size_t i = 0; i < l->tracees.n; i++) {
		const struct tracee *tracee = &l->tracees.data[i];
		struct thread *th;
		/* Threads that ended are none, but the main one has the process's name. */
		if (tracee->state == TRACEE_GONE && tracee->tid != t->pid)
			continue;
		th = vec_push(&threads);
		th->tid = tracee->tid;
		th->name = tracee->name;
		th->run_state = tracee->run_state;
		nrunning += tracee->state == TRACEE_RUNNING;
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
	if (nrunning > 0)
		target_note(t,
		            "%zu of %zu threads did not stop within %d s: they are in "
		            "uninterruptible sleep, their stacks are unknown",
		            nrunning, l->tracees.n, (int)(stop_timeout_ns / NSEC));
	if (nstopped > 0)
		return NULL;
	/* A process that is being killed answers no more, and a moment later it is gone. */
	struct proc_stat now;
	bool dying = !thread_stat(l, t->pid, &now) || now.state == 'Z' || now.state == 'X';
	return nrunning == 0 || dying ? live_exited(t->pid)
	                              : error_new(ERR_STATE,
	                                          "no thread of process %d could be stopped: "
	                                          "all are in uninterruptible sleep",
	                                          (int)t->pid);
}

static struct error *stop_all(struct live *l)
{
	TRY(stop_threads(l));
	if (l->over)
		return NULL;
	TRY(list_threads(l));
	live_read_clock(l);
	/* What stops briefly has the time to look when it is over. */
	return l->brief ? NULL : live_same_program(l);
}

static void detach_all(struct live *l)
{
	for (size_t i = 0; i < l->tracees.n; i++) {
		struct tracee *tracee = &l->tracees.data[i];
		if (tracee->state == TRACEE_RUNNING)
			collect(tracee);
		if (tracee->state != TRACEE_STOPPED)
			continue;
		/* A thread that was killed meanwhile is a zombie until its tracer looks. */
		if (trace(PTRACE_DETACH, tracee->tid, (uintptr_t)tracee->signal) != 0)
			waitpid(tracee->tid, NULL, __WALL | WNOHANG);
	}
}

static void *tracer_main(void *arg)
{
	struct live *l = arg;
	const struct brief_stop *b = l->brief;

	l->tracer_tid = gettid();
	l->error = stop_all(l);
	if (!l->error && b && !l->over)
		b->act(b->arg);
	if (!l->error && !b) {
		sem_post(&l->stopped);
		while (sem_wait(&l->resume) != 0)
			;
	}
	detach_all(l);
	l->t->pause_ns = l->t->stopped_at ? live_now_ns() - l->t->stopped_at : 0;
	if (l->error && !b)
		sem_post(&l->stopped);
	return NULL;
}

/* --- target_ops --- */

/* Until the tracer is quite gone: threads that it could not detach are then free again. */
static void wait_tracer_gone(const struct live *l)
{
	uint64_t deadline = live_now_ns() + NSEC;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)l->tracer_tid);
	while (access(path, F_OK) == 0 && live_now_ns() < deadline)
		sched_yield();
}

static void finish_stop(struct live *l)
{
	/* A brief stop has raised its tracer, which is gone. */
	if (!l->brief && l->old_policy >= 0)
		sched_setscheduler(0, l->old_policy, &l->old_param);
	else if (!l->brief)
		setpriority(PRIO_PROCESS, 0, l->old_nice);
	pthread_sigmask(SIG_SETMASK, &l->old_mask, NULL);
	sem_destroy(&l->stopped);
	sem_destroy(&l->resume);
	if (l->tasks)
		closedir(l->tasks);
	l->tasks = NULL;
	vec_free(&l->tracees);
	map_free(&l->known);
}

/* Starts the tracer. */
static struct error *begin_stop(struct live *l, const struct brief_stop *b)
{
	sigset_t all, child;

	l->reads = 0;
	l->error = NULL;
	l->brief = b;
	l->over = false;
	l->peeks.n = 0;
	l->t->stopped_at = 0;
	sem_init(&l->stopped, 0, 0);
	sem_init(&l->resume, 0, 0);
	if (!b)
		raise_priority(l);
	/* The tracer takes SIGCHLD, and no other signal. */
	sigfillset(&all);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_SETMASK, &all, &l->old_mask);
	int errnum = pthread_create(&l->tracer, NULL, tracer_main, l);
	pthread_sigmask(SIG_SETMASK, &l->old_mask, NULL);
	if (errnum != 0) {
		finish_stop(l);
		return error_os(errnum, "starting a thread");
	}
	pthread_sigmask(SIG_BLOCK, &child, NULL);
	return NULL;
}

/* Waits until the tracer has let all threads go. */
static struct error *end_stop(struct live *l)
{
	pthread_join(l->tracer, NULL);
	wait_tracer_gone(l);
	finish_stop(l);
	LOG("target", "stopped for %" PRIu64 " us, %zu reads", l->t->pause_ns / 1000, l->reads);
	return l->error ? error_wrap(l->error, "stopping") : NULL;
}

struct error *live_stop(struct target *t)
{
	struct live *l = t->private;

	TRY(begin_stop(l, NULL));
	while (sem_wait(&l->stopped) != 0)
		;
	return l->error ? end_stop(l) : NULL;
}

void live_resume(struct target *t)
{
	struct live *l = t->private;

	sem_post(&l->resume);
	error_free(end_stop(l));
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

	TRY(begin_stop(l, s));
	TRY(end_stop(l));
	ret->pause_ns = t->pause_ns;
	ret->stopped = l->over ? 0 : count_stopped(t);
	for (size_t i = 0; i < l->peeks.n && !ret->spoiled; i++)
		ret->spoiled = !live_slept_on(l, &l->peeks.data[i]);
	return live_same_program(l);
}
