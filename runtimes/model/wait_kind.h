/*
 * The kinds of waits: one row for each value of `wait.kind`. The graph, the checks, the text output
 * and the reader of saved snapshots use the row and compare no strings.
 *
 * To add a leaf: add a row here, and a decode function with a row in the table of its crate
 * (runtimes/future/leaf.h). wait_kind_test.c and testdata/check/check_details.sh report what a row
 * lacks.
 */
#ifndef RUNTIMES_MODEL_WAIT_KIND_H
#define RUNTIMES_MODEL_WAIT_KIND_H

#include "runtimes/model/model.h"

/* Cause that ends the wait. It decides where the wait's edges in the wait-for graph lead. */
enum wait_target {
	WAIT_OUTSIDE,  /* a timer, the kernel, a pool, or something unknown */
	WAIT_LOCK,     /* the holders of a lock or of permits, and the waiters ahead in its queue */
	WAIT_CHANNEL,  /* the owners of the other ends of a channel */
	WAIT_TASK,     /* one task, or the thread that runs a blocking job */
	WAIT_TASK_SET, /* any task of a JoinSet */
	WAIT_LOCAL_SET, /* all tasks of a LocalSet */
	WAIT_WAKERS, /* any owner of a reference to the object; whether it will wake is unknown */
	WAIT_NATIVE_LOCK, /* of a thread: the holder of a lock that is not async */
	WAIT_THREAD,      /* of a thread: another thread */
	WAIT_SYSCALL,     /* of a thread: the kernel, in a system call that may be short */
	WAIT_RUNNING,     /* of a thread: nothing; it executes its own code or was killed there */
	WAIT_NOBODY,      /* nothing reachable wakes it */
	WAIT_FOREVER,     /* nothing, on purpose: pending() */
};

/* Part of a lock that the wait needs. */
enum wait_access {
	WAIT_UNKNOWN_ACCESS,
	WAIT_WHOLE,   /* all of it */
	WAIT_READ,    /* a share: other readers do not block it */
	WAIT_WRITE,   /* all of it, which several readers may hold together */
	WAIT_PERMITS, /* some permits; others may add permits */
	WAIT_SLOTS,   /* one of a pool's connections, whose number is known */
	WAIT_ROOM,    /* permits of a channel; its receiver gives them back */
};

struct wait_kind {
	const char *name; /* JSON "kind" */
	enum wait_target target;
	enum wait_access access;
	const char *noun;   /* the object's name in the graph: "Mutex"; NULL: it has no node */
	const char *object; /* the word that `whatis` prints for it: "lock"; NULL: "object" */
	unsigned roles;     /* roles of the holdings that can end it: bits by enum holding_role */
	bool has_holder;    /* print a message where no such holding is found */
	/*
	 * WAIT_CHANNEL only; both are keys of details. ends: the number of other ends, or whether
	 * there is one; NULL: there always is one. queue: the number of messages that can be
	 * received; NULL: unknown.
	 */
	const char *ends, *queue;
	bool one_waiter;     /* one future alone waits so for an object; it has no clones */
	bool ends_may_lack;  /* the detail `ends` may be missing: then there is another end */
	bool has_versions;   /* the wait is over when `version` differs from `version_seen` */
	bool tells_closed;   /* the detail `closed` tells whether the other end is gone; otherwise
	                        `ends` does */
	const char *details; /* all keys of details that the wait may have, separated by blanks */
};

/* All rows, for the test; the last row has no name. */
extern const struct wait_kind wait_kinds[];

/*
 * The row of a kind. For an unknown kind, or NULL, the last row, which has no name; only a lock
 * holding can end such a wait.
 */
const struct wait_kind *wait_kind(const char *name);
/* wait_kind() of a wait, which may be NULL. */
const struct wait_kind *wait_kind_of(const struct wait *w);
/* Can a holding of that role end the wait? */
bool wait_kind_ended_by(const struct wait_kind *k, enum holding_role role);
/*
 * Is the other end of the channel gone, so that the wait would end at the next poll? False where
 * this is unknown.
 */
bool wait_is_closed(const struct wait *w);

/* Does this or an earlier asyncdbg use that key for a detail of a wait of that kind? */
bool wait_detail_is_known(const struct wait_kind *k, const char *key);
/* The value of a wait's detail by its key; false, or NULL, when no detail has that key and type. */
bool wait_number(const struct wait *w, const char *key, int64_t *ret);
bool wait_yes(const struct wait *w, const char *key);
const char *wait_text(const struct wait *w, const char *key);
const struct wait_detail *wait_texts(const struct wait *w, const char *key);

#endif
