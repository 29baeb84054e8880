/*
 * Groups verdicts that differ only in their tasks and locks. Text output prints the first verdict
 * of each group and the number of the others.
 */
#ifndef RUNTIMES_ANALYSIS_VERDICT_GROUP_H
#define RUNTIMES_ANALYSIS_VERDICT_GROUP_H

#include <stddef.h>

#include "debugger/base/arena.h"
#include "runtimes/graph/verdict.h"

struct verdict_group {
	const size_t *list; /* indices of verdicts, ascending: the first one stands for all */
	size_t n;           /* at least 1 */
	size_t nbehind;     /* participants that wait behind any of these verdicts */
};

struct verdict_groups {
	const struct verdict_group *list; /* in the order of their first verdicts */
	size_t n;
	const size_t *first; /* by verdict: the first verdict of its group, which may be itself */
};

/*
 * Two verdicts are alike when they differ only in task ids, thread numbers and addresses: they have
 * the same kind, trust, doubts and words, and their members await at the same places. All memory is
 * in arena a. Time is linear in the number of verdicts and members.
 */
void verdict_groups_make(struct arena *a, const struct verdicts *v, struct verdict_groups *ret);

/*
 * "2 more like it: task 11, task 16": describes all verdicts of the group but the first. Names the
 * members of a few of them, and the roots of their trees where these differ. NULL when the group
 * has one verdict. In arena a.
 */
const char *verdict_group_others(struct arena *a, const struct verdicts *v,
                                 const struct verdict_group *alike);

#endif
