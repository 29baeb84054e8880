/* Writes the wait-for graph for Graphviz. */
#ifndef COMMANDS_OUT_GRAPH_DOT_H
#define COMMANDS_OUT_GRAPH_DOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "debugger/base/error.h"
#include "runtimes/graph/verdict.h"

/*
 * Writes the nodes with shown[node] (NULL: all nodes of waits) and their edges to a file. ERR_OS
 * when that fails. *nodes and *edges: the numbers written.
 */
struct error *graph_dot_write(const struct verdicts *v, const bool *shown, const char *path,
                              size_t *nodes, size_t *edges) MUST_CHECK;

/* graph_dot_write() to a stream; ferror(f) reports errors. */
void graph_dot_print(FILE *f, const struct verdicts *v, const bool *shown, size_t *nodes,
                     size_t *edges);

#endif
