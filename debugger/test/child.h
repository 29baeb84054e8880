/*
 * For tests: a copy of the test process to debug, with threads that count in shared memory. It dies
 * with the test. Tests wait for events (child_wait_*()), never for a fixed time.
 */
#ifndef DEBUGGER_TEST_CHILD_H
#define DEBUGGER_TEST_CHILD_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_WORKERS = 3 };

/* Memory that test and child share. */
struct child_shared {
	atomic_int ready; /* workers that run */
	atomic_int signals;
	atomic_bool quit;
	atomic_int helper; /* a process that the child started */
	struct child_worker {
		atomic_ulong counter;
		pid_t tid;
	} workers[CHILD_WORKERS];
};

struct child {
	pid_t pid;
	struct child_shared *shared;
};

static struct child_shared *child_shared_;

static inline void *child_worker_main(void *arg)
{
	struct child_worker *w = arg;
	char name[] = "worker-0";

	name[7] = (char)('0' + (w - child_shared_->workers));
	pthread_setname_np(pthread_self(), name);
	w->tid = gettid();
	atomic_fetch_add(&child_shared_->ready, 1);
	while (!atomic_load(&child_shared_->quit)) {
		atomic_fetch_add(&w->counter, 1);
		sched_yield();
	}
	return NULL;
}

static inline void child_on_signal(int signal)
{
	(void)signal;
	atomic_fetch_add(&child_shared_->signals, 1);
}

static inline void *child_nothing(void *arg)
{
	return arg;
}

/* What the main thread of a child does. */
typedef void child_main_fn(void);

static inline void child_pause(void)
{
	for (;;)
		pause();
}

/* Starts and ends threads forever. */
static inline void child_churn(void)
{
	for (;;) {
		pthread_t threads[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, child_nothing, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
}

static inline void child_wait_ready(const struct child *c)
{
	while (atomic_load(&c->shared->ready) < CHILD_WORKERS)
		sched_yield();
}

/*
 * before runs in the child before its threads start; it may be NULL. They may not have started when
 * this returns.
 */
static inline struct child child_begin(child_main_fn *before, child_main_fn *then)
{
	struct child c;
	pid_t parent = getpid();

	c.shared = mmap(NULL, sizeof(*c.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	                -1, 0);
	if (c.shared == MAP_FAILED)
		abort();
	child_shared_ = c.shared;
	c.pid = fork();
	if (c.pid < 0)
		abort();
	if (c.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		struct sigaction action = { .sa_handler = child_on_signal };
		sigaction(SIGRTMIN, &action, NULL);
		if (before)
			before();
		for (int i = 0; i < CHILD_WORKERS; i++) {
			pthread_t thread;
			pthread_create(&thread, NULL, child_worker_main, &c.shared->workers[i]);
		}
		then();
		_exit(0);
	}
	return c;
}

/* The same, and its threads run. */
static inline struct child child_start(child_main_fn *before, child_main_fn *then)
{
	struct child c = child_begin(before, then);

	child_wait_ready(&c);
	return c;
}

/* Waits until every worker has counted on: the child runs. */
static inline void child_wait_progress(const struct child *c)
{
	for (int i = 0; i < CHILD_WORKERS; i++) {
		unsigned long before = atomic_load(&c->shared->workers[i].counter);
		while (atomic_load(&c->shared->workers[i].counter) == before)
			sched_yield();
	}
}

static inline void child_end(struct child *c)
{
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(c->shared, sizeof(*c->shared));
}

/* The state letter of a thread, 0 when it is gone. */
static inline char child_state(pid_t pid, pid_t tid)
{
	char path[64], line[512];
	char state = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	const char *end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (end)
		state = end[2];
	fclose(f);
	return state;
}

#define CHILD(name, before, then)                                                                  \
	struct child name CLEANUP(child_end) = child_start((before), (then))

#endif
