/* Within verdict*.c. */
#ifndef RUNTIMES_GRAPH_VERDICT_PRIVATE_H
#define RUNTIMES_GRAPH_VERDICT_PRIVATE_H

#include "runtimes/graph/verdict.h"

/*
 * Fills doubts of v, which is not certain: by the n edges of its circle, which are indices of
 * g->edges, and by who of those that can go on (can, by node) may end a member. Texts are in a.
 */
void verdict_doubts(const struct graph *g, struct arena *a, const bool *can, struct verdict *v,
                    const size_t *edges, size_t n);

#endif
