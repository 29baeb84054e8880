/* State and functions that graph*.c share while they build a graph. */
#ifndef RUNTIMES_GRAPH_GRAPH_PRIVATE_H
#define RUNTIMES_GRAPH_GRAPH_PRIVATE_H

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/graph/graph.h"
#include "runtimes/model/wait_kind.h"

/* Properties of the unpolled futures on the way to one of them, that one included. */
struct unpolled {
	const struct future *top; /* the outermost one */
	bool may_be_polled;       /* an unseen future may poll one of them */
	bool may_be_gone;         /* one of them may have been dropped or moved before */
	const char *doubt;        /* why the type of one of them is not certain; NULL: it is */
};

/* A future that stands in the queue of a lock, or that the lock was granted to. */
struct queued {
	uint64_t primitive;
	uint64_t place;                  /* from 1; 0: granted; UINT64_MAX: unknown */
	size_t edge;                     /* index of the edge by which it waits */
	size_t from;                     /* the node that waits; 0: the future is not polled */
	size_t participant;              /* the participant that owns the future */
	size_t arm;                      /* the arm of a join that it is in, 0 none */
	const struct future *future;     /* with its wait */
	const struct future *unpolled;   /* the outermost unpolled future that this is or is in */
	bool may_be_polled, may_be_gone; /* see struct unpolled */
	const char *doubt;
	bool seen_twice; /* found in two places, neither of which polls it */
};

/* An arm of a join. */
struct arm {
	size_t node, participant;
	size_t around;     /* the enclosing arm, 0 none */
	size_t owner;      /* node of what is held in the arm, 0: not made yet */
	struct arm *inner; /* the last arm directly inside it, NULL none */
	struct arm *next;  /* the previous arm of the same enclosing arm */
};

/* A future that AbortHandles can end, of which they have the address of its state. */
struct abortable {
	size_t participant;
	struct abortable *next; /* of the same state */
};

/* A channel node whose edges to owners are not added yet. */
struct open_channel {
	size_t node;
	const struct wait_kind *kind;
	uint64_t object;
	int64_t wanted; /* number of ends that can end the wait */
};

struct builder {
	struct graph *g;
	const struct snapshot *s;
	VEC(struct graph_node) nodes;
	VEC(struct graph_edge) edges;
	VEC(struct queued) queue;
	VEC(struct open_channel) open;
	struct map outer_arms; /* participant -> its last outermost arm, NULL none */
	struct map users;      /* participant or arm -> node of the user of its channel ends */
	struct map threads;    /* number -> 1 + index of the thread */
	struct map tasks;      /* header's address -> 1 + index of the task */
	struct map jobs;       /* header's address -> node of the queued job */
	/* an outermost unpolled future -> the future whose variable has it */
	struct map frames;
	struct map unpolled;   /* an unpolled future -> the outermost unpolled future around it */
	struct map channels;   /* address ^ role -> its node */
	struct map sets;       /* address of a LocalSet -> its node */
	struct map wakers;     /* address -> its node */
	struct map abortables; /* address of its state -> struct abortable, in the graph's arena */
	const struct holding **by_primitive, **by_object; /* all holdings, sorted */
	size_t *by_local_set;                             /* tasks of LocalSets, sorted */
	size_t nlocal;
	size_t participant; /* participant whose tree is walked */
	size_t arm;         /* in which arm of a join, 0 none */
	struct map arms;    /* node of an arm -> struct arm */
	struct map arm_of;  /* a future -> node of the innermost arm that it is in */
	bool quiet;         /* no running thread could hold what the search did not find */
};

size_t graph_add_node(struct builder *b, struct graph_node node);
/* The edge; valid until the next one is added. */
struct graph_edge *graph_add_edge(struct builder *b, size_t from, size_t to, const char *kind);

/* The node of the participant that has the holding; GRAPH_OUTSIDE when unknown. */
size_t graph_participant_of(const struct builder *b, const struct holding *h);
/*
 * The node of what a participant holds in an arm of a join (arm 0: in no arm). It is dropped when
 * that arm goes on, or when the participant does.
 */
size_t graph_owner_node(struct builder *b, size_t arm, size_t participant);
/*
 * graph_owner_node() for a channel end. Arms below the frame that owns the end may use it without
 * owning it.
 */
size_t graph_user_node(struct builder *b, size_t arm, size_t participant);
/* The first holding of that primitive or object; *n: how many there are. */
const struct holding **graph_holdings_of_primitive(const struct builder *b, uint64_t primitive,
                                                   size_t *n);
const struct holding **graph_holdings_of_object(const struct builder *b, uint64_t object,
                                                size_t *n);
/*
 * How sure is it that the holding is still there? An uncertain one may have been dropped or moved.
 * TRUST_SOLE: the lock is taken, or the channel counts the end, and it was found nowhere else.
 * complete: as many candidates were found as the channel counts.
 */
enum trust { TRUST_CERTAIN, TRUST_SOLE, TRUST_NONE };
enum trust graph_holding_trust(const struct builder *b, const struct holding *h, bool complete);
/* The doubt that goes with a trust; NULL for TRUST_CERTAIN. */
const char *graph_trust_uncertainty(enum trust trust);
/*
 * Adds an edge to the participant that has a holding. doubt: why the edge is uncertain, NULL: it is
 * certain.
 */
void graph_add_holder(struct builder *b, size_t from, const struct holding *h, const char *kind,
                      const char *doubt);

/* The node that must go on before a lock is dropped, or a channel end used. */
size_t graph_holder_node(struct builder *b, const struct holding *h);
/* Records the future if AbortHandles can end it. It is polled by the participant that is walked. */
void graph_note_abortable(struct builder *b, const struct future *f);
/* Fills aborts of the graph. Call it after all trees were walked. */
void graph_find_aborts(struct builder *b);

/* The uncertain candidates of one participant. */
struct candidate_group {
	struct graph_candidate *first, **end;
	size_t to; /* target of the last edge to them, 0 none */
};

/* All holdings that may be the object of one wait. The caller frees by_participant. */
struct candidates {
	size_t all, sure;          /* total, and the certain ones of them */
	struct map by_participant; /* 1 + participant -> struct candidate_group */
	bool instead; /* all owners are known, but there are more candidates than ends */
};
void graph_candidate_add(struct builder *b, struct candidates *c, const struct holding *h);
/*
 * Do the candidates account for all `wanted` ends? Each participant with an uncertain candidate
 * then has at least one: an end that moved between two variables of a task still belongs to that
 * task.
 */
bool graph_candidates_known(struct candidates *c, size_t wanted);
/*
 * graph_add_holder() for a candidate. Several candidates of one participant share a single edge
 * that lists them.
 */
void graph_candidate_edge(struct builder *b, const struct candidates *c, size_t from,
                          const struct holding *h, const char *kind, const char *doubt);

/* The future whose variable has that unpolled future; NULL: none, or unknown. */
static inline const struct future *graph_frame_of(const struct builder *b,
                                                  const struct future *unpolled)
{
	return unpolled ? map_get(&b->frames, (uintptr_t)unpolled) : NULL;
}

/* Fills by_primitive and by_object. */
void graph_sort_holdings(struct builder *b);
/* Index of the thread with that number. */
bool graph_thread_index(const struct builder *b, unsigned number, size_t *ret);

/* The doubt of a wait for a pool that gives up after a time, or when it is closed. */
extern const char graph_pool_doubt[];
/* graph_tree.c: adds edges for what node `from` waits for in the tree of a future that it polls. */
void graph_tree_edges(struct builder *b, size_t from, const struct future *root, const char *doubt);

/*
 * graph_wait.c: adds edges for what node `from` waits for at the polled leaf f. doubt: why f may
 * not be the wait of `from`, NULL: it is.
 */
void graph_leaf_edges(struct builder *b, size_t from, const struct future *f, const char *doubt);
/* graph_leaf_edges() for a thread that waits in native code. */
void graph_thread_edges(struct builder *b, size_t from, const struct wait *w);
/* Records the place in a lock's queue of a future. unpolled: NULL, the future is polled. */
void graph_leaf_queues(struct builder *b, size_t from, const struct future *f,
                       const struct unpolled *unpolled, const char *doubt);

/* Adds the edges to the owners of all channels. Call it after all trees were walked. */
void graph_channel_owners(struct builder *b);

/* graph_queue.c: adds the edges of all queued futures. Call it last. */
void graph_queue_edges(struct builder *b);
/* The node of a native lock's holders, GRAPH_OUTSIDE when unknown. */
size_t graph_native_lock(struct builder *b, const struct wait *w);

/* graph_job.c: adds the nodes of queued jobs. */
void graph_add_jobs(struct builder *b);
/* Adds the edges of queued jobs. */
void graph_job_edges(struct builder *b);
/* The node of the job with that id; GRAPH_OUTSIDE when there is none or more than one. */
size_t graph_job_by_id(const struct builder *b, uint64_t number);

/* Compares numbers for qsort(). */
static inline int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
