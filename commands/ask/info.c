/* info, info layout, info threads: what was read and how completely it was understood. */
#include "commands/ask/ask.h"

static struct error *run_info(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	(void)s;
	(void)call;
	out_begin(out, answer);
	out->ops->summary(out);
	return NULL;
}

static struct error *run_layout(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	(void)s;
	(void)call;
	out_begin(out, answer);
	for (size_t i = 0; i < snap->nlayout; i++)
		out->ops->layout(out, &snap->layout[i]);
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
	.summary = "What is attached and how completely it was understood",
	.wants = WANT_TASKS | WANT_RUNNING | WANT_LAYOUT,
	.repeats = true,
	.run = run_info,
};

const struct command info_layout_command = {
	.name = "info layout",
	.summary = "Every path into the runtime's structures, and which alternative matched",
	.help = "    ok: found; absent: this version has no such thing, which is fine; broken: "
		"needed\n"
		"    and not found, with what was tried.",
	.wants = WANT_LAYOUT,
	.run = run_layout,
};

const struct command info_threads_command = {
	.name = "info threads",
	.summary = "One line a thread: role, runtime, queue, state",
	.wants = WANT_RUNNING,
	.repeats = true,
	.run = run_threads,
};
