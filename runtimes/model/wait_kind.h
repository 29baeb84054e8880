/*
 * The kinds of waits: one row for each word that `wait.kind` may be. The graph, the checks, the
 * text and the reader of saved snapshots ask the row and compare no words.
 *
 * To add a leaf: a row here, and a decode function with a row in the table of its crate
 * (runtimes/future/leaf.h). wait_kind_test.c and testdata/check/check_details.sh say what a row
 * lacks.
 */
#ifndef RUNTIMES_MODEL_WAIT_KIND_H
#define RUNTIMES_MODEL_WAIT_KIND_H

#include "runtimes/model/model.h"

/* What ends the wait: where its edges in the graph lead. */
enum wait_target {
	WAIT_OUTSIDE,     /* a timer, the kernel, a pool, or what nothing is known of */
	WAIT_LOCK,        /* who has a lock or permits, and who is before it in the queue */
	WAIT_CHANNEL,     /* the owners of the other ends of a channel */
	WAIT_TASK,        /* one task, or the thread that runs a blocking job */
	WAIT_TASK_SET,    /* any task of a JoinSet */
	WAIT_LOCAL_SET,   /* all tasks of a LocalSet */
	WAIT_WAKERS,      /* whoever refers to the object; that it will is not known */
	WAIT_NATIVE_LOCK, /* of a thread: who has a lock that is not async */
	WAIT_THREAD,      /* of a thread: another one */
	WAIT_SYSCALL,     /* of a thread: the kernel, in a call that may be short */
	WAIT_RUNNING,     /* of a thread: nothing, it executes its own code or was killed at it */
	WAIT_NOBODY,      /* nothing that could be reached wakes it */
};

/* Which part of a lock it waits for. */
enum wait_access {
	WAIT_UNKNOWN_ACCESS,
	WAIT_WHOLE,   /* all of it */
	WAIT_READ,    /* a share: who else reads is not in the way */
	WAIT_WRITE,   /* all of it, which readers may share */
	WAIT_PERMITS, /* some permits, which others may add */
	WAIT_ROOM,    /* permits of a channel, which its receiver gives back */
};

struct wait_kind {
	const char *name; /* JSON "kind" */
	enum wait_target target;
	enum wait_access access;
	const char *noun;   /* what the graph calls the object: "Mutex"; NULL: it has no node */
	const char *object; /* the word of `whatis` for it: "lock"; NULL: "object" */
	unsigned roles;     /* of holdings that can end it: bits by enum holding_role */
	bool has_holder;    /* where no such holding is found, it is worth saying */
	/*
	 * Of WAIT_CHANNEL. These are keys of details. ends: how many other ends there are, or
	 * whether there is one; NULL: there is one. queue: what waits to be received; NULL:
	 * unknown.
	 */
	const char *ends, *queue;
	bool ends_may_lack;  /* without that detail there is one */
	bool has_versions;   /* it is over when `version` is not `version_seen` */
	bool tells_closed;   /* the other end is gone when `closed` says so, else by `ends` */
	const char *details; /* all keys of details that it may have, divided by blanks */
};

/* For the test: all rows; the last one has no name. */
extern const struct wait_kind wait_kinds[];

/* The row of a kind; one without a name for what is none, which waits for a lock at most. */
const struct wait_kind *wait_kind(const char *name);
/* wait_kind() of a wait, which may be NULL. */
const struct wait_kind *wait_kind_of(const struct wait *w);
/* Can a holding of that role end it? */
bool wait_kind_ended_by(const struct wait_kind *k, enum holding_role role);
/*
 * Is its other end gone, so that it was over long ago had its task been polled? false where that is
 * not known.
 */
bool wait_is_closed(const struct wait *w);

/* Is it a key that asyncdbg, this one or an earlier one, gives a detail of a wait of that kind? */
bool wait_detail_is_known(const struct wait_kind *k, const char *key);
/* The details of a wait by their keys; false, or NULL, when it has none of that key and type. */
bool wait_number(const struct wait *w, const char *key, int64_t *ret);
bool wait_yes(const struct wait *w, const char *key);
const char *wait_text(const struct wait *w, const char *key);
const struct wait_detail *wait_texts(const struct wait *w, const char *key);

#endif
