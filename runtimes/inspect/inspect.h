/*
 * The entry to this layer: opens the debug info of a target once and takes snapshots of it.
 */
#ifndef RUNTIMES_INSPECT_INSPECT_H
#define RUNTIMES_INSPECT_INSPECT_H

#include "debugger/base/error.h"
#include "debugger/target/target.h"
#include "runtimes/model/model.h"

struct inspector;

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

struct secrets;

struct inspector_options {
	bool cache; /* read and write what earlier runs learnt of the program's files: cache.h */
	const char *layout; /* layout file of the executable, NULL: use its debug info */
	bool force;         /* accept one of another build */
	/* Names of variables whose values are not shown, but by question.print; NULL: all are. It
	   must outlive the inspector. */
	const struct secrets *secrets;
};

/*
 * Borrows t, which must outlive the inspector. Reads debug info, never stops the target. options
 * may be NULL.
 */
struct error *inspector_open(struct target *t, const struct inspector_options *options,
                             struct inspector **ret) MUST_CHECK;
void inspector_close(struct inspector *in);

/*
 * Takes a snapshot: rehearses on the running target so that all debug info is at hand, stops
 * it, reads, lets it run, and finishes from what was read. A program without a runtime is
 * not an error: *ret then has threads, no runtimes, and a note that says so. question may be
 * NULL; its answers are snapshot.printed and snapshot.places.
 * The caller frees *ret with snapshot_free(), before inspector_close(): it borrows names from in.
 */
struct error *inspect(struct inspector *in, unsigned want, const struct question *question,
                      struct snapshot **ret) MUST_CHECK;

#endif
