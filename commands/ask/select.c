#include "commands/ask/select.h"

#include <string.h>

#include "commands/parts/parts.h"
#include "runtimes/analysis/task_filter.h"

static struct error *select_read_conditions(const struct call *call, struct task_filter *ret)
{
	for (size_t i = 0; i < call->noptions; i++) {
		const struct chosen_option *o = &call->options[i];
		bool without = strcmp(o->option->name, "without") == 0;

		if (without || strcmp(o->option->name, "with") == 0)
			TRY(task_filter_add(ret, o->values[0], o->values[1], without));
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
	struct task_filter ignored_filter CLEANUP(task_filter_free) = { 0 };
	struct selection ignored = { 0 };

	TRY(select_read_conditions(call, &ignored_filter));
	return parse_limit(call, &ignored);
}

struct error *select_tasks(struct arena *a, const struct snapshot *s, const struct call *call,
                           struct selection *ret)
{
	struct task_filter filter CLEANUP(task_filter_free) = { 0 };

	*ret = (struct selection){ .total = s->ntasks, .total_jobs = s->njobs };
	TRY(select_read_conditions(call, &filter));
	TRY(parse_limit(call, ret));
	ret->filtered = filter.conditions.n > 0;
	TRY(task_filter_apply(a, s, &filter, &ret->tasks, &ret->n));
	return task_filter_jobs(a, s, &filter, &ret->jobs, &ret->njobs);
}

size_t select_njobs(const struct selection *chosen)
{
	size_t left = chosen->n < chosen->limit ? chosen->limit - chosen->n : 0;

	return chosen->njobs < left ? chosen->njobs : left;
}

void select_shown(const struct selection *chosen, struct out *out)
{
	struct shown *shown = NEW(&out->arena, struct shown);

	*shown = (struct shown){
		.total = chosen->total,
		.matched = chosen->n,
		.tasks = chosen->n < chosen->limit ? chosen->n : chosen->limit,
		.filtered = chosen->filtered,
		.total_jobs = chosen->total_jobs,
		.matched_jobs = chosen->njobs,
		.jobs = select_njobs(chosen),
	};
	if (shown->filtered || shown->tasks < shown->matched || shown->jobs < shown->matched_jobs)
		part_shown(out, shown);
}
