/* The groups of tasks of a report. */
#include "commands/report/report_parts.h"

static void report_group_put(struct report *r, uint64_t number)
{
	json_put_int(&r->w, NULL, (int64_t)number);
}

/* Writes a group: example, tasks, oldest, newest, tasks in each state, then its nodes. */
static void report_group_put_group(struct report *r, const struct group *g)
{
	json_open_array(&r->w, NULL);
	report_group_put(r, report_task(r, g->task) - 1);
	report_group_put(r, g->count.tasks);
	report_group_put(r, report_task(r, g->count.oldest) - 1);
	report_group_put(r, report_task(r, g->count.newest) - 1);
	for (size_t i = 0; i < GROUP_STATES; i++)
		report_group_put(r, g->count.states[i]);
	for (size_t i = 0; i < g->nnodes; i++)
		report_group_put(r, g->nodes[i]->serial);
	json_close_array(&r->w);
}

/* Writes a node: five numbers. */
static void report_group_put_node(struct report *r, const struct group_node *n)
{
	SCRATCH(tmp);

	report_group_put(r, report_shape(r, n->frame));
	report_group_put(r, n->depth);
	report_group_put(r, report_string(r, group_range_text(&tmp, &n->wait)));
	report_group_put(r, n->count.tasks);
	report_group_put(r, n->futures);
}

void report_put_groups(struct report *r)
{
	const struct groups *g = &r->groups;
	const struct group_node **nodes =
		NEW_ARRAY(&r->arena, const struct group_node *, g->nnodes);

	for (size_t i = 0; i < g->ngroups; i++) {
		for (size_t k = 0; k < g->groups[i].nnodes; k++)
			nodes[g->groups[i].nodes[k]->serial] = g->groups[i].nodes[k];
	}
	json_open_array(&r->w, "groups");
	for (size_t i = 0; i < g->ngroups; i++)
		report_group_put_group(r, &g->groups[i]);
	json_close_array(&r->w);
	json_open_array(&r->w, "group_nodes");
	for (size_t i = 0; i < g->nnodes; i++)
		report_group_put_node(r, nodes[i]);
	json_close_array(&r->w);
}
