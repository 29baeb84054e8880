#include "debugger/elf/libdw_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int libdw_lock(void)
{
	pthread_mutex_lock(&lock);
	return 0;
}

void libdw_unlock(const int *taken)
{
	(void)taken;
	pthread_mutex_unlock(&lock);
}
