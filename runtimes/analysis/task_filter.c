#include "runtimes/analysis/task_filter.h"

#include "runtimes/analysis/job.h"

struct error *task_filter_add(struct task_filter *f, const char *field, const char *value,
                              bool without)
{
	struct task_condition *c = vec_push(&f->conditions);

	c->without = without;
	TRY(field_find(field, &c->field));
	return field_test_parse(c->field, value, &c->test);
}

static bool task_filter_matches(const struct task_filter *f, const struct field_of *of)
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
		struct field_of of = { &tmp, s, s->tasks[i], NULL };

		TRY(interrupt_check());
		if (task_filter_matches(f, &of))
			tasks[found++] = s->tasks[i];
		arena_reset(&tmp);
	}
	*ret = tasks;
	*n = found;
	return NULL;
}

struct error *task_filter_jobs(struct arena *a, const struct snapshot *s,
                               const struct task_filter *f, const struct job ***ret, size_t *n)
{
	const struct job **jobs = NEW_ARRAY(a, const struct job *, s->njobs + 1);
	size_t found = 0;
	SCRATCH(tmp);

	for (size_t i = 0; i < s->njobs; i++) {
		struct task task;
		struct field_of of = { &tmp, s, &task, &s->jobs[i] };

		TRY(interrupt_check());
		job_as_task(s, &s->jobs[i], &task);
		if (task_filter_matches(f, &of))
			jobs[found++] = &s->jobs[i];
		arena_reset(&tmp);
	}
	*ret = jobs;
	*n = found;
	return NULL;
}

void task_filter_free(struct task_filter *f)
{
	for (size_t i = 0; i < f->conditions.n; i++)
		field_test_free(&f->conditions.data[i].test);
	vec_free(&f->conditions);
}
