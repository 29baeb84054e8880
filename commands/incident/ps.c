/* ps: the async processes of this machine. */
#include "commands/incident/incident.h"
#include "runtimes/survey/async_processes.h"

static struct error *run(struct session *s, const struct answer *answer, const struct call *call,
                         struct out *out)
{
	struct async_processes_options options = { .tasks = option_has(call, "tasks") };
	/* The output borrows it until the answer ends. */
	struct async_processes *list = NEW(&s->answer, struct async_processes);

	if (s->options)
		options.session = *s->options;
	options.session.pid = 0;
	options.session.file = options.session.program = NULL;
	options.session.target.exe = options.session.inspector.layout = NULL;
	TRY(async_processes_read(&s->answer, &options, list));
	out_begin(out, answer);
	out->ops->processes(out, list);
	s->finding = list->denied ? STATUS_PARTIAL : STATUS_OK;
	return NULL;
}

static const struct command_option options[] = {
	{ "tasks", NULL, false, "Count the tasks of all processes" },
	{ 0 },
};

const struct command ps_command = {
	.name = "ps",
	.options = options,
	.summary =
		"The async processes of this machine: executor, tasks, debug info, missing rights",
	.help = "    A process is listed when its executable or one of its libraries contains an\n"
		"    executor that asyncdbg can read or knows by name. No process is stopped.\n"
		"    TASKS is the runtimes' own count: of the first 4 and, while that takes no\n"
		"    longer than 80 ms, of those whose program the cache knows.",
	.offline = true,
	.run = run,
};
