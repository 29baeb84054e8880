/* What a snapshot shall have in it. */
#ifndef RUNTIMES_COMMON_REQUEST_H
#define RUNTIMES_COMMON_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* What collect shall fill beyond target, runtimes and threads. */
enum want {
	WANT_TASKS = 1 << 0,    /* every task of every runtime with its future tree */
	WANT_STACKS = 1 << 1,   /* native frames of every thread */
	WANT_LAYOUT = 1 << 2,   /* the layout contract */
	WANT_RUNNING = 1 << 3,  /* at least the tasks that threads are running, in full */
	WANT_LOCALS = 1 << 4,   /* the variables of every frame of a tree */
	WANT_HOLDINGS = 1 << 5, /* guards, permits and ends of channels in reach of every tree */
	WANT_SOCKETS = 1 << 6,  /* the sockets that a live process has open */
};

/* What a command asks about one place, beyond its wants. */
struct question {
	const char *task;  /* id of the task in focus; NULL: what the thread runs or blocks on */
	unsigned thread;   /* number of the thread in focus */
	unsigned frame;    /* future.number in that tree */
	const char *print; /* a path from the frame's variables: "req.uri"; NULL none */
	bool names;        /* not its value, but the names that can follow it, with blanks between;
	                      print "": those of the variables */
	uint64_t whatis;   /* an address, when has_whatis */
	bool has_whatis;
};

#endif
