/* next, finish */
#include "commands/control/control.h"
#include "commands/control/stop.h"

static struct error *run_step(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	struct step_options options = { .kind = STEP_NEXT,
		                        .all_code = option_has(call, "all-code") };

	TRY(stop_need_program(s));
	options.tid = s->focus ? s->focus : s->debuggee.control.pid;
	if (call->command == &finish_command)
		options.kind = STEP_FINISH;
	return stop_step(s, &options, answer, out);
}

static const struct command_option step_options[] = {
	{ "all-code", NULL, false, "Stop in code of libraries, too" },
	{ 0 },
};

const struct command next_command = {
	.name = "next",
	.options = step_options,
	.summary = "Step to the next line of the function, over calls and awaits",
	.help = "    In an async function it goes on until the same instance of it comes to "
		"another\n"
		"    line, on whatever thread it is resumed, or says how it has ended: returned,\n"
		"    dropped, cancelled, panicked. All threads run meanwhile. ^C ends it.",
	.offline = true,
	.stays = true,
	.run = run_step,
};

const struct command finish_command = {
	.name = "finish",
	.options = step_options,
	.summary = "Run until the function returns, an async one for good",
	.help = "    Of an async function: until this instance of it is ready, in what awaits it.",
	.offline = true,
	.stays = true,
	.run = run_step,
};
