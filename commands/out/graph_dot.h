/* Who waits for whom, for Graphviz. */
#ifndef COMMANDS_OUT_GRAPH_DOT_H
#define COMMANDS_OUT_GRAPH_DOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "debugger/base/error.h"
#include "runtimes/graph/verdict.h"

/*
 * Writes the nodes that shown has (by node; NULL: all that anybody waits at or for) and their edges
 * to a file. ERR_OS when that fails. *nodes and *edges: how many were written.
 */
struct error *graph_dot_write(const struct verdicts *v, const bool *shown, const char *path,
                              size_t *nodes, size_t *edges) MUST_CHECK;

/* The same to f; ferror(f) says whether that failed. */
void graph_dot_print(FILE *f, const struct verdicts *v, const bool *shown, size_t *nodes,
                     size_t *edges);

#endif
