#include "runtimes/analysis/group_lines.h"

#include "debugger/base/vec.h"

bool group_is_folded(const struct group_node *n)
{
	const struct group_node *parent = n->parent;

	return parent && parent->nchildren == 1 && parent->ends == 0 &&
	       parent->count.tasks == n->count.tasks;
}

/* Nodes that a group has added, so that they can be undone. */
struct added {
	VEC(const struct group_node *) nodes;
};

static void free_added(struct added *added)
{
	vec_free(&added->nodes);
}

/* The number of lines that count omitted nodes below n: 0 or 1. */
static size_t more_lines(const struct group_lines *l, const struct group_node *n)
{
	return l->nchildren[n->serial] < n->nchildren;
}

static void group_lines_show(const struct groups *g, struct group_lines *l,
                             const struct group_node *n)
{
	const struct group_node *parent = n->parent;
	size_t before = parent ? more_lines(l, parent) : l->nroots < g->nroots;

	l->shown[n->serial] = true;
	if (parent)
		l->nchildren[parent->serial]++;
	else
		l->nroots++;
	l->nlines += (parent ? more_lines(l, parent) : l->nroots < g->nroots) - before;
	l->nlines += !group_is_folded(n) + more_lines(l, n);
}

static void group_lines_hide(const struct groups *g, struct group_lines *l,
                             const struct group_node *n)
{
	const struct group_node *parent = n->parent;
	size_t before = parent ? more_lines(l, parent) : l->nroots < g->nroots;

	l->nlines -= !group_is_folded(n) + more_lines(l, n);
	l->shown[n->serial] = false;
	if (parent)
		l->nchildren[parent->serial]--;
	else
		l->nroots--;
	l->nlines += (parent ? more_lines(l, parent) : l->nroots < g->nroots) - before;
}

void group_lines_choose(struct arena *a, const struct groups *g, size_t max_groups,
                        size_t max_lines, struct group_lines *ret)
{
	struct added added CLEANUP(free_added) = { 0 };
	size_t i;

	*ret = (struct group_lines){ .nlines = g->nroots > 0 };
	ret->shown = NEW_ARRAY(a, bool, g->nnodes);
	ret->nchildren = NEW_ARRAY(a, size_t, g->nnodes);
	for (i = 0; i < g->ngroups && i < max_groups; i++) {
		const struct group *group = &g->groups[i];

		added.nodes.n = 0;
		for (size_t k = 0; k < group->nnodes; k++) {
			if (ret->shown[group->nodes[k]->serial])
				continue;
			group_lines_show(g, ret, group->nodes[k]);
			*vec_push(&added.nodes) = group->nodes[k];
		}
		if (i && ret->nlines > max_lines)
			break;
		added.nodes.n = 0;
		ret->ntasks += group->count.tasks;
	}
	ret->ngroups = i;
	while (added.nodes.n)
		group_lines_hide(g, ret, added.nodes.data[--added.nodes.n]);
}
