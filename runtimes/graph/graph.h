/*
 * Who waits for whom, as far as a snapshot tells. Nodes are tasks, futures that threads block on,
 * threads that sit in native locks, and what lies between: the holders of a lock, the owners of a
 * channel's other ends, places in a queue, forks of a future that polls several. An edge leads
 * from who waits to what it waits for.
 *
 * Missing knowledge never makes anybody wait: where a holder is unknown, where something outside
 * may happen (a timer, I/O, a running thread), an edge leads to the node GRAPH_OUTSIDE, which can
 * always go on.
 */
#ifndef RUNTIMES_GRAPH_GRAPH_H
#define RUNTIMES_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/model/model.h"

enum graph_node_kind {
	GRAPH_OUTSIDE, /* node 0: goes on by itself, or nothing is known of it */
	GRAPH_TASK,
	GRAPH_ROOT,    /* the future that a thread blocks on, or its job polls */
	GRAPH_THREAD,  /* a thread's own code */
	GRAPH_RUNTIME, /* workers of a runtime that all sit in native locks */
	GRAPH_LOCK,    /* who has a lock or permits */
	GRAPH_CHANNEL, /* who owns the other ends of a channel */
	GRAPH_QUEUE,  /* all that must be over before it is the turn of one waiter in a lock's queue
	               */
	GRAPH_FORK,   /* several things that one future waits for at the same time */
	GRAPH_ARM,    /* one future of a join */
	GRAPH_OWNER,  /* what a party has in an arm of a join: dropped when the arm goes on */
	GRAPH_SET,    /* the tasks of a JoinSet or a LocalSet */
	GRAPH_WAKERS, /* who refers to a Notify or its like: all edges are weak */
};

/* When can a node go on? */
enum graph_rule {
	GRAPH_ALL, /* when all that it waits for can: .await, join! */
	GRAPH_ANY, /* when any can: select!, sets, several senders */
};

struct graph_node {
	enum graph_node_kind kind;
	enum graph_rule rule;
	bool maybe_any; /* GRAPH_ALL, but it may be ANY: of a join that may be a try_join */
	const struct task *task;          /* of GRAPH_TASK, and GRAPH_OWNER */
	const struct thread_info *thread; /* of GRAPH_ROOT, GRAPH_THREAD, and GRAPH_OWNER */
	const struct future *future;      /* the root of a tree; of a fork, the future that forks */
	const char *what; /* of what lies between: "Mutex", "mpsc channel", "select", "join set" */
	const char *name; /* of a lock or channel: what the program calls it, NULL unknown */
	uint64_t object;  /* of a lock, channel or set: its address; 0 unknown */
	unsigned runtime; /* of GRAPH_RUNTIME */
	size_t lock;      /* of GRAPH_QUEUE: the node of who has the lock */
	size_t first, nedges; /* its edges: graph.edges[first..first + nedges) */
};

/* One of several places in which a party may have what it is waited for. */
struct graph_candidate {
	const struct holding *holding;
	struct graph_candidate *next;
};

struct graph_edge {
	size_t from, to; /* nodes */
	/*
	 * Who waits: the kind of its wait ("mutex", "join", "mpsc_recv"), or "poll" to a fork. Who
	 * is waited for: "holds", "sends", "receives", "queued", "member", "runs", "refers",
	 * "unknown".
	 */
	const char *kind;
	bool weak;   /* may end the wait, but that is not known: never part of a deadlock */
	bool queued; /* only because of the order in the lock's queue */
	const struct future *future;   /* who waits: the leaf; NULL: the edge is not of a leaf */
	const struct wait *wait;       /* of that leaf or of the thread */
	const struct holding *holding; /* by what it is waited for; NULL: see future and unpolled */
	/* Of holding: all that it may be instead, itself too, of the same party; NULL: no other. */
	const struct graph_candidate *candidates;
	/*
	 * The lock was given to, or is queued for by, a future that its task has but does not poll:
	 * this one. NULL: no such.
	 */
	const struct future *unpolled;
	bool granted; /* to a future, that of holding, unpolled or waiter, which has not run since
	               */
	const struct future
		*waiter;   /* of "queued" and of what is granted: the future that queues */
	const char *doubt; /* why it may not be so; NULL: it is so */
};

/* Who can end a task from outside, by an AbortHandle: no part of what the task waits for. */
struct graph_abort {
	size_t by;   /* node of who has the handle */
	size_t task; /* node */
	const struct holding *holding;
};

/* The doubt of what was found nowhere else; of others. */
extern const char graph_sole_doubt[];

struct graph {
	struct arena arena; /* of the names that are its own */
	const struct snapshot *snapshot;
	struct graph_node *nodes;
	size_t nnodes;
	struct graph_edge *edges; /* by from */
	size_t nedges;
	size_t first_root, first_thread; /* nodes: see graph_of_...() */
	size_t *roots;                   /* by index of a thread: its node, 0 none */
	struct graph_abort *aborts;      /* by task */
	size_t naborts;
	const char **notes; /* what makes it incomplete */
	size_t nnotes;
};

/*
 * The graph of a snapshot that was taken with WANT_TASKS, WANT_RUNNING and WANT_HOLDINGS. It
 * borrows from the snapshot. Time and memory are linear in futures and holdings.
 */
struct graph *graph_build(const struct snapshot *s);
void graph_free(struct graph *g);
void graph_freep(struct graph **g);

/* Nodes of the snapshot's nth task; of the future that its nth thread blocks on (0 none), and of
 * that thread. */
size_t graph_of_task(const struct graph *g, size_t nth);
size_t graph_of_root(const struct graph *g, size_t nth);
size_t graph_of_thread(const struct graph *g, size_t nth);

/*
 * Sets shown (by node) for what can be reached from a node, and for all that wait for it; weak
 * edges too. Others stay as they are.
 */
void graph_reach(const struct graph *g, size_t node, bool *shown);
/* Does a party wait for anything that another one has? */
bool graph_waits(const struct graph *g, size_t node);

/* The word of docs/json.md. */
const char *graph_node_kind_name(enum graph_node_kind kind);
/* A task, or the future or code of a thread: what a verdict can be about. */
bool graph_is_participant(const struct graph_node *n);

#endif
