/* Within graph*.c: a graph while it is built. */
#ifndef RUNTIMES_GRAPH_GRAPH_PRIVATE_H
#define RUNTIMES_GRAPH_GRAPH_PRIVATE_H

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/graph/graph.h"
#include "runtimes/model/wait_kind.h"

/* A future that has a place in the queue of a lock, or was given it. */
struct queued {
	uint64_t primitive;
	uint64_t place;                /* from 1; 0: granted; UINT64_MAX: unknown */
	size_t edge;                   /* index of the edge by which it waits */
	size_t from;                   /* the node that waits; 0: nobody polls the future */
	size_t party;                  /* whose future it is */
	size_t arm;                    /* the arm of a join that it is in, 0 none */
	const struct future *future;   /* with its wait */
	const struct future *unpolled; /* the future that is not polled, which this is or is in */
	const char *doubt;
	bool seen_twice; /* in two places, none of which polls it */
};

/* An arm of a join. */
struct arm {
	size_t node, party;
	size_t around;     /* the arm that it is in itself, 0 none */
	size_t owner;      /* node of what is held in it, 0: nobody has asked yet */
	struct arm *inner; /* the last one in it and in no other of them, NULL none */
	struct arm *next;  /* the one before it beside it */
};

/* A channel whose owners are still to be added. */
struct open_channel {
	size_t node;
	const struct wait_kind *kind;
	uint64_t object;
	int64_t wanted; /* how many ends it has of the kind that can end the wait */
};

struct builder {
	struct graph *g;
	const struct snapshot *s;
	VEC(struct graph_node) nodes;
	VEC(struct graph_edge) edges;
	VEC(struct queued) queue;
	VEC(struct open_channel) open;
	struct map outer_arms; /* party -> the last arm that is in none, NULL none */
	struct map users;      /* party, or arm -> the node of who can use its ends */
	struct map threads;    /* number -> 1 + index of the thread */
	struct map tasks;      /* header's address -> 1 + index of the task */
	struct map unpolled;   /* a future that is not polled -> the outermost such around it */
	struct map channels;   /* address ^ role -> its node */
	struct map sets;       /* address of a LocalSet -> its node */
	struct map wakers;     /* address -> its node */
	const struct holding **by_primitive, **by_object; /* all holdings, sorted */
	size_t *by_local_set;                             /* tasks of LocalSets, sorted */
	size_t nlocal;
	size_t party;      /* whose tree is walked */
	size_t arm;        /* in which arm of a join, 0 none */
	struct map arms;   /* node of an arm -> struct arm */
	struct map arm_of; /* a future -> node of the innermost arm that it is in */
	bool quiet; /* nothing runs that could have what was not found, all trees were searched */
};

size_t graph_add_node(struct builder *b, struct graph_node node);
/* The edge; valid until the next one is added. */
struct graph_edge *graph_add_edge(struct builder *b, size_t from, size_t to, const char *kind);

/* The node of what a holding lies in; GRAPH_OUTSIDE when that is unknown. */
size_t graph_participant_of(const struct builder *b, const struct holding *h);
/*
 * The node of what a party has in an arm of a join, 0 for none: it is dropped when that arm goes
 * on, as when the party does.
 */
size_t graph_owner_node(struct builder *b, size_t arm, size_t party);
/*
 * The same of the end of a channel, which arms below the frame that has it may use without owning
 * it.
 */
size_t graph_user_node(struct builder *b, size_t arm, size_t party);
/* The holdings of that primitive or object: the first, and how many. */
const struct holding **graph_holdings_of_primitive(const struct builder *b, uint64_t primitive,
                                                   size_t *n);
const struct holding **graph_holdings_of_object(const struct builder *b, uint64_t object,
                                                size_t *n);
/*
 * Is it held there? It may have been dropped or moved; but the lock is taken, or the channel counts
 * it, and it is found nowhere else. complete: of a channel, all are found that it counts.
 */
enum trust { TRUST_CERTAIN, TRUST_SOLE, TRUST_NONE };
enum trust graph_holding_trust(const struct builder *b, const struct holding *h, bool complete);
/* Why it may not be held; NULL for what is certain. */
const char *graph_trust_doubt(enum trust trust);
/* The edge to the party of a holding; doubt: why it is none, NULL unknown of. */
void graph_add_holder(struct builder *b, size_t from, const struct holding *h, const char *kind,
                      const char *doubt);

/* The node that the drop, or the use, of a holding depends on. */
size_t graph_holder_node(struct builder *b, const struct holding *h);
/* Fills aborts of the graph; when all trees were walked. */
void graph_find_aborts(struct builder *b);

/* What one party has of the candidates, none of which is certain. */
struct candidate_group {
	struct graph_candidate *first, **end;
	size_t to; /* the last edge to them, 0 none */
};

/* All holdings that may be what somebody waits for; by_participant is to be freed. */
struct candidates {
	size_t all, sure;          /* how many, how many are certain */
	struct map by_participant; /* 1 + party -> struct candidate_group */
	bool instead; /* there are more of them than are wanted, of parties that have them */
};
void graph_candidate_add(struct builder *b, struct candidates *c, const struct holding *h);
/*
 * Have they all that there is? So many are wanted, and each party that may have any can have one at
 * least: what was moved from one variable to another of a task is still that task's.
 */
bool graph_candidates_known(struct candidates *c, size_t wanted);
/* As graph_add_holder(); an edge to a party that has one of several tells of all of them. */
void graph_candidate_edge(struct builder *b, const struct candidates *c, size_t from,
                          const struct holding *h, const char *kind, const char *doubt);

/* Fills by_primitive and by_object. */
void graph_sort_holdings(struct builder *b);
/* Index of the thread with that number. */
bool graph_thread_index(const struct builder *b, unsigned number, size_t *ret);

/* graph_tree.c: what node `from` waits for by a future that it polls. */
void graph_tree_edges(struct builder *b, size_t from, const struct future *root, const char *doubt);

/* graph_wait.c: what node `from` waits for at leaf f, which is polled; doubt: why that may not be.
 */
void graph_leaf_edges(struct builder *b, size_t from, const struct future *f, const char *doubt);
/* The same of a thread that sits in something. */
void graph_thread_edges(struct builder *b, size_t from, const struct wait *w);
/* Notes the place that a future, polled or not, has in the queue of a lock. */
void graph_leaf_queues(struct builder *b, size_t from, const struct future *f,
                       const struct future *unpolled, const char *doubt);

/* The owners of all channels; when all trees were walked. */
void graph_channel_owners(struct builder *b);

/* graph_queue.c: the edges of all that are queued; last. */
void graph_queue_edges(struct builder *b);
/* Who has a native lock: the node for the edge of who waits. */
size_t graph_native_lock(struct builder *b, const struct wait *w);

/* For qsort(). */
static inline int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
