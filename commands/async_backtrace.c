#include "commands/command.h"
#include "commands/view.h"

/* The order in which a reader learns what a runtime is doing. */
static const enum thread_role role_order[] = { THREAD_BLOCK_ON, THREAD_WORKER, THREAD_BLOCKING };

static bool is_busy(const struct thread_info *th)
{
	return th->role != THREAD_BLOCKING || th->task || th->job || th->root;
}

/* A worker's line says that it runs the task; other roles say something else. */
static void running_task(const struct snapshot *snap, const struct thread_info *th, struct out *out)
{
	const struct task *task = th->task ? snapshot_task(snap, th->task, th->number) : NULL;

	if (task)
		out->ops->task(out, task,
		               th->role == THREAD_WORKER ? TASK_ON_THREAD : TASK_BACKTRACE);
}

static struct error *show_threads(const struct snapshot *snap, bool with_tasks, struct out *out)
{
	for (size_t role = 0; role < sizeof(role_order) / sizeof(*role_order); role++) {
		for (size_t i = 0; i < snap->nthreads; i++) {
			const struct thread_info *th = &snap->threads[i];

			if (th->role != role_order[role] || !is_busy(th))
				continue;
			TRY(out_check(out));
			out->ops->thread(out, th, THREAD_ASYNC);
			if (with_tasks)
				running_task(snap, th, out);
		}
	}
	return NULL;
}

static struct error *run(struct session *s, const struct answer *answer, const struct call *call,
                         struct out *out)
{
	(void)s;
	(void)call;
	out_begin(out, answer);
	return show_threads(answer->snapshot, true, out);
}

static struct error *show_tasks(const struct snapshot *snap, struct out *out)
{
	const struct runtime_info *heading = NULL;

	for (size_t i = 0; i < snap->ntasks; i++) {
		const struct task *task = snap->tasks[i];
		const struct runtime_info *r =
			task->runtime < snap->nruntimes ? &snap->runtimes[task->runtime] : NULL;

		TRY(out_check(out));
		if (snap->nruntimes > 1 && r && r != heading)
			out->ops->runtime(out, r, RUNTIME_HEADING);
		heading = r;
		out->ops->task(out, task, TASK_BACKTRACE);
	}
	return NULL;
}

static struct error *run_all(struct session *s, const struct answer *answer,
                             const struct call *call, struct out *out)
{
	(void)s;
	(void)call;
	out_begin(out, answer);
	TRY(show_threads(answer->snapshot, false, out));
	return show_tasks(answer->snapshot, out);
}

const struct command async_backtrace_command = {
	.name = "async backtrace",
	.verbose = true,
	.summary = "Threads in block_on, workers, and the task each worker is running",
	.help = "    Short: async bt. Threads that belong to no runtime are left out; see threads.",
	.wants = WANT_RUNNING,
	.run = run,
};

const struct command async_backtrace_all_command = {
	.name = "async backtrace all",
	.verbose = true,
	.summary = "The same, and every task of every runtime",
	.help = "    Short: async bt all. Each task shows the futures it polls, outermost first,\n"
		"    with the line it awaits at; the last one says what the task waits for.",
	.wants = WANT_TASKS | WANT_RUNNING,
	.run = run_all,
};
