#include "commands/ask/select.h"

#include <string.h>

#include "debugger/base/vec.h"
#include "runtimes/analysis/field.h"

/* One --with or --without. */
struct condition {
	const struct field *field;
	struct field_test test;
	bool without;
};

struct conditions {
	VEC(struct condition) list;
};

static void free_conditions(struct conditions *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		field_test_free(&c->list.data[i].test);
	vec_free(&c->list);
}

static struct error *parse_conditions(const struct call *call, struct conditions *ret)
{
	for (size_t i = 0; i < call->noptions; i++) {
		const struct chosen_option *o = &call->options[i];
		bool without = strcmp(o->option->name, "without") == 0;

		if (!without && strcmp(o->option->name, "with") != 0)
			continue;
		struct condition *c = vec_push(&ret->list);

		c->without = without;
		TRY(field_find(o->values[0], &c->field));
		TRY(field_test_parse(c->field, o->values[1], &c->test));
	}
	return NULL;
}

static struct error *parse_limit(const struct call *call, struct selection *ret)
{
	const char *word = option_value(call, "limit");
	uint64_t limit = 0;

	if (word)
		TRY(words_number(word, "a number of tasks", SIZE_MAX - 1, &limit));
	ret->all = word && limit == 0;
	ret->has_limit = limit != 0;
	ret->limit = limit ? (size_t)limit : SIZE_MAX;
	return NULL;
}

struct error *select_check(const struct call *call)
{
	struct conditions conditions CLEANUP(free_conditions) = { 0 };
	struct selection ignored = { 0 };

	TRY(parse_conditions(call, &conditions));
	return parse_limit(call, &ignored);
}

static bool matches(const struct conditions *c, const struct field_of *of)
{
	for (size_t i = 0; i < c->list.n; i++) {
		const struct condition *one = &c->list.data[i];

		if (field_passes(one->field, of, &one->test) == one->without)
			return false;
	}
	return true;
}

struct error *select_tasks(struct arena *a, const struct snapshot *s, const struct call *call,
                           struct selection *ret)
{
	struct conditions conditions CLEANUP(free_conditions) = { 0 };
	SCRATCH(tmp);

	*ret = (struct selection){ .total = s->ntasks };
	TRY(parse_conditions(call, &conditions));
	TRY(parse_limit(call, ret));
	ret->asked = conditions.list.n > 0;
	ret->tasks = NEW_ARRAY(a, const struct task *, s->ntasks);
	for (size_t i = 0; i < s->ntasks; i++) {
		struct field_of of = { &tmp, s, s->tasks[i] };

		TRY(interrupt_check());
		if (matches(&conditions, &of))
			ret->tasks[ret->n++] = s->tasks[i];
		arena_reset(&tmp);
	}
	return NULL;
}

void select_shown(const struct selection *chosen, struct out *out)
{
	struct shown *shown = NEW(&out->arena, struct shown);

	*shown = (struct shown){
		.total = chosen->total,
		.matched = chosen->n,
		.tasks = chosen->n < chosen->limit ? chosen->n : chosen->limit,
		.asked = chosen->asked,
	};
	if (shown->asked || shown->tasks < shown->matched)
		out->ops->shown(out, shown);
}
