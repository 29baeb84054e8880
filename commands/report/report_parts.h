/*
 * For report_data.c: the parts of a report that have files of their own. Each is a member of the
 * object that is open.
 */
#ifndef COMMANDS_REPORT_REPORT_PARTS_H
#define COMMANDS_REPORT_REPORT_PARTS_H

#include "commands/report/report_data.h"

/* "words": what the numbers of enums are called. */
void report_put_words(struct json_writer *w);
/* "shapes": all rows, one after the other; children stand before their parents. */
void report_put_shapes(struct report *r);
/* "groups": tasks that look alike, and "group_nodes": what their trees have in common. */
void report_put_groups(struct report *r);
/* "holdings": fifteen numbers each; "unsearched". */
void report_put_holdings(struct report *r);
/*
 * "graph_nodes", "graph_edges", "graph_notes", "verdicts": who waits for whom; "findings": what
 * else is wrong.
 */
void report_put_graph(struct report *r);

#endif
