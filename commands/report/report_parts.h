/*
 * Parts of a report that have separate files, for report_data.c. Each is written as a member of the
 * open object.
 */
#ifndef COMMANDS_REPORT_REPORT_PARTS_H
#define COMMANDS_REPORT_REPORT_PARTS_H

#include "commands/report/report_data.h"

/* "words": the names of enum values. */
void report_put_words(struct json_writer *w);
/* "shapes": all rows; children precede their parents. */
void report_put_shapes(struct report *r);
/* "groups": groups of tasks, and "group_nodes": their merged tree. */
void report_put_groups(struct report *r);
/* "holdings": fifteen numbers each; and "unsearched". */
void report_put_holdings(struct report *r);
/*
 * "graph_nodes", "graph_edges", "graph_notes", "verdicts": the wait-for graph; "findings": other
 * problems.
 */
void report_put_graph(struct report *r);

#endif
