/* Reads files of /proc that can block: cmdline lies in the memory of its process. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "debugger/live/proc.h"

/* A read that its reader shares with the thread that waits for it; the last one frees it. */
struct brief_read {
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
	atomic_int users;
	pid_t pid;
	const char *name;
	struct arena arena;
	char *text;
	size_t len;
};

static void proc_briefly_let_go(struct brief_read *r)
{
	if (atomic_fetch_sub(&r->users, 1) != 1)
		return;
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->done);
	arena_free(&r->arena);
	free(r);
}

static void *read_it(void *arg)
{
	struct brief_read *r = arg;
	size_t len = 0;
	char *text = proc_read(&r->arena, r->pid, r->name, &len);

	pthread_mutex_lock(&r->lock);
	r->text = text;
	r->len = len;
	r->is_done = true;
	pthread_cond_signal(&r->done);
	pthread_mutex_unlock(&r->lock);
	proc_briefly_let_go(r);
	return NULL;
}

static struct brief_read *proc_briefly_start(pid_t pid, const char *name)
{
	struct brief_read *r = alloc_zeroed(sizeof(*r));
	pthread_condattr_t clock;
	sigset_t all, before;
	pthread_t thread;

	r->pid = pid;
	r->name = name;
	r->users = 2;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->done, &clock);
	pthread_condattr_destroy(&clock);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = pthread_create(&thread, NULL, read_it, r) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	else
		read_it(r);
	return r;
}

char *proc_briefly_read(struct arena *a, pid_t pid, const char *name, unsigned ms, size_t *len)
{
	struct brief_read *r = proc_briefly_start(pid, name);
	char *text = NULL;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&r->lock);
	while (!r->is_done && pthread_cond_timedwait(&r->done, &r->lock, &until) == 0)
		;
	if (r->is_done && r->text) {
		*len = r->len;
		text = arena_alloc(a, r->len + 1);
		memcpy(text, r->text, r->len + 1);
	}
	pthread_mutex_unlock(&r->lock);
	proc_briefly_let_go(r);
	return text;
}
