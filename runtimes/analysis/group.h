/*
 * Many tasks as few: tasks that stand at the same place are one line with a count.
 *
 * Two trees are identical when they have the same shape and, frame by frame, the same function,
 * source line, edge, branch and state, and wait for the same kind of thing by the same pattern
 * (phrase.h). So are tasks without a tree, of one type and with one problem. Where a set
 * (FuturesUnordered) has several identical children, one stands for all: sets that differ only in
 * how many they have are identical.
 *
 * Identical trees are a group; the ways from the root that groups share are shared nodes of a
 * merged tree, as in a flame graph. The children of a node are alternatives where they have the
 * same edge, and side by side where one task has several (the arms of a select!): so the tasks of
 * the children can be more than those of their parent, and fewer where its tree ends there.
 *
 * Pure: a function of the snapshot. Time is linear in the futures, memory in the distinct frames
 * (and a number for each task), and nothing recurses.
 */
#ifndef RUNTIMES_ANALYSIS_GROUP_H
#define RUNTIMES_ANALYSIS_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "runtimes/analysis/phrase.h"
#include "runtimes/model/model.h"

enum {
	GROUP_STATES = TASK_CANCELLED + 1,
	GROUP_EXAMPLES = 3,    /* values of a variable that are kept */
	GROUP_DISTINCT = 1000, /* that are told apart and counted */
};

/* Some tasks. Oldest and newest by number, those without one by their place in the snapshot. */
struct group_count {
	size_t tasks;
	size_t states[GROUP_STATES]; /* by enum task_state */
	size_t changed;              /* of them, tasks that changed while they were read */
	const struct task *oldest, *newest;
};

/* A variable of a frame in all the tasks that are at it. */
struct group_local {
	const char *name;
	const char *type;
	bool argument;
	size_t seen;                          /* futures that have it with a value */
	size_t unknown;                       /* and without one: moved out, unreadable */
	size_t distinct;                      /* values; GROUP_DISTINCT: as many or more */
	const char *examples[GROUP_EXAMPLES]; /* the first ones that differ */
	size_t nexamples;
};

/* A frame that tasks have in common. */
struct group_node {
	const struct future *frame;   /* that of the first such task; NULL: tasks without a tree */
	const struct task *task;      /* the first of them in the snapshot's order */
	struct group_node *parent;    /* NULL: a root */
	struct group_node **children; /* polled ones first, then by tasks, most first */
	size_t nchildren;
	struct group_count count;    /* each task once */
	size_t futures;              /* those of a task can be many: a set's children */
	size_t ends;                 /* futures that have no child at all */
	struct phrase_range wait;    /* what they wait for; of tasks without a tree: why */
	struct phrase_range problem; /* why their trees end there although they should go on */
	struct group_local *locals;  /* only where the snapshot has variables */
	size_t nlocals;
	unsigned depth; /* of a root 0 */
	size_t serial;  /* from 0, in the order in which they came up: an index for arrays */
};

/* Tasks whose trees are identical. */
struct group {
	struct group_count count;
	const struct task *task;   /* the first of them in the snapshot's order: an example */
	struct group_node *root;   /* where its trees begin in the merged tree */
	struct group_node **nodes; /* all of the merged tree that it has, in preorder; a node that
	                              its trees have at several places comes several times */
	size_t nnodes;
};

struct groups {
	struct group *groups; /* by tasks, most first; then as in the snapshot */
	size_t ngroups;
	struct group_node **roots; /* likewise */
	size_t nroots;
	size_t nnodes;
	struct group_count count; /* of all tasks that were grouped */
	size_t futures;           /* that were looked at, */
	size_t probes;            /* and how often two frames or shapes were compared */
	bool has_locals;
	uint32_t *of; /* for each of the tasks, which of groups it is in */
};

/*
 * Groups tasks[0..n) of a snapshot. All is in arena a, and borrows from the snapshot.
 */
void groups_make(struct arena *a, const struct task *const *tasks, size_t n, struct groups *ret);

/*
 * The name by which a frame is the same as another: its function, the whole type of a leaf of
 * which nothing else is known; NULL unknown.
 */
const char *group_frame_name(const struct future *f);

/* Adds a task; c begins as zeroes. */
void group_count_add(struct group_count *c, const struct task *task);

#endif
