/* A program to debug, for tracer_test.c: "events WHAT" causes the events that a tracer reports. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *arg)
{
	return arg;
}

static int threads(void)
{
	for (int i = 0; i < 100; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, nothing, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}

static void *thread_of_threads(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)threads();
}

/*
 * Each new thread preempts a tracer of the policy SCHED_IDLE on its CPU. The main thread starts
 * none of them: wait() reports a child of the caller before the threads that it only traces.
 */
static int urgent_threads(void)
{
	const struct sched_param none = { 0 };
	pthread_t thread;
	void *status;

	if (sched_setscheduler(0, SCHED_OTHER, &none) != 0 ||
	    pthread_create(&thread, NULL, thread_of_threads, NULL) != 0)
		return 1;
	pthread_join(thread, &status);
	return (int)(intptr_t)status;
}

static void *exec_self(void *path)
{
	execl(path, path, "end", (char *)NULL);
	return NULL;
}

static int status_of(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, __WALL);
	return WEXITSTATUS(status);
}

static int child_of_clone(void *arg)
{
	(void)arg;
	_exit(3);
}

static int children(void)
{
	static char stack[65536] __attribute__((aligned(64)));
	pid_t pid = fork();

	if (pid == 0)
		_exit(1);
	int sum = status_of(pid);
	pid = vfork();
	if (pid == 0)
		_exit(2);
	sum += status_of(pid);
	/* The child of this clone() sends no signal at exit. */
	return sum + status_of(clone(child_of_clone, stack + sizeof(stack), 0, NULL));
}

static void on_signal(int signal)
{
	(void)signal;
	raise(SIGUSR2);
}

static int signals(void)
{
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, SIG_IGN);
	raise(SIGUSR1);
	abort();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (strcmp(what, "threads") == 0)
		return threads();
	if (strcmp(what, "urgent threads") == 0)
		return urgent_threads();
	if (strcmp(what, "children") == 0)
		return children();
	if (strcmp(what, "signals") == 0)
		return signals();
	if (strcmp(what, "end") == 0)
		return 7;
	if (strcmp(what, "exec") == 0)
		pthread_create(&thread, NULL, exec_self, argv[0]);
	for (;;)
		pause();
}
