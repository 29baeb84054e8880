/* Shared by verdict.c and verdict_uncertainty.c. */
#ifndef RUNTIMES_GRAPH_VERDICT_PRIVATE_H
#define RUNTIMES_GRAPH_VERDICT_PRIVATE_H

#include "runtimes/graph/verdict.h"

/*
 * Fills doubts of v, which is not certain: from the n edges of its cycle (indices of g->edges), and
 * from the nodes that can go on (can, by node) and may abort a member. Texts are in a.
 */
void verdict_uncertainties(const struct graph *g, struct arena *a, const bool *can,
                           struct verdict *v, const size_t *edges, size_t n);

#endif
