/* help, quit. */
#include "commands/out/out.h"
#include "commands/shell/command.h"

static struct error *run_help(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	const struct command **family;
	size_t n;

	if (call->args.n) {
		TRY(command_family(&s->answer, command_table, &call->args, &family, &n));
		out_begin(out, answer);
		for (size_t i = 0; i < n; i++)
			out->ops->help(out, family[i], n > 1 ? HELP_ROW : HELP_FULL);
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
