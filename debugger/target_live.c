/*
 * A running process. Every stop has a thread of its own, the tracer, that seizes the process's
 * threads and lives until they run again: when a tracer thread ends, in whatever way, the kernel
 * detaches all it held, even a thread in uninterruptible sleep that PTRACE_DETACH refuses.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "debugger/base/log.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/live_check.h"
#include "debugger/module.h"
#include "debugger/proc.h"
#include "debugger/target.h"

enum {
	MAX_PASSES = 100,    /* over task/, until no thread is new */
	MAX_USER_REGS = 512, /* bytes */
	NSEC = 1000000000,
};
/* A thread in uninterruptible sleep must not keep the others stopped. */
static const uint64_t stop_timeout_ns = UINT64_C(2) * NSEC;

enum tracee_state { TRACEE_RUNNING, TRACEE_STOPPED, TRACEE_GONE };

struct tracee {
	pid_t tid;
	enum tracee_state state;
	int signal; /* it was about to be delivered when the thread stopped */
	const char *name;
	char run_state;
};

struct live {
	struct target *t;
	const char *exe; /* --exe, or NULL */
	pid_t reader;    /* the thread whose memory is read: normally the main one */
	int mem_fd;      /* for kernels and filters that forbid process_vm_readv() */
	bool use_mem_fd;
	size_t reads; /* system calls that read memory, since the stop */
	int64_t clock_offset;
	char *auxv; /* changes with execve() */
	size_t auxv_len;
	/* Of the current stop. */
	pthread_t tracer;
	pid_t tracer_tid;
	sem_t stopped, resume;
	struct error *error;
	VEC(struct tracee) tracees;
	struct map known; /* by tid */
	uint64_t stopped_at;
	sigset_t old_mask;
	int old_policy;
	struct sched_param old_param;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

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

static struct error *seize(struct live *l, pid_t tid)
{
	struct tracee tracee = { .tid = tid, .state = TRACEE_RUNNING };
	struct proc_stat stat;

	if (!thread_stat(l, tid, &stat))
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

/* Waits for what stopped from first on; threads that do not are left TRACEE_RUNNING. */
static struct error *wait_stopped(struct live *l, size_t first)
{
	uint64_t deadline = l->stopped_at + stop_timeout_ns;
	const struct timespec nap = { .tv_nsec = 1000000 };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (size_t i = first; i < l->tracees.n; i++) {
		struct tracee *tracee = &l->tracees.data[i];
		while (tracee->state == TRACEE_RUNNING && !collect(tracee)) {
			TRY(interrupt_check());
			if (now_ns() > deadline)
				break;
			/* Another thread of ours may have got the signal: look again soon. */
			sigtimedwait(&child, NULL, &nap);
		}
	}
	return NULL;
}

static struct error *stop_threads(struct live *l)
{
	char path[64];
	struct error *err = NULL;
	size_t done = 0;
	unsigned passes = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)l->t->pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return live_exited(l->t->pid);
	/* Seizing does not stop. The first pass does it for all, so that they stop together. */
	while (!(err = seize_new(l, tasks)) && done < l->tracees.n && passes++ < MAX_PASSES) {
		if (done == 0)
			l->stopped_at = now_ns();
		for (size_t i = done; i < l->tracees.n; i++) {
			if (l->tracees.data[i].state == TRACEE_RUNNING)
				trace(PTRACE_INTERRUPT, l->tracees.data[i].tid, 0);
		}
		if ((err = wait_stopped(l, done)))
			break;
		done = l->tracees.n;
	}
	closedir(tasks);
	if (!err && passes > MAX_PASSES)
		return error_new(ERR_STATE,
		                 "process %d starts threads faster than they can be "
		                 "stopped",
		                 (int)l->t->pid);
	return err;
}

static bool read_regs(const struct target *t, pid_t tid, struct regs *ret)
{
	uint64_t words[MAX_USER_REGS / sizeof(uint64_t)];
	struct iovec iov = { words, sizeof(words) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov) != 0 ||
	    iov.iov_len != t->arch->user_regs_size)
		return false;
	t->arch->regs_from_user(words, ret);
	return true;
}

static struct error *list_threads(struct live *l)
{
	struct target *t = l->t;
	VEC(struct thread) threads = { 0 };
	size_t nstopped = 0, nrunning = 0;

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
		th->has_regs = read_regs(t, th->tid, &th->regs);
		if (nstopped++ == 0 || th->tid == t->pid)
			l->reader = th->tid;
	}
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

/* pids are used again, and execve() replaces a program. */
static struct error *check_same_program(struct live *l)
{
	SCRATCH(scratch);
	size_t len;
	const char *auxv = proc_read(&scratch, l->reader, "auxv", &len);

	if (!auxv || len == 0)
		return live_exited(l->t->pid);
	if (len != l->auxv_len || memcmp(auxv, l->auxv, len) != 0)
		return error_new(ERR_STATE,
		                 "process %d runs another program by now: start asyncdbg "
		                 "again",
		                 (int)l->t->pid);
	return NULL;
}

static struct error *stop_all(struct live *l)
{
	TRY(stop_threads(l));
	TRY(list_threads(l));
	return check_same_program(l);
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

	l->tracer_tid = gettid();
	l->error = stop_all(l);
	if (l->error)
		detach_all(l);
	sem_post(&l->stopped);
	if (!l->error) {
		while (sem_wait(&l->resume) != 0)
			;
		detach_all(l);
	}
	return NULL;
}

/* --- target_ops --- */

/* Without it, the target's threads get our processor before the last of them is detached. */
static void raise_priority(struct live *l)
{
	const struct sched_param param = { .sched_priority = 1 };

	l->old_policy = sched_getscheduler(0);
	if (sched_getparam(0, &l->old_param) != 0 || sched_setscheduler(0, SCHED_FIFO, &param) != 0)
		l->old_policy = -1;
}

/* Until the tracer is quite gone: threads that it could not detach are then free again. */
static void wait_tracer_gone(const struct live *l)
{
	uint64_t deadline = now_ns() + NSEC;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)l->tracer_tid);
	while (access(path, F_OK) == 0 && now_ns() < deadline)
		sched_yield();
}

static void finish_stop(struct live *l)
{
	if (l->old_policy >= 0)
		sched_setscheduler(0, l->old_policy, &l->old_param);
	pthread_sigmask(SIG_SETMASK, &l->old_mask, NULL);
	sem_destroy(&l->stopped);
	sem_destroy(&l->resume);
	vec_free(&l->tracees);
	map_free(&l->known);
}

static struct error *live_stop(struct target *t)
{
	struct live *l = t->private;

	l->reads = 0;
	sigset_t all, child;

	l->error = NULL;
	sem_init(&l->stopped, 0, 0);
	sem_init(&l->resume, 0, 0);
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
	while (sem_wait(&l->stopped) != 0)
		;
	if (l->error) {
		pthread_join(l->tracer, NULL);
		wait_tracer_gone(l);
		finish_stop(l);
		return error_wrap(l->error, "stopping");
	}
	t->clock.monotonic_ns = now_ns() + (uint64_t)l->clock_offset;
	t->clock.known = true;
	return NULL;
}

static void live_resume(struct target *t)
{
	struct live *l = t->private;

	sem_post(&l->resume);
	pthread_join(l->tracer, NULL);
	t->pause_ns = now_ns() - l->stopped_at;
	wait_tracer_gone(l);
	finish_stop(l);
	LOG("target", "stopped for %" PRIu64 " us, %zu reads", t->pause_ns / 1000, l->reads);
}

static bool live_region(struct target *t, struct arena *a, uint64_t addr, struct region *ret)
{
	return proc_region(a, t->pid, addr, ret);
}

static struct error *live_read(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
{
	struct live *l = t->private;
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)addr, len };

	*ret = 0;
	l->reads++;
	if (!l->use_mem_fd) {
		ssize_t n = process_vm_readv(l->reader, &local, 1, &remote, 1, 0);
		if (n >= 0) {
			*ret = (size_t)n;
			return NULL;
		}
		if (errno == ESRCH)
			return live_exited(t->pid);
		if (errno != ENOSYS && errno != EPERM)
			return NULL;
		l->use_mem_fd = true;
	}
	ssize_t n = addr <= INT64_MAX ? pread(l->mem_fd, buf, len, (off_t)addr) : -1;
	*ret = n > 0 ? (size_t)n : 0;
	return NULL;
}

static struct error *live_read_batch(struct target *t, struct read_range *ranges, size_t n)
{
	enum { MAX_IOV = 1024 }; /* IOV_MAX */
	struct live *l = t->private;
	struct iovec local[MAX_IOV], remote[MAX_IOV];

	for (size_t i = 0; i < n;) {
		size_t count = 0;

		for (; count < MAX_IOV && i + count < n; count++) {
			struct read_range *r = &ranges[i + count];

			r->got = 0;
			local[count] = (struct iovec){ r->buf, r->len };
			remote[count] = (struct iovec){ (void *)(uintptr_t)r->addr, r->len };
		}
		ssize_t got = l->use_mem_fd
		                      ? -1
		                      : process_vm_readv(l->reader, local, count, remote, count, 0);
		size_t left = got > 0 ? (size_t)got : 0;
		for (; count && left >= ranges[i].len; count--, i++) {
			ranges[i].got = ranges[i].len;
			left -= ranges[i].len;
		}
		/* It stopped at a range with a hole, or is forbidden: that one by itself. */
		if (count) {
			TRY(live_read(t, ranges[i].addr, ranges[i].buf, ranges[i].len,
			              &ranges[i].got));
			i++;
		}
	}
	return NULL;
}

static void live_close(struct target *t)
{
	struct live *l = t->private;

	if (!l)
		return;
	if (l->mem_fd >= 0)
		close(l->mem_fd);
	free(l);
}

static const struct target_ops live_ops = {
	.kind = "live",
	.read = live_read,
	.region = live_region,
	.read_batch = live_read_batch,
	.stop = live_stop,
	.resume = live_resume,
	.close = live_close,
};

/* --- opening --- */

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * In this order: what the kernel itself has open for the executable (right even when deleted or
 * replaced), the path as the target sees it, as we see it, and what the kernel has mapped (for
 * deleted libraries; needs CAP_CHECKPOINT_RESTORE).
 */
static struct module_file find_file(struct target *t, const struct mapping *m, bool is_main,
                                    unsigned attempt)
{
	const struct live *l = t->private;
	const char *inside = arena_printf(&t->arena, "%s%s", t->root, m->path);
	bool ours = same_file(inside, m->path) || access(inside, F_OK) != 0;
	const char *shown = ours ? m->path : inside;
	const char *opened;

	if (is_main && l->exe)
		return attempt == 0 ? (struct module_file){ l->exe, l->exe }
		                    : (struct module_file){ 0 };
	attempt += !is_main;
	switch (attempt) {
	case 0:
		opened = arena_printf(&t->arena, "/proc/%d/exe", (int)t->pid);
		return (struct module_file){ opened, shown };
	case 1:
		return (struct module_file){ shown, shown };
	case 2:
		return (struct module_file){ m->path, m->path };
	case 3:
		opened = arena_printf(&t->arena, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		                      (int)t->pid, m->start, m->end);
		return (struct module_file){ opened, m->path };
	default:
		return (struct module_file){ 0 };
	}
}

/* Read-only parts of modules: their bytes can be had while the target runs. */
static void keep_constant(struct target *t, const struct mapping *mappings, size_t nmappings)
{
	t->constant = NEW_ARRAY(&t->arena, struct mapping, nmappings);
	for (size_t i = 0; i < nmappings; i++) {
		if (mappings[i].readable && !mappings[i].writable &&
		    module_at(t, mappings[i].start))
			t->constant[t->nconstant++] = mappings[i];
	}
}

static struct error *read_process(struct target *t)
{
	struct live *l = t->private;
	char path[64];

	l->auxv = proc_read(&t->arena, t->pid, "auxv", &l->auxv_len);
	const char *comm = proc_read(&t->arena, t->pid, "comm", NULL);
	if (!l->auxv || !comm || l->auxv_len == 0)
		return live_exited(t->pid);
	t->command = str_clean(&t->arena, comm, strcspn(comm, "\n"));
	t->entry = auxv_find(l->auxv, l->auxv_len, AT_ENTRY);
	t->vdso = auxv_find(l->auxv, l->auxv_len, AT_SYSINFO_EHDR);
	t->root = arena_printf(&t->arena, "/proc/%d/root", (int)t->pid);
	l->clock_offset = proc_monotonic_offset(t->pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->pid);
	l->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	return l->mem_fd >= 0 ? NULL : error_os(errno, "opening %s", path);
}

struct error *target_live_open(pid_t pid, const struct target_options *options, struct target **ret)
{
	struct target *t CLEANUP(target_closep) = NULL;
	size_t nmappings;

	TRY(live_check(pid, &arch_x86_64));
	t = target_new(&live_ops, &arch_x86_64, true);
	struct live *l = calloc(1, sizeof(*l));
	if (!l)
		out_of_memory();
	*l = (struct live){ .t = t, .exe = options->exe, .reader = pid, .mem_fd = -1 };
	t->private = l;
	t->pid = pid;
	TRY(read_process(t));
	struct mapping *mappings = proc_maps(&t->arena, pid, &nmappings);
	if (!mappings)
		return error_os(errno, "reading /proc/%d/maps", (int)pid);
	TRY(modules_report(t, mappings, nmappings, find_file, options->force));
	keep_constant(t, mappings, nmappings);
	*ret = t;
	t = NULL;
	return NULL;
}
