/*
 * Which lines of a merged tree (group.h) are shown where not all can be: those of the largest
 * groups, as many as fit.
 */
#ifndef RUNTIMES_ANALYSIS_GROUP_LINES_H
#define RUNTIMES_ANALYSIS_GROUP_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "runtimes/analysis/group.h"

struct group_lines {
	size_t ngroups;    /* the largest ones, that are shown */
	size_t ntasks;     /* of them */
	size_t nlines;     /* with those that say how much more there is */
	bool *shown;       /* by group_node.serial: it is in a group that is shown */
	size_t *nchildren; /* by serial: children that are shown */
	size_t nroots;     /* that are shown */
};

/*
 * Whether a node stands on the line of its parent: all tasks that are at the parent are at it,
 * and at nothing else.
 */
bool group_is_folded(const struct group_node *n);

/*
 * Chooses groups from the largest on: at most max_groups and, from the second on, no more than
 * make max_lines; SIZE_MAX: no such limit. The lists of *ret are in arena a.
 */
void group_lines_choose(struct arena *a, const struct groups *g, size_t max_groups,
                        size_t max_lines, struct group_lines *ret);

#endif
