/*
 * The wait-for graph of a snapshot. The participants are tasks, futures that threads block on,
 * threads that sit in native locks, and jobs that are queued for a blocking pool. Other nodes stand
 * between them: the holders of a lock, the owners of a channel's other ends, places in a queue,
 * forks of a future that polls several. An edge leads from the waiting node to the node that it
 * waits for.
 *
 * Missing knowledge never makes a node wait. Where a holder is unknown, or where something outside
 * the graph may happen (a timer, I/O, a running thread), an edge leads to the node GRAPH_OUTSIDE,
 * which can always go on.
 */
#ifndef RUNTIMES_GRAPH_GRAPH_H
#define RUNTIMES_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/model/model.h"

enum graph_node_kind {
	GRAPH_OUTSIDE, /* node 0: goes on by itself, or is unknown */
	GRAPH_TASK,
	GRAPH_ROOT,    /* the future that a thread blocks on, or its job polls */
	GRAPH_THREAD,  /* a thread's own code */
	GRAPH_RUNTIME, /* workers of a runtime that all sit in native locks */
	GRAPH_LOCK,    /* the holders of a lock or of permits */
	GRAPH_CHANNEL, /* the owners of a channel's other ends */
	GRAPH_QUEUE,   /* all that goes before one waiter in a lock's queue */
	GRAPH_FORK,    /* several things that one future waits for at the same time */
	GRAPH_ARM,     /* one future of a join */
	GRAPH_OWNER,   /* holdings in a join arm: dropped when the arm completes */
	GRAPH_SET,     /* the tasks of a JoinSet or a LocalSet */
	GRAPH_JOB,     /* a job in the queue of a blocking pool */
	GRAPH_POOL,    /* the threads of a blocking pool: any of them may take a queued job */
	GRAPH_WAKERS,  /* the holders of references to a Notify or the like: all edges are weak */
};

enum graph_rule {
	GRAPH_ALL, /* when all that it waits for can: .await, join! */
	GRAPH_ANY, /* when any can: select!, sets, several senders */
};

struct graph_node {
	enum graph_node_kind kind;
	enum graph_rule rule;
	bool maybe_any;          /* rule is ALL, but may be ANY: a join that may be a try_join */
	const struct task *task; /* of GRAPH_TASK, and GRAPH_OWNER */
	const struct thread_info *thread; /* of GRAPH_ROOT, GRAPH_THREAD, and GRAPH_OWNER */
	const struct job *job;            /* of GRAPH_JOB */
	const struct future *future;      /* the root of a tree; of a fork, the future that forks */
	const char *what; /* of nodes that are no participants: "Mutex", "mpsc channel", "select",
	                     "join set" */
	const char *name; /* of a lock or channel: what the program calls it, NULL unknown */
	uint64_t object;  /* of a lock, channel or set: its address; 0 unknown */
	unsigned runtime; /* of GRAPH_RUNTIME and GRAPH_POOL */
	size_t lock;      /* of GRAPH_QUEUE: the node of the lock's holders */
	size_t first, nedges; /* its edges: graph.edges[first..first + nedges) */
};

/* A candidate for the place in which a participant holds the object of a wait. */
struct graph_candidate {
	const struct holding *holding;
	struct graph_candidate *next;
};

struct graph_edge {
	size_t from, to; /* nodes */
	/*
	 * Kind of the wait, for an edge that leaves a waiting node: "mutex", "join", "mpsc_recv";
	 * "blocking_pool" of a queued job, "poll" to a fork. For an edge to the node that is waited
	 * for: "holds", "sends", "receives", "queued", "member", "runs", "busy", "refers",
	 * "unknown".
	 */
	const char *kind;
	bool weak;   /* it is unknown whether `to` will end the wait: never part of a deadlock */
	bool queued; /* only because of the order in the lock's queue */
	const struct future *future;   /* the leaf that waits; NULL: the edge is not of a leaf */
	const struct wait *wait;       /* of that leaf or of the thread */
	const struct holding *holding; /* the holding of `to`; NULL: see future and unpolled */
	/*
	 * All holdings of the same participant that may be the real one, `holding` included; NULL:
	 * there is no other.
	 */
	const struct graph_candidate *candidates;
	/*
	 * The future that the lock was granted to, or that stands in its queue, when its task owns
	 * that future but does not poll it; NULL: no such.
	 */
	const struct future *unpolled;
	bool granted; /* the lock was granted to a future (that of holding, unpolled or waiter)
	                 which has not run since */
	const struct future *frame;  /* the future that has unpolled in a variable; NULL: unknown */
	const struct future *waiter; /* of "queued" and of granted edges: the future in the queue */
	/*
	 * Place in the queue of the future that is not polled, from 1 (0: the lock was granted to
	 * it, or unknown), and the nodes of those behind it in the queue.
	 */
	uint64_t place;
	const size_t *behind;
	size_t nbehind;
	const char *doubt; /* why the edge is uncertain; NULL: it is certain */
};

/*
 * An AbortHandle, by which its holder can end a task. It adds no edge to what the task waits for.
 */
struct graph_abort {
	size_t by;   /* node of the handle's holder */
	size_t task; /* node, also of what a block_on polls */
	const struct holding *holding;
	bool inside; /* it ends a future that the task polls, and not the task */
};

/* The doubt of a holding that was found in one place only. Texts of other doubts are elsewhere. */
extern const char graph_sole_doubt[];

struct graph {
	struct arena arena; /* owns the names that the snapshot does not own */
	const struct snapshot *snapshot;
	struct graph_node *nodes;
	size_t nnodes;
	struct graph_edge *edges; /* by from */
	size_t nedges;
	size_t first_root, first_thread; /* nodes: see graph_of_...() */
	size_t *roots;              /* by thread index: the node of the thread's root, 0 none */
	size_t *jobs;               /* by job index: the node of a queued job, 0: it runs */
	struct graph_abort *aborts; /* by task */
	size_t naborts;
	const char **notes; /* why the graph is incomplete */
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
/* The node of the snapshot's nth job, 0: it runs. */
size_t graph_of_job(const struct graph *g, size_t nth);

/*
 * Sets shown[node] for each node that can be reached from `node` and for each that waits for it, by
 * weak edges too. Leaves other entries unchanged.
 */
void graph_reach(const struct graph *g, size_t node, bool *shown);
/* Does a participant wait for something that is not outside the graph? */
bool graph_waits(const struct graph *g, size_t node);

/* The node kind's name in docs/json.md. */
const char *graph_node_kind_name(enum graph_node_kind kind);
/* A task, the future or code of a thread, or a queued job. Verdicts name participants only. */
bool graph_is_participant(const struct graph_node *n);

#endif
