#include "debugger/base/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

uint64_t clock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t clock_between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

uint64_t moment_between(struct moment from, struct moment to)
{
	return clock_between(from.ns, to.ns);
}

uint64_t clock_since(uint64_t time)
{
	return clock_between(time, clock_now_ns());
}

/* schedstat: ns on CPUs, ns that it could run and had none, number of times (proc(5)). */
uint64_t clock_waited_ns(void)
{
	char text[128];
	uint64_t ran, waited;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	return sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2 ? waited : 0;
}
