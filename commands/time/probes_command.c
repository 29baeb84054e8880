/* probes: where the events of a program can be traced. */
#include "commands/time/time.h"
#include "debugger/probe/probe.h"
#include "runtimes/trace/plan.h"

static struct error *run(struct session *s, const struct answer *answer, const struct call *call,
                         struct out *out)
{
	struct trace_plan *plan = NEW(&out->arena, struct trace_plan);
	struct snapshot *layouts;
	const char *why;

	(void)call;
	if (!asyncdbg_inspector(s->handle))
		return error_new(ERR_USAGE, "probes needs a program: -p PID, or an executable");
	if (!probes_are_built(&why))
		return error_new(ERR_UNSUPPORTED, "there are no probes: %s", why);
	/* The layouts are resolved by a snapshot. */
	TRY(inspect(asyncdbg_inspector(s->handle), WANT_LAYOUT, NULL, &layouts));
	snapshot_free(layouts);
	TRY(trace_plan_make(asyncdbg_inspector(s->handle), option_has(call, "allow-slow"),
	                    &out->arena, plan));
	out_begin(out, answer);
	out->ops->probes(out, plan);
	return NULL;
}

static const struct command_option options[] = {
	{ "allow-slow", NULL, false, "Also points that the processor must single-step" },
	{ 0 },
};

const struct command probes_command = {
	.name = "probes",
	.options = options,
	.summary = "The places in the code at which trace would observe events",
	.help = "    An executable that does not run will do: asyncdbg ./app probes",
	.offline = true,
	.of_program = true,
	.run = run,
};
