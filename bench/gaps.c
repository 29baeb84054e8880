/*
 * Threads that compute, and see by their own clock how long they were kept from it: for gaps.py.
 *
 *     gaps THREADS
 *
 * For each line of standard input it prints two numbers of nanoseconds, and begins anew: the
 * longest time in which no thread ran, and the longest in which one of them did not.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static _Atomic uint64_t last, longest, longest_of_one;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void raise_to(_Atomic uint64_t *max, uint64_t value)
{
	uint64_t old = *max;

	while (value > old && !atomic_compare_exchange_weak(max, &old, value))
		;
}

static void *compute(void *arg)
{
	uint64_t own = now_ns();

	(void)arg;
	for (;;) {
		uint64_t now = now_ns(), before = atomic_exchange(&last, now);

		/* Another thread may have read its clock later and stored it earlier. */
		if (now > before && before)
			raise_to(&longest, now - before);
		raise_to(&longest_of_one, now - own);
		own = now;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 24;
	char line[64];

	for (int i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, compute, NULL) != 0)
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%" PRIu64 " %" PRIu64 "\n", atomic_exchange(&longest, 0),
		       atomic_exchange(&longest_of_one, 0));
		fflush(stdout);
	}
	return 0;
}
