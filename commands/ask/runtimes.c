/* runtimes: the table of the async runtimes in the program. */
#include "commands/ask/ask.h"
#include "commands/parts/parts.h"

static struct error *run_runtimes(struct session *s, const struct answer *answer,
                                  const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	(void)s;
	(void)call;
	out_begin(out, answer);
	for (size_t i = 0; i < snap->nruntimes; i++)
		part_runtime(out, &snap->runtimes[i], RUNTIME_ROW);
	return NULL;
}

const struct command runtimes_command = {
	.name = "runtimes",
	.summary = "List runtimes, one per line: flavor, workers, tasks, queues",
	.wants = WANT_TASKS,
	.run = run_runtimes,
};
