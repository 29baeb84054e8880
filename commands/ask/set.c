/* set: what the user changes. */
#include <string.h>

#include "commands/ask/ask.h"

static struct error *check_set(const struct call *call)
{
	struct source_files none = { 0 };

	if (strcmp(call->args.word[0], "source-map") != 0)
		return error_new(ERR_USAGE, "\"%s\" cannot be set; source-map can",
		                 call->args.word[0]);
	if (call->args.n < 2)
		return error_new(ERR_USAGE, "set source-map needs a map: FROM=TO");
	struct error *err = source_files_add_map(&none, call->args.word[1]);
	source_files_close(&none);
	return err;
}

static struct error *run_set(struct session *s, const struct answer *answer,
                             const struct call *call, struct out *out)
{
	(void)answer;
	(void)out;
	return source_files_add_map(&s->sources, call->args.word[1]);
}

const struct command set_command = {
	.name = "set",
	.args = "source-map FROM=TO",
	.min_args = 1,
	.max_args = 2,
	.check = check_set,
	.summary = "Say where source files are",
	.help = "    set source-map FROM=TO: what the debug info has below the directory FROM is\n"
		"    below TO here, as --source-map says on the command line. Without TO the map "
		"is\n"
		"    gone.",
	.offline = true,
	.of_program = true,
	.run = run_set,
};
