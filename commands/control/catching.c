/* catch */
#include <string.h>

#include "commands/base/interval.h"
#include "commands/control/breaking.h"
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
		return error_new(
			ERR_USAGE,
			"nothing is called \"%s\" that can be caught: panic, task-panic or "
			"deadlock",
			call->args.word[0]);
	TRY(interval_option(call, "every", &seconds));
	ret->every_ns = (uint64_t)(seconds * nsec);
	if ((ret->event == EVENT_BREAK_DEADLOCK) == (every != NULL))
		return NULL;
	return error_new(ERR_USAGE,
	                 every ? "only catch deadlock takes --every"
	                       : "catch deadlock needs --every TIME: how often it looks");
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
	return breaking_add(s, answer, &options, out);
}

static const struct command_option catch_options[] = {
	{ "every", "TIME", false, "Of deadlock: how often it looks while the program runs" },
	{ 0 },
};

const struct command catch_command = {
	.name = "catch",
	.args = "panic|task-panic|deadlock",
	.min_args = 1,
	.max_args = 1,
	.options = catch_options,
	.check = check_catch,
	.summary = "Stop the program under control at a panic or a deadlock",
	.help = "    panic: any one, before it unwinds; the task and the message are shown. "
		"task-panic:\n"
		"    one that ends a task, because nobody but the runtime catches it. deadlock: "
		"the\n"
		"    program is looked at each TIME, as async deadlocks does, and stops when tasks "
		"or\n"
		"    threads certainly wait for each other. A catch is a breakpoint with a number.",
	.offline = true,
	.run = run_catch,
};
