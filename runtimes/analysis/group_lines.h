/*
 * Chooses the lines of a merged tree (group.h) to show when not all fit: those of the largest
 * groups.
 */
#ifndef RUNTIMES_ANALYSIS_GROUP_LINES_H
#define RUNTIMES_ANALYSIS_GROUP_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "runtimes/analysis/group.h"

struct group_lines {
	size_t ngroups;    /* number of groups shown, the largest ones */
	size_t ntasks;     /* tasks of these groups */
	size_t nlines;     /* includes the lines that count omitted nodes */
	bool *shown;       /* by group_node.serial: whether the node is in a group that is shown */
	size_t *nchildren; /* by serial: number of children that are shown */
	size_t nroots;     /* number of roots that are shown */
};

/*
 * Whether a node is printed on the line of its parent: it is the only child, it has all tasks of
 * the parent, and no tree ends at the parent.
 */
bool group_is_folded(const struct group_node *n);

/*
 * Chooses groups, the largest first: at most max_groups, and beyond the first one at most as many
 * as fit in max_lines; SIZE_MAX: no limit. The arrays of *ret are in arena a.
 */
void group_lines_choose(struct arena *a, const struct groups *g, size_t max_groups,
                        size_t max_lines, struct group_lines *ret);

#endif
