/* What a snapshot is requested to contain. */
#ifndef RUNTIMES_COMMON_REQUEST_H
#define RUNTIMES_COMMON_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* What the collector fills in addition to target, runtimes and threads. */
enum want {
	WANT_TASKS = 1 << 0,   /* every task of every runtime with its future tree */
	WANT_STACKS = 1 << 1,  /* native frames of every thread */
	WANT_LAYOUT = 1 << 2,  /* the resolved bindings */
	WANT_RUNNING = 1 << 3, /* at least the tasks that threads are running, in full */
	WANT_LOCALS = 1 << 4,  /* the variables of every frame of a future tree */
	WANT_HOLDINGS =
		1 << 5, /* guards, permits and channel ends that are reachable from every tree */
	WANT_SOCKETS = 1 << 6,    /* the open sockets of a live process */
	WANT_JOB_STACKS = 1 << 7, /* native frames of the threads that run jobs of blocking pools;
	                             WANT_STACKS includes them */
};

/* A command's query about one place, in addition to its wants. */
struct question {
	const char *task;  /* id of the task in focus; NULL: the future that the thread runs or
	                      blocks on */
	unsigned thread;   /* number of the thread in focus */
	unsigned frame;    /* future.number in that tree */
	const char *print; /* a path from the frame's variables: "req.uri"; NULL: none */
	bool names; /* complete names: print the names that can follow print, separated by blanks;
	               print "": the names of the variables */
	uint64_t whatis; /* an address, if has_whatis */
	bool has_whatis;
};

#endif
