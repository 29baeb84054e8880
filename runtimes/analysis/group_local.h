/* Internal to the grouping: collects the values of a frame's variables over many tasks. */
#ifndef RUNTIMES_ANALYSIS_GROUP_LOCAL_H
#define RUNTIMES_ANALYSIS_GROUP_LOCAL_H

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/group.h"

struct local_values {
	struct group_local local;
	struct map values; /* hashes of the values seen: at most GROUP_DISTINCT */
};

struct local_list {
	VEC(struct local_values) list;
};

/* Adds the variables of one future at the frame. */
void group_local_add(struct local_list *l, const struct future *f);
/* Returns the collected variables in arena a and empties the list. */
struct group_local *group_local_finish(struct local_list *l, struct arena *a, size_t *nret);

#endif
