/*
 * Finds the participants that can never go on, and why. A node is stuck when nothing in the graph
 * can make it go on; unknown things always can. The stuck nodes that wait for each other in a cycle
 * are the reason; the other stuck nodes wait behind them.
 */
#ifndef RUNTIMES_GRAPH_VERDICT_H
#define RUNTIMES_GRAPH_VERDICT_H

#include "runtimes/graph/graph.h"

enum verdict_kind {
	VERDICT_DEADLOCK,   /* participants wait for each other, or one for itself */
	VERDICT_FUTURELOCK, /* through a future that its task owns but does not poll (RFD 609) */
	VERDICT_LOST,       /* one waits for a message that only itself could send: never woken */
};

enum verdict_trust {
	VERDICT_CERTAIN,
	VERDICT_SOLE, /* certain if holdings that were found in one place only are still there */
	VERDICT_POSSIBLE, /* a member may be able to go on some other way */
};

/* A step of a cycle. */
struct verdict_link {
	size_t participant;              /* node */
	const struct graph_edge *waits;  /* its wait; NULL: it needs the next participant to run */
	const struct graph_edge *has;    /* why the next participant is waited for */
	const struct graph_node *object; /* the lock, channel or set between them, NULL none */
};

enum { VERDICT_MAX_BEHIND = 32, VERDICT_MAX_CYCLE = 16, VERDICT_MAX_DOUBTS = 4 };

struct verdict {
	enum verdict_kind kind;
	enum verdict_trust trust;
	bool certain;    /* trust is VERDICT_CERTAIN */
	size_t *members; /* nodes of all participants that are the reason, by number */
	size_t nmembers;
	struct verdict_link *cycle; /* a short cycle through a member: each waits for the next, the
	                               last for the first */
	size_t ncycle;
	const char *doubts[VERDICT_MAX_DOUBTS]; /* why it is not certain */
	size_t ndoubts;
	size_t behind[VERDICT_MAX_BEHIND]; /* the first participants that wait behind it */
	size_t nbehind;                    /* number of participants behind it, in all */
};

struct verdicts {
	struct arena arena;
	const struct graph *graph;
	struct verdict *list; /* certain ones first */
	size_t n;
	bool *stuck;   /* by node: cannot go on, uncertain edges included */
	size_t nstuck; /* participants of them */
};

/* Never NULL; borrows from g. Takes time linear in nodes and edges. */
struct verdicts *verdicts_find(const struct graph *g);
void verdicts_free(struct verdicts *v);
void verdicts_freep(struct verdicts **v);

const char *verdict_kind_name(enum verdict_kind kind);

/* ---- text for people; verdict_text.c ---- */

/* "task 7", "thread #1" */
const char *graph_participant_text(struct arena *a, const struct graph_node *n);
/* "Mutex 0x7f00", "self.accounts (Mutex 0x7f00)", "runtime 0" */
const char *graph_object_text(struct arena *a, const struct graph_node *n);
/* Reason why the target of an edge is waited for: "`guard` at src/x.rs:41". */
const char *graph_evidence_text(struct arena *a, const struct graph_edge *e);
/* The whole verdict in one sentence, without its kind. */
const char *verdict_text(struct arena *a, const struct graph *g, const struct verdict *v);

#endif
