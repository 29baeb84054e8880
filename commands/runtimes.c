#include "commands/command.h"

static struct error *run_runtimes(struct session *s, const struct answer *answer,
                                  const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	(void)s;
	(void)call;
	out_begin(out, answer);
	for (size_t i = 0; i < snap->nruntimes; i++)
		out->ops->runtime(out, &snap->runtimes[i], RUNTIME_ROW);
	return NULL;
}

static struct error *run_tasks(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	(void)s;
	(void)call;
	out_begin(out, answer);
	for (size_t i = 0; i < snap->ntasks; i++) {
		TRY(out_check(out));
		out->ops->task(out, snap->tasks[i], TASK_ROW);
	}
	return NULL;
}

const struct command runtimes_command = {
	.name = "runtimes",
	.summary = "One line a runtime: flavor, workers, tasks, queues",
	.wants = WANT_TASKS,
	.run = run_runtimes,
};

const struct command tasks_command = {
	.name = "tasks",
	.summary = "One line a task: state, where it awaits, what it waits on",
	.help = "    AWAITING AT is the innermost line in your own code. (+N more) behind\n"
		"    WAITING ON: the task waits on N more things at the same time.",
	.wants = WANT_TASKS | WANT_RUNNING,
	.run = run_tasks,
};
