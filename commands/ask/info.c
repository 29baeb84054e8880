/* info, info layout, info threads: what was read and how completely it was understood. */
#include "commands/ask/ask.h"
#include "commands/parts/parts.h"

static struct error *info_run(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	(void)s;
	(void)call;
	out_begin(out, answer);
	part_summary(out);
	return NULL;
}

static struct error *info_run_layout(struct session *s, const struct answer *answer,
                                     const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	(void)s;
	(void)call;
	out_begin(out, answer);
	part_layout(out, snap->layout, snap->nlayout);
	return NULL;
}

static struct error *run_threads(struct session *s, const struct answer *answer,
                                 const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	(void)s;
	(void)call;
	out_begin(out, answer);
	for (size_t i = 0; i < snap->nthreads; i++)
		out->ops->thread(out, &snap->threads[i], THREAD_ROW);
	return NULL;
}

const struct command info_command = {
	.name = "info",
	.summary = "Show the target, and how completely it could be read",
	.wants = WANT_TASKS | WANT_RUNNING | WANT_LAYOUT,
	.repeats = true,
	.run = info_run,
};

const struct command info_layout_command = {
	.name = "info layout",
	.summary =
		"Show every path into the runtime's structures, and the alternative that matched",
	.help = "    ok: found; absent: this version does not have it, which is fine; broken:\n"
		"    needed and not found, with the alternatives that were tried.",
	.wants = WANT_LAYOUT,
	.run = info_run_layout,
};

const struct command info_threads_command = {
	.name = "info threads",
	.summary = "List threads, one per line: role, runtime, queue, state",
	.wants = WANT_RUNNING,
	.repeats = true,
	.run = run_threads,
};
