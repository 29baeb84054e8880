/* catch */
#include <string.h>

#include "commands/base/interval.h"
#include "commands/control/break_cmd.h"
#include "commands/control/control.h"

static bool kind_named(const char *word, enum event_break_kind *ret)
{
	for (enum event_break_kind kind = 0; kind < EVENT_BREAK_NKINDS; kind++) {
		if (!event_break_is_catch(kind) || strcmp(event_break_name(kind), word) != 0)
			continue;
		*ret = kind;
		return true;
	}
	return false;
}

static struct error *read_catch(const struct call *call, struct breakpoint_options *ret)
{
	const double nsec = 1e9;
	const char *every = option_value(call, "every");
	double seconds = 0;

	*ret = (struct breakpoint_options){ .text = "" };
	if (!kind_named(call->args.word[0], &ret->event))
		return error_new(ERR_USAGE,
		                 "\"%s\" cannot be caught: use panic, task-panic or deadlock",
		                 call->args.word[0]);
	TRY(interval_option(call, "every", &seconds));
	ret->every_ns = (uint64_t)(seconds * nsec);
	if ((ret->event == EVENT_BREAK_DEADLOCK) == (every != NULL))
		return NULL;
	return error_new(ERR_USAGE,
	                 every ? "--every is only for catch deadlock"
	                       : "catch deadlock needs --every TIME: how often to check");
}

static struct error *check_catch(const struct call *call)
{
	struct breakpoint_options options;

	return read_catch(call, &options);
}

static struct error *run_catch(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	struct breakpoint_options options;

	TRY(read_catch(call, &options));
	if (options.every_ns)
		options.text = arena_printf(&s->answer, "--every %s", option_value(call, "every"));
	return break_cmd_add(s, answer, &options, out);
}

static const struct command_option catch_options[] = {
	{ "every", "TIME", false, "For deadlock: how often to check while the program runs" },
	{ 0 },
};

const struct command catch_command = {
	.name = "catch",
	.args = "panic|task-panic|deadlock",
	.min_args = 1,
	.max_args = 1,
	.options = catch_options,
	.check = check_catch,
	.summary = "Stop at a panic or a deadlock",
	.help = "    panic: any panic, before it unwinds; the task and the message are shown.\n"
		"    task-panic: a panic that ends a task, because only the runtime catches it.\n"
		"    deadlock: every TIME the program is checked as by async deadlocks, and\n"
		"    stops if tasks or threads are certainly deadlocked. A catchpoint has a\n"
		"    number, like a breakpoint.",
	.offline = true,
	.run = run_catch,
};
