#include "debugger/live/read_guard.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "debugger/live/proc.h"

enum {
	TICK_NS = 100 * 1000000,
	/* The longest sleep for one page that is read from a disk is far shorter. */
	STOPPED_TICKS = 5,
	RUNNING_TICKS = 20,
	STATUS_FAILED = 2,
	STATUS_FILE = 8192, /* bytes of /proc/PID/task/TID/status: 1.5 KB on Linux 6.18 */
};

static _Atomic uint64_t begun, ended;
static atomic_int stopped, ending;
static _Atomic pid_t process, reader;
static _Atomic(void (*)(void)) at_end;
static struct {
	pthread_mutex_t lock;
	void (*call)(void *arg);
	void *arg;
} let_go = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void report_blocked_read(void)
{
	char text[384];

	snprintf(text, sizeof(text),
	         "asyncdbg: memory of process %d cannot be read: a page is served by a process "
	         "that does not answer (userfaultfd or FUSE); the process keeps running\n",
	         (int)process);
	ssize_t written = write(STDERR_FILENO, text, strlen(text));
	(void)written;
}

/*
 * How often the thread that reads has gone to sleep; -1: it does not sleep. A thread that waits for
 * a CPU, or that gets page after page from a disk, is slow, not blocked.
 */
static long reader_sleeps(void)
{
	char path[64], status[STATUS_FILE];
	ssize_t len = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)reader);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, status, sizeof(status) - 1);
		close(fd);
	}
	if (len <= 0)
		return -1;
	status[len] = '\0';
	const char *state = strstr(status, "\nState:\t");
	if (!state || state[strlen("\nState:\t")] == 'R')
		return -1;
	return proc_status_number(status, "voluntary_ctxt_switches", -1);
}

/* The reader has been in one sleep for too long. */
static void end_blocked_read(void)
{
	ending = true;
	pthread_mutex_lock(&let_go.lock);
	void (*call)(void *arg) = let_go.call;
	void *arg = let_go.arg;
	pthread_mutex_unlock(&let_go.lock);
	if (call)
		call(arg);
	report_blocked_read();
	if (at_end)
		at_end();
	_exit(STATUS_FAILED);
}

static void *watch_reads(void *arg)
{
	const struct timespec tick = { .tv_nsec = TICK_NS };
	uint64_t last = 0;
	long sleeps = -1;
	int ticks = 0;

	(void)arg;
	for (;;) {
		nanosleep(&tick, NULL);

		uint64_t now = begun;

		/* Only one thread reads at a time, but for a moment at the end of a session. */
		if (now == ended || now != last) {
			ticks = 0;
		} else {
			long slept = reader_sleeps();

			ticks = slept >= 0 && slept == sleeps ? ticks + 1 : 0;
			sleeps = slept;
		}
		last = now;
		if (ticks >= (stopped ? STOPPED_TICKS : RUNNING_TICKS))
			end_blocked_read();
	}
	return NULL;
}

void read_guard_start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, watch_reads, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void read_guard_name(pid_t pid)
{
	process = pid;
}

void read_guard_begin(void)
{
	reader = gettid();
	begun++;
}

void read_guard_end(void)
{
	ended++;
	while (ending)
		pause();
}

ssize_t read_guard_vectors(pid_t pid, const struct iovec *local, size_t nlocal,
                           const struct iovec *remote, size_t nremote)
{
	read_guard_begin();
	ssize_t n = process_vm_readv(pid, local, nlocal, remote, nremote, 0);
	read_guard_end();
	return n;
}

void read_guard_stopped(bool yes)
{
	stopped = yes;
}

void read_guard_let_go(void (*call)(void *arg), void *arg)
{
	pthread_mutex_lock(&let_go.lock);
	let_go.call = call;
	let_go.arg = arg;
	pthread_mutex_unlock(&let_go.lock);
}

void read_guard_at_end(void (*end)(void))
{
	at_end = end;
}
