#include "runtimes/query/polled_memory.h"

#include <string.h>

/* The members of all states that have the name of a variable. */
struct namesakes {
	uint64_t offset; /* of the first one, in the coroutine */
	size_t n;        /* at different offsets, or of other types */
};

static bool polled_memory_is_of_type(const struct local_place *l, const struct type *t)
{
	return t && strcmp(type_name(t), type_name(l->v.type)) == 0;
}

/* Two of one state count as two: LLVM gives both the offset of the first one. */
static void count_in_state(struct collector *c, const struct variant *v,
                           const struct local_place *l, struct namesakes *ret)
{
	size_t n, here = 0;
	const struct member *members = type_members(v->payload, &n);

	for (size_t i = 0; i < n; i++) {
		uint64_t offset = v->offset + members[i].offset;

		if (!members[i].name ||
		    strcmp(inspector_clean_name(&c->scratch, members[i].name), l->name) != 0)
			continue;
		if (here || !ret->n || offset != ret->offset ||
		    !polled_memory_is_of_type(l, members[i].type))
			ret->n += ret->n || polled_memory_is_of_type(l, members[i].type) ? 1 : 2;
		if (ret->n == 1)
			ret->offset = offset;
		here++;
	}
}

static struct namesakes find_namesakes(struct collector *c, const struct type *coroutine,
                                       const struct local_place *l)
{
	struct namesakes ret = { 0 };
	size_t n;
	const struct variant *v = type_variants(coroutine, &n);

	for (size_t i = 0; i < n; i++) {
		if (v[i].payload)
			count_in_state(c, &v[i], l, &ret);
	}
	return ret;
}

/* The variable among those of the state in which the poll began; NULL: it is not one of them. */
static const struct local_place *find_saved(const struct local_place *saved, size_t n,
                                            const struct local_place *l)
{
	const struct local_place *ret = NULL;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(saved[i].name, l->name) != 0)
			continue;
		if (ret || saved[i].problem || !polled_memory_is_of_type(l, saved[i].v.type))
			return NULL;
		ret = &saved[i];
	}
	return ret;
}

static void read_variable(struct collector *c, struct value coroutine,
                          const struct local_place *saved, size_t n, struct local_place *l)
{
	const struct local_place *found = find_saved(saved, n, l);
	const struct namesakes all =
		found ? (struct namesakes){ 0 } : find_namesakes(c, coroutine.type, l);

	if (!found && all.n != 1)
		return;
	l->v.addr = found ? found->v.addr : coroutine.addr + all.offset;
	l->in_memory = true;
	l->problem = NULL;
	l->is_placeless = false;
	l->uncertain = l->may_be_stale = l->is_polled = true;
	l->may_be_unset = !found;
}

void polled_memory_read(struct collector *c, struct value coroutine, struct local_place *list,
                        size_t n)
{
	const struct coroutine_plan *plan;
	const struct variant *active;
	struct local_place *saved;
	struct future f = { 0 };
	size_t nsaved, i = 0;

	while (i < n && !(list[i].is_placeless && list[i].is_sole))
		i++;
	if (i == n || !coroutine.type || !coroutine.addr)
		return;
	struct error *err CLEANUP(error_freep) = value_variant(c->in->target, coroutine, &active);
	if (err)
		return;
	plan = coroutine_plan(c->in, coroutine.type);
	f.kind = plan->kind;
	f.state = coroutine_outline(c->in, plan, (size_t)(active - plan->variants))->state;
	/* At its end a poll has left the state in which it began, and may have dropped all. */
	if (f.state != FUTURE_UNRESUMED && f.state != FUTURE_SUSPENDED)
		return;
	const struct frame_place place = { .v = coroutine, .active = active };
	saved = locals_list(c, &place, &f, &nsaved);
	for (; i < n; i++) {
		if (list[i].is_placeless && list[i].is_sole)
			read_variable(c, coroutine, saved, nsaved, &list[i]);
	}
}
