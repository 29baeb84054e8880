#include "debugger/live/read_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	TICK_NS = 100 * 1000000,
	/* A read of the largest slice takes some milliseconds, under load more. */
	STOPPED_TICKS = 5,
	RUNNING_TICKS = 20,
	STATUS_FAILED = 2,
};

static _Atomic uint64_t begun, ended;
static atomic_int stopped;
static _Atomic pid_t process;
static _Atomic(void (*)(void)) at_end;

static void say(void)
{
	char text[256];

	snprintf(text, sizeof(text),
	         "asyncdbg: memory of process %d cannot be read: a page of it is served by a "
	         "process that does not answer (userfaultfd or FUSE); the process runs on\n",
	         (int)process);
	ssize_t written = write(STDERR_FILENO, text, strlen(text));
	(void)written;
}

static void *watch(void *arg)
{
	const struct timespec tick = { .tv_nsec = TICK_NS };
	uint64_t last = 0;
	int ticks = 0;

	(void)arg;
	for (;;) {
		nanosleep(&tick, NULL);

		uint64_t now = begun;

		/* Only one thread reads at a time, but for a moment at the end of a session. */
		ticks = now != ended && now == last ? ticks + 1 : 0;
		last = now;
		if (ticks < (stopped ? STOPPED_TICKS : RUNNING_TICKS))
			continue;
		say();
		if (at_end)
			at_end();
		_exit(STATUS_FAILED);
	}
	return NULL;
}

void read_guard_start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, watch, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void read_guard_name(pid_t pid)
{
	process = pid;
}

void read_guard_begin(void)
{
	begun++;
}

void read_guard_end(void)
{
	ended++;
}

void read_guard_stopped(int yes)
{
	stopped = yes;
}

void read_guard_at_end(void (*end)(void))
{
	at_end = end;
}
