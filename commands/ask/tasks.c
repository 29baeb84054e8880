/* tasks: the table of tasks, or counts of them by a field. */
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/ask/each.h"
#include "commands/ask/select.h"
#include "commands/base/words.h"
#include "commands/parts/parts.h"
#include "runtimes/analysis/count_by.h"

static struct error *tasks_check(const struct call *call)
{
	const char *name = option_value(call, "group");
	const struct field *field;

	TRY(select_check(call));
	TRY(each_check(call));
	if (!name)
		return NULL;
	TRY(field_find(name, &field));
	if (!field->value)
		return error_new(ERR_USAGE, "tasks cannot be grouped by %s", name);
	if (option_has(call, "exec"))
		return error_new(ERR_USAGE, "--group and --exec cannot be combined");
	return NULL;
}

static struct error *show_rows(const struct selection *chosen, struct out *out)
{
	for (size_t i = 0; i < chosen->n && i < chosen->limit; i++) {
		TRY(out_check(out));
		out->ops->task(out, chosen->tasks[i], TASK_ROW);
	}
	for (size_t i = 0; i < select_njobs(chosen); i++) {
		TRY(out_check(out));
		out->ops->job(out, chosen->jobs[i], TASK_ROW);
	}
	return NULL;
}

/* Prints counts by the value of a field; --limit limits the rows. */
static void show_count_by(const struct snapshot *snap, const struct selection *chosen,
                          const char *name, struct out *out)
{
	struct count_by *tally = NEW(&out->arena, struct count_by);
	struct shown *shown = NEW(&out->arena, struct shown);
	const struct field *field = NULL;
	struct error *err CLEANUP(error_freep) = field_find(name, &field);

	if (err)
		return;
	count_by_make(&out->arena, snap, field, chosen->tasks, chosen->n, tally);
	*shown = (struct shown){ .total = chosen->total,
		                 .matched = chosen->n,
		                 .filtered = chosen->filtered,
		                 .groups = tally->nrows };
	shown->groups_shown = tally->nrows < chosen->limit ? tally->nrows : chosen->limit;
	for (size_t i = 0; i < shown->groups_shown; i++)
		shown->tasks += tally->rows[i].count.tasks;
	part_shown(out, shown);
	part_count_by(out, tally, shown->groups_shown);
}

static struct error *tasks_run(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	const char *group = option_value(call, "group");
	struct selection chosen;

	TRY(select_tasks(&out->arena, answer->snapshot, call, &chosen));
	if (option_has(call, "exec"))
		return each_run(s, answer, call, &chosen, out);
	out_begin(out, answer);
	if (group) {
		show_count_by(answer->snapshot, &chosen, group, out);
		return NULL;
	}
	TRY(show_rows(&chosen, out));
	select_shown(&chosen, out);
	return NULL;
}

static const struct command_option options[] = {
	{ "group", "FIELD", false, "Count the tasks for each value of FIELD" },
	SELECT_OPTIONS,
	EACH_OPTION,
	{ 0 },
};

const struct command tasks_command = {
	.name = "tasks",
	.options = options,
	.check = tasks_check,
	.summary = "List tasks, one per line: state, where each awaits, what it waits for",
	.help = "    AWAITING AT is the innermost line in your own code. (+N more) after\n"
		"    WAITING ON: the task waits for N more things at the same time. Jobs of\n"
		"    blocking pools follow, with KIND blocking.\n" SELECT_HELP,
	.wants = WANT_TASKS | WANT_RUNNING,
	.wants_of = each_wants,
	.repeats = true,
	.run = tasks_run,
};
