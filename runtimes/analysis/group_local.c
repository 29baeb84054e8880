#include "runtimes/analysis/group_local.h"

#include <string.h>

#include "runtimes/analysis/group_hash.h"

/*
 * Frames at one line have the same variables in the same order, except those that were moved out:
 * the search starts at hint.
 */
static struct local_values *group_local_find(struct local_list *l, const struct local *local,
                                             size_t hint)
{
	for (size_t i = 0; i < l->list.n; i++) {
		struct local_values *v = &l->list.data[(hint + i) % l->list.n];

		if (v->local.argument == local->argument && same_text(v->local.name, local->name))
			return v;
	}
	struct local_values *v = vec_push(&l->list);

	v->local.name = local->name;
	v->local.type = local->type;
	v->local.argument = local->argument;
	return v;
}

static void add_value(struct local_values *v, const char *value)
{
	struct group_local *local = &v->local;

	local->seen++;
	if (local->distinct >= GROUP_DISTINCT ||
	    !map_put(&v->values, hash_text(HASH_START, value) | 1, NULL))
		return;
	local->distinct++;
	if (local->nexamples < GROUP_EXAMPLES)
		local->examples[local->nexamples++] = value;
}

void group_local_add(struct local_list *l, const struct future *f)
{
	for (size_t i = 0; i < f->nlocals; i++) {
		struct local_values *v = group_local_find(l, &f->locals[i], i);

		if (f->locals[i].value)
			add_value(v, f->locals[i].value);
		else
			v->local.unknown++;
	}
}

struct group_local *group_local_finish(struct local_list *l, struct arena *a, size_t *nret)
{
	struct group_local *ret = NEW_ARRAY(a, struct group_local, l->list.n);

	*nret = l->list.n;
	for (size_t i = 0; i < l->list.n; i++) {
		ret[i] = l->list.data[i].local;
		map_free(&l->list.data[i].values);
	}
	vec_free(&l->list);
	return ret;
}
