/* next, step, finish, until, nexti */
#include <stdint.h>

#include "commands/control/control.h"
#include "commands/control/stop.h"

static bool is_counted(const struct call *call)
{
	return call->command != &until_command && call->command != &finish_command;
}

static struct error *read_arguments(const struct call *call, struct step_options *options,
                                    uint64_t *count)
{
	uint64_t number = 0;

	*count = 1;
	if (call->args.n && is_counted(call))
		return words_number(call->args.word[0], "a number of steps", UINT32_MAX, count);
	if (call->args.n)
		TRY(words_number(call->args.word[0], "a line", UINT32_MAX, &number));
	options->line = (unsigned)number;
	return NULL;
}

static struct error *check_step(const struct call *call)
{
	struct step_options options;
	uint64_t count;

	return read_arguments(call, &options, &count);
}

static enum step_kind stepping_kind_of(const struct command *command)
{
	if (command == &step_command)
		return STEP_INTO;
	if (command == &finish_command)
		return STEP_FINISH;
	if (command == &until_command)
		return STEP_UNTIL;
	return command == &nexti_command ? STEP_INSTRUCTION : STEP_NEXT;
}

static struct error *run_step(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	struct step_options options = { .kind = stepping_kind_of(call->command) };
	uint64_t count;

	TRY(stop_need_program(s));
	TRY(read_arguments(call, &options, &count));
	options.spawned = call->command == &step_command && option_has(call, "spawned");
	options.whole = call->command == &finish_command && option_has(call, "whole");
	options.all_code = call->command != &nexti_command && option_has(call, "all-code");
	options.tid = s->focus ? s->focus : s->debuggee.control.pid;
	return stop_step(s, &options, count, answer, out);
}

static const struct command_option step_options[] = {
	{ "all-code", NULL, false, "Stop in library code, too" },
	{ 0 },
};

static const struct command_option finish_options[] = {
	{ "whole", NULL, false, "Run until the task that the thread is running has finished" },
	{ "all-code", NULL, false, "Stop in library code, too" },
	{ 0 },
};

static const struct command_option into_options[] = {
	{ "spawned", NULL, false, "Stop at the first line of a task spawned by the line" },
	{ "all-code", NULL, false, "Stop in library code, too" },
	{ 0 },
};

const struct command next_command = {
	.name = "next",
	.args = "[N]",
	.max_args = 1,
	.options = step_options,
	.check = check_step,
	.summary = "Step to the next line of the function, over calls and awaits; N times",
	.help = "    In an async function it runs until the same instance reaches another line,\n"
		"    on whatever thread it is resumed, or reports how the instance ended:\n"
		"    returned, dropped, cancelled or panicked. All threads run meanwhile; ^C\n"
		"    ends the step. Variables whose values have changed are shown. From a\n"
		"    library it returns to your own code or, if none is on the stack, steps\n"
		"    through that library's package.",
	.offline = true,
	.stays = true,
	.repeats = true,
	.run = run_step,
};

const struct command step_command = {
	.name = "step",
	.args = "[N]",
	.max_args = 1,
	.options = into_options,
	.check = check_step,
	.summary = "Step to the next line, into functions and awaited async functions; N times",
	.help = "    Library code is stepped over.",
	.offline = true,
	.stays = true,
	.repeats = true,
	.run = run_step,
};

const struct command finish_command = {
	.name = "finish",
	.options = finish_options,
	.check = check_step,
	.summary = "Run until the function returns (async: until it completes)",
	.help = "    An async function runs until this instance is ready, and control is back\n"
		"    in the code that awaits it. The returned value is shown, or why it is\n"
		"    unknown.",
	.offline = true,
	.stays = true,
	.repeats = true,
	.run = run_step,
};

const struct command until_command = {
	.name = "until",
	.args = "[LINE]",
	.max_args = 1,
	.options = step_options,
	.check = check_step,
	.summary = "Run to a later line of the function, or to LINE or beyond",
	.help = "    At the end of a loop, this leaves the loop.",
	.offline = true,
	.stays = true,
	.repeats = true,
	.run = run_step,
};

const struct command nexti_command = {
	.name = "nexti",
	.args = "[N]",
	.max_args = 1,
	.check = check_step,
	.summary = "Execute one instruction, or N, over calls",
	.help = "    Other threads are stopped, but run during a call.",
	.offline = true,
	.stays = true,
	.repeats = true,
	.run = run_step,
};
