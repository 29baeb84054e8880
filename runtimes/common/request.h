/* Contents that are requested of a snapshot. */
#ifndef RUNTIMES_COMMON_REQUEST_H
#define RUNTIMES_COMMON_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "runtimes/model/model.h"

struct type;

/* Parts of a snapshot that the collector fills in addition to target, runtimes and threads. */
enum want {
	WANT_TASKS = 1 << 0,   /* every task of every runtime with its future tree */
	WANT_STACKS = 1 << 1,  /* native frames of every thread */
	WANT_LAYOUT = 1 << 2,  /* the resolved bindings */
	WANT_RUNNING = 1 << 3, /* at least the tasks that threads are running, in full */
	WANT_LOCALS = 1 << 4,  /* the variables of every frame of a future tree */
	WANT_HOLDINGS =
		1 << 5, /* guards, permits and channel ends that are reachable from every tree */
	WANT_SOCKETS = 1 << 6,     /* the open sockets of a live process */
	WANT_JOB_STACKS = 1 << 7,  /* native frames of the threads that run jobs of blocking pools;
	                              WANT_STACKS includes them */
	WANT_LOCAL_NAMES = 1 << 8, /* the same variables as with WANT_LOCALS, which includes them,
	                              but without values, whose texts take longer than all else */
	WANT_DESCRIPTORS = 1 << 9, /* the owners of file descriptors, which are found as holdings
	                              are */
	WANT_OWNERS = WANT_HOLDINGS | WANT_DESCRIPTORS,
};

/* A value with its type, for a caller that looks into it: dwarf/values/parts.h. */
struct typed_local {
	struct local shown;
	const struct type *type; /* NULL: unknown, or it has no value */
	bool in_memory;          /* at shown.addr; else it has no parts that can be read */
	/* Variables only: where the source declares it, and its unit's directory; NULL: unknown. */
	const char *file, *comp_dir;
	unsigned line;
};

/* Variables with their types, in the arena of the snapshot that answers. */
struct typed_locals {
	struct typed_local *data;
	size_t n;
};

/* A command's query about one place, in addition to its wants. */
struct question {
	const char *task;  /* id of the task in focus; NULL: the future that the thread runs or
	                      blocks on */
	bool native;       /* frame is that of a native frame of thread, as in thread_info.frames */
	unsigned thread;   /* number of the thread in focus */
	unsigned frame;    /* future.number in that tree */
	const char *print; /* a path from the frame's variables: "req.uri"; NULL: none */
	bool names; /* complete names: print the names that can follow print, separated by blanks;
	               print "": the names of the variables */
	/*
	 * NULL, or filled with the variables of the frame; with print, and not names, with what
	 * that is, if it has a value. A snapshot that was taken before is not reused.
	 */
	struct typed_locals *typed;
	uint64_t whatis; /* an address, if has_whatis */
	bool has_whatis;
};

#endif
