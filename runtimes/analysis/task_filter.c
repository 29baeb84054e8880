#include "runtimes/analysis/task_filter.h"

struct error *task_filter_add(struct task_filter *f, const char *field, const char *value,
                              bool without)
{
	struct task_condition *c = vec_push(&f->conditions);

	c->without = without;
	TRY(field_find(field, &c->field));
	return field_test_parse(c->field, value, &c->test);
}

static bool matches(const struct task_filter *f, const struct field_of *of)
{
	for (size_t i = 0; i < f->conditions.n; i++) {
		const struct task_condition *c = &f->conditions.data[i];

		if (field_passes(c->field, of, &c->test) == c->without)
			return false;
	}
	return true;
}

struct error *task_filter_apply(struct arena *a, const struct snapshot *s,
                                const struct task_filter *f, const struct task ***ret, size_t *n)
{
	const struct task **tasks = NEW_ARRAY(a, const struct task *, s->ntasks);
	size_t found = 0;
	SCRATCH(tmp);

	for (size_t i = 0; i < s->ntasks; i++) {
		struct field_of of = { &tmp, s, s->tasks[i] };

		TRY(interrupt_check());
		if (matches(f, &of))
			tasks[found++] = s->tasks[i];
		arena_reset(&tmp);
	}
	*ret = tasks;
	*n = found;
	return NULL;
}

void task_filter_free(struct task_filter *f)
{
	for (size_t i = 0; i < f->conditions.n; i++)
		field_test_free(&f->conditions.data[i].test);
	vec_free(&f->conditions);
}
