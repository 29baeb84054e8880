/* ps: the async processes of this machine. */
#include "commands/incident/incident.h"
#include "commands/parts/parts.h"
#include "runtimes/executor_detect/async_processes.h"

static struct error *ps_run(struct session *s, const struct answer *answer, const struct call *call,
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
	part_processes(out, list);
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
	.summary = "List async processes on this machine: executor, tasks, debug info, missing "
		   "permissions",
	.help = "    Lists processes whose executable, or one of its libraries, contains an\n"
		"    executor that asyncdbg can read or at least knows. No process is stopped.\n"
		"    TASKS is the runtimes' own count, of the first 4 processes and, as long as\n"
		"    that takes less than 80 ms, of those whose program is in the cache.",
	.offline = true,
	.run = ps_run,
};
