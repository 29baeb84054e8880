/*
 * What a graph comes to: who can never go on, and why. A node is stuck when nothing that the graph
 * knows of can make it go on; what is unknown always can. Among the stuck, those that wait for each
 * other in a circle are the reason, the others stand behind them.
 */
#ifndef RUNTIMES_GRAPH_VERDICT_H
#define RUNTIMES_GRAPH_VERDICT_H

#include "runtimes/graph/graph.h"

enum verdict_kind {
	VERDICT_DEADLOCK,   /* they wait for each other, or one for itself */
	VERDICT_FUTURELOCK, /* so, by a future that its task has but does not poll (RFD 609) */
	VERDICT_LOST, /* one waits for a message that only itself could send: nobody will wake it */
};

enum verdict_trust {
	VERDICT_CERTAIN,
	VERDICT_SOLE,     /* but for guards and ends that were found nowhere else */
	VERDICT_POSSIBLE, /* there may be other ways on */
};

/* One step of a circle. */
struct verdict_link {
	size_t party;                    /* node */
	const struct graph_edge *waits;  /* what it waits for; NULL: it runs on the next one */
	const struct graph_edge *has;    /* why the next party is waited for */
	const struct graph_node *object; /* the lock, channel or set between them, NULL none */
};

enum { VERDICT_MAX_BEHIND = 32, VERDICT_MAX_CYCLE = 16, VERDICT_MAX_DOUBTS = 4 };

struct verdict {
	enum verdict_kind kind;
	enum verdict_trust trust;
	bool certain;    /* trust is VERDICT_CERTAIN */
	size_t *members; /* nodes of all parties that are the reason, by number */
	size_t nmembers;
	struct verdict_link *cycle; /* the shortest circle through the first member; each waits for
	                               the next, the last for the first */
	size_t ncycle;
	const char *doubts[VERDICT_MAX_DOUBTS]; /* why it is not certain */
	size_t ndoubts;
	size_t behind[VERDICT_MAX_BEHIND]; /* parties that stand behind it, the first ones */
	size_t nbehind;                    /* all of them */
};

struct verdicts {
	struct arena arena;
	const struct graph *graph;
	struct verdict *list; /* certain ones first */
	size_t n;
	bool *stuck;   /* by node: cannot go on, even if only by what is uncertain */
	size_t nstuck; /* parties of them */
};

/* Never NULL; borrows from g. Linear in nodes and edges. */
struct verdicts *verdicts_find(const struct graph *g);
void verdicts_free(struct verdicts *v);
void verdicts_freep(struct verdicts **v);

const char *verdict_kind_name(enum verdict_kind kind);

/* ---- for people; verdict_text.c ---- */

/* "task 7", "thread #1" */
const char *graph_participant_text(struct arena *a, const struct graph_node *n);
/* "Mutex 0x7f00", "self.accounts (Mutex 0x7f00)", "runtime 0" */
const char *graph_object_text(struct arena *a, const struct graph_node *n);
/* How the other end of an edge comes to be waited for: "`guard` at src/x.rs:41". */
const char *graph_evidence_text(struct arena *a, const struct graph_edge *e);
/* The whole verdict in one sentence, without its kind. */
const char *verdict_text(struct arena *a, const struct graph *g, const struct verdict *v);

#endif
