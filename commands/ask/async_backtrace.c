/* async backtrace, async backtrace all: stacks of the tasks, and of the threads of the runtimes. */
#include "commands/ask/ask.h"
#include "commands/ask/select.h"
#include "commands/parts/parts.h"
#include "runtimes/analysis/group.h"
#include "runtimes/analysis/group_lines.h"

/* The order in which threads are printed. */
static const enum thread_role role_order[] = { THREAD_BLOCK_ON, THREAD_WORKER, THREAD_BLOCKING };

static bool is_busy(const struct thread_info *th)
{
	return th->role != THREAD_BLOCKING || th->task || th->job || th->root;
}

/*
 * Prints the task that a thread runs. The line of a worker already names the task; lines of other
 * roles do not.
 */
static void running_task(const struct snapshot *snap, const struct thread_info *th, struct out *out)
{
	const struct task *task = th->task ? snapshot_task(snap, th->task, th->number) : NULL;

	if (task)
		out->ops->task(out, task,
		               th->role == THREAD_WORKER ? TASK_ON_THREAD : TASK_BACKTRACE);
}

static struct error *show_threads(const struct snapshot *snap, enum thread_view view,
                                  bool with_tasks, struct out *out)
{
	for (size_t role = 0; role < sizeof(role_order) / sizeof(*role_order); role++) {
		for (size_t i = 0; i < snap->nthreads; i++) {
			const struct thread_info *th = &snap->threads[i];

			if (th->role != role_order[role] || !is_busy(th))
				continue;
			TRY(out_check(out));
			out->ops->thread(out, th, view);
			if (with_tasks)
				running_task(snap, th, out);
		}
	}
	return NULL;
}

static struct error *async_backtrace_run(struct session *s, const struct answer *answer,
                                         const struct call *call, struct out *out)
{
	(void)s;
	(void)call;
	out_begin(out, answer);
	return show_threads(answer->snapshot, THREAD_ASYNC, true, out);
}

static struct error *show_tasks(const struct snapshot *snap, const struct selection *chosen,
                                struct out *out)
{
	size_t end = chosen->n < chosen->limit ? chosen->n : chosen->limit;
	const struct runtime_info *heading = NULL;

	for (size_t i = 0; i < end; i++) {
		const struct task *task = chosen->tasks[i];
		const struct runtime_info *r = task->runtime < snap->nruntimes && !task->undriven
		                                       ? &snap->runtimes[task->runtime]
		                                       : NULL;

		TRY(out_check(out));
		if (snap->nruntimes > 1 && r && r != heading)
			part_runtime(out, r, RUNTIME_HEADING);
		heading = r;
		out->ops->task(out, task, TASK_BACKTRACE);
	}
	/* Running jobs were shown with the threads, if threads were shown. */
	for (size_t i = 0; i < select_njobs(chosen); i++) {
		TRY(out_check(out));
		out->ops->job(out, chosen->jobs[i],
		              chosen->filtered || !chosen->jobs[i]->thread ? TASK_BACKTRACE
		                                                           : TASK_ON_THREAD);
	}
	select_shown(chosen, out);
	return NULL;
}

/*
 * Lines of groups that fit on a screen besides those of threads; tasks from which on they are
 * grouped.
 */
enum { GROUP_LINES = 30, MANY_TASKS = 50 };

static void show_groups(const struct call *call, const struct selection *chosen, struct out *out)
{
	struct arena *a = &out->arena;
	struct groups *g = NEW(a, struct groups);
	struct group_lines *lines = NEW(a, struct group_lines);
	struct shown *shown = NEW(a, struct shown);
	bool all = chosen->all || chosen->has_limit || !out->options.cut;

	groups_make(a, chosen->tasks, chosen->n, g);
	group_lines_choose(a, g, chosen->limit, all ? SIZE_MAX : GROUP_LINES, lines);
	*shown = (struct shown){
		.total = chosen->total,
		.matched = chosen->n,
		.tasks = lines->ntasks,
		.groups = g->ngroups,
		.groups_shown = lines->ngroups,
		.filtered = chosen->filtered,
		.by_default = !option_has(call, "group"),
	};
	part_shown(out, shown);
	part_groups(out, g, lines, chosen->all || out->answer.verbose);
}

static bool is_grouped(const struct call *call, const struct selection *chosen,
                       const struct out *out)
{
	if (option_has(call, "group") || option_has(call, "no-group"))
		return option_has(call, "group");
	return out->options.group && chosen->n > MANY_TASKS;
}

static struct error *async_backtrace_run_all(struct session *s, const struct answer *answer,
                                             const struct call *call, struct out *out)
{
	struct selection chosen;

	(void)s;
	TRY(select_tasks(&out->arena, answer->snapshot, call, &chosen));
	bool grouped = is_grouped(call, &chosen, out);
	out_begin(out, answer);
	/* A condition selects tasks: print no threads. */
	if (!chosen.filtered)
		TRY(show_threads(answer->snapshot, grouped ? THREAD_BRIEF : THREAD_ASYNC, false,
		                 out));
	if (!grouped)
		return show_tasks(answer->snapshot, &chosen, out);
	show_groups(call, &chosen, out);
	return NULL;
}

static struct error *check_all(const struct call *call)
{
	if (option_has(call, "group") && option_has(call, "no-group"))
		return error_new(ERR_USAGE, "--group and --no-group cannot be combined");
	return select_check(call);
}

static const struct command_option all_options[] = {
	{ "group", NULL, false, "Show tasks with identical chains once, with their number" },
	{ "no-group", NULL, false, "Show each task, even if there are many on a terminal" },
	SELECT_OPTIONS,
	{ 0 },
};

const struct command async_backtrace_command = {
	.name = "async backtrace",
	.verbose = true,
	.summary = "Show threads in block_on, workers, and the task each worker is running",
	.help = "    Short: async bt. Threads outside of any runtime are left out; see threads.",
	.wants = WANT_RUNNING,
	.repeats = true,
	.run = async_backtrace_run,
};

const struct command async_backtrace_all_command = {
	.name = "async backtrace all",
	.verbose = true,
	.summary = "Show those and every task of every runtime",
	.help = "    Short: async bt all. Each task is shown as the chain of futures it polls,\n"
		"    outermost first, with the line of each await and what the innermost one\n"
		"    awaits.\n"
		"    With --group, tasks with identical chains are shown once, with their\n"
		"    number; the part that groups have in common is drawn once. On a terminal\n"
		"    this is the default for more than 50 tasks.\n" SELECT_HELP,
	.options = all_options,
	.check = check_all,
	.wants = WANT_TASKS | WANT_RUNNING,
	.repeats = true,
	.run = async_backtrace_run_all,
};
