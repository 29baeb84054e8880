/*
 * Groups tasks: tasks at the same place become one line with a count.
 *
 * Two trees are identical when they have the same shape and, frame by frame, the same function,
 * source line, edge, branch, state, kind of wait and pattern of its phrase (group_range.h). Two
 * tasks without a tree are identical when their types and problems are equal. Identical children of
 * a FuturesUnordered count as one child, so two sets that differ only in the number of such
 * children are identical.
 *
 * Tasks with identical trees form a group. Groups are merged into one tree, as in a flame graph:
 * paths from the root that groups share are the same nodes. Children of a node that have the same
 * edge are alternatives. Children with different edges can belong to one task (the arms of a
 * select!). The children of a node can therefore have more tasks together than the node, or fewer
 * when trees end at the node.
 *
 * The result depends on the snapshot only. Time is linear in the number of futures, memory in the
 * number of distinct frames (plus one number for each task). No function recurses.
 */
#ifndef RUNTIMES_ANALYSIS_GROUP_H
#define RUNTIMES_ANALYSIS_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "runtimes/analysis/group_range.h"
#include "runtimes/model/model.h"

enum {
	GROUP_STATES = TASK_CANCELLED + 1,
	GROUP_EXAMPLES = 3,    /* example values kept for a variable */
	GROUP_DISTINCT = 1000, /* distinct values counted at most */
};

/*
 * Counts of some tasks. Oldest and newest are by number. With keyed, they are the first and the
 * last by index in the snapshot, which tells nothing about their ages.
 */
struct group_count {
	size_t tasks;
	size_t states[GROUP_STATES]; /* by enum task_state */
	size_t changed;              /* tasks that changed while they were read */
	bool keyed;                  /* some have no number */
	const struct task *oldest, *newest;
};

/* The values of a variable of a frame in all tasks at that frame. */
struct group_local {
	const char *name;
	const char *type;
	bool argument;
	size_t seen;     /* futures in which it has a value */
	size_t unknown;  /* futures in which it has none: moved out, unreadable */
	size_t distinct; /* number of distinct values; GROUP_DISTINCT: that many or more */
	const char *examples[GROUP_EXAMPLES]; /* the first distinct values */
	size_t nexamples;
};

/* A frame that tasks have in common. */
struct group_node {
	const struct future *frame;   /* frame of the first task; NULL: tasks without a tree */
	const struct task *task;      /* the first of them in the snapshot's order */
	struct group_node *parent;    /* NULL: a root */
	struct group_node **children; /* polled ones first, then by tasks, most first */
	size_t nchildren;
	struct group_count count; /* each task once */
	size_t futures;           /* a task can have several here: the children of a set */
	size_t ends;              /* futures without children */
	struct group_range wait;  /* phrases of their waits; for tasks without a tree: the reason */
	/* The reason why their trees end here although they should continue. */
	struct group_range problem;
	struct group_local *locals; /* only where the snapshot has variables */
	size_t nlocals;
	unsigned depth; /* 0 for a root */
	size_t serial;  /* index in order of creation, from 0: for arrays */
};

/* Tasks whose trees are identical. */
struct group {
	struct group_count count;
	const struct task *task;   /* the first of them in the snapshot's order: an example */
	struct group_node *root;   /* the node where its trees begin in the merged tree */
	struct group_node **nodes; /* its nodes of the merged tree in preorder; a node that its
	                              trees have at several places occurs several times */
	size_t nnodes;
};

struct groups {
	struct group *groups; /* by tasks, most first; then as in the snapshot */
	size_t ngroups;
	struct group_node **roots; /* by tasks, most first; then as in the snapshot */
	size_t nroots;
	size_t nnodes;
	struct group_count count; /* of all tasks that were grouped */
	size_t futures;           /* number of futures read, */
	size_t probes;            /* number of comparisons of two frames or shapes */
	bool has_locals;
	uint32_t *of; /* by task: index of its group */
};

/* Groups tasks[0..n) of a snapshot. The result is in arena a and borrows from the snapshot. */
void groups_make(struct arena *a, const struct task *const *tasks, size_t n, struct groups *ret);

/*
 * The name by which frames are compared: the function, or the full type of a leaf of which nothing
 * else is known; NULL unknown.
 */
const char *group_frame_name(const struct future *f);

/* Adds a task. The caller zeroes *c first. */
void group_count_add(struct group_count *c, const struct task *task);

#endif
