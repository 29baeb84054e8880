#include "dwarf/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static size_t threads_for(size_t wanted)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (processors > 0 && wanted > (size_t)processors)
		wanted = (size_t)processors;
	return wanted < PARALLEL_MAX ? wanted : PARALLEL_MAX;
}

/* Signals are for the thread that asks. */
void parallel_run(void *(*run)(void *arg), void *arg, size_t wanted)
{
	pthread_t threads[PARALLEL_MAX];
	size_t started = 0;
	sigset_t all, before;

	wanted = threads_for(wanted);
	sigfillset(&all);
	if (wanted > 1 && pthread_sigmask(SIG_SETMASK, &all, &before) == 0) {
		while (started + 1 < wanted &&
		       pthread_create(&threads[started], NULL, run, arg) == 0)
			started++;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	run(arg);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}
