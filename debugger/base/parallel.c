#include "debugger/base/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static size_t threads_for(size_t wanted)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (processors > 0 && wanted > (size_t)processors)
		wanted = (size_t)processors;
	return wanted < PARALLEL_MAX ? wanted : PARALLEL_MAX;
}

/* Starts a thread that blocks all signals: the calling thread handles them. */
static bool parallel_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return false;
	bool started = pthread_create(thread, NULL, run, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void parallel_run(void *(*run)(void *arg), void *arg, size_t wanted)
{
	pthread_t threads[PARALLEL_MAX];
	size_t started = 0;

	wanted = threads_for(wanted);
	while (started + 1 < wanted && parallel_start(&threads[started], run, arg))
		started++;
	run(arg);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}
