#include "commands/command.h"

static struct error *run_help(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	const struct command *command;
	size_t depth;

	(void)s;
	if (call->args.n) {
		TRY(command_named(command_table, &call->args, &command, &depth));
		out_begin(out, answer);
		out->ops->help(out, command, HELP_FULL);
		return NULL;
	}
	out_begin(out, answer);
	for (const struct command *const *c = command_table; *c; c++)
		out->ops->help(out, *c, HELP_ROW);
	return NULL;
}

static struct error *run_quit(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	(void)answer;
	(void)call;
	(void)out;
	s->quit = true;
	return NULL;
}

enum { MAX_COMMAND_WORDS = 3 };

const struct command help_command = {
	.name = "help",
	.args = "[COMMAND]",
	.max_args = MAX_COMMAND_WORDS,
	.summary = "All commands, or one of them",
	.offline = true,
	.run = run_help,
};

const struct command quit_command = {
	.name = "quit",
	.summary = "Leave; a live target goes on running",
	.offline = true,
	.run = run_quit,
};
