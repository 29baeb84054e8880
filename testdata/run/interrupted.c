/*
 * Threads of no runtime that sit in system calls which fail with EINTR once a debugger has stopped
 * them, to be preloaded into a program: cc -shared -fPIC -o interrupted.so interrupted.c -pthread
 *
 * The file that $INTERRUPTED names has a number for each call: how often it was interrupted, or -1
 * until the thread is about to make it. Each call is made again at once, as programs should.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EPOLL, RECV, SEMOP, SIGTIMEDWAIT, CALLS };

static volatile int64_t *counts;
static int queue, sockets[2], semaphore;

static long call(intptr_t which)
{
	const struct timespec hour = { .tv_sec = 3600 };
	struct sembuf down = { .sem_op = -1 };
	struct epoll_event event;
	sigset_t set;
	char byte;

	switch (which) {
	case EPOLL:
		return epoll_wait(queue, &event, 1, -1);
	case RECV:
		return recv(sockets[0], &byte, 1, 0);
	case SEMOP:
		return semop(semaphore, &down, 1);
	default:
		sigemptyset(&set);
		sigaddset(&set, SIGUSR2);
		return sigtimedwait(&set, NULL, &hour);
	}
}

static void *wait_for_ever(void *arg)
{
	intptr_t which = (intptr_t)arg;

	counts[which] = 0;
	while (call(which) < 0 && errno == EINTR)
		counts[which]++;
	counts[which] = INT64_MIN; /* it failed otherwise */
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("INTERRUPTED");
	struct timeval hour = { .tv_sec = 3600 };
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	pthread_t thread;
	sigset_t set;

	if (fd < 0 || ftruncate(fd, CALLS * sizeof(*counts)) != 0)
		return;
	counts = mmap(NULL, CALLS * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	queue = epoll_create1(0);
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	if (counts == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
		abort();
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &hour, sizeof(hour));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (intptr_t i = 0; i < CALLS; i++)
		counts[i] = -1;
	for (intptr_t i = 0; i < CALLS; i++)
		pthread_create(&thread, NULL, wait_for_ever, (void *)i);
}

__attribute__((destructor)) static void end(void)
{
	semctl(semaphore, 0, IPC_RMID);
}
