/* -o: the file that a command writes. */
#include <string.h>

#include "commands/base/call.h"
#include "debugger/base/str.h"

/* The argument that is the file; NULL when it takes none, or lacks it. */
static const char *file_argument(const struct call *call)
{
	const struct command *c = call->command;

	return c->last_is_output && call->args.n && call->args.n == c->max_args
	               ? call->args.word[call->args.n - 1]
	               : NULL;
}

const char *call_output(const struct call *call)
{
	const char *option = call_option(call, "output");

	return option ? option : file_argument(call);
}

struct error *check_output(const struct call *call)
{
	const char *option = call_option(call, "output"), *argument = file_argument(call);

	if (option && argument)
		return error_new(ERR_USAGE, "\"%s\" writes one file: %s or %s", call->command->name,
		                 argument, option);
	if (!option && !argument)
		return error_new(ERR_USAGE, "say which file to write: %s %s", call->command->name,
		                 call->command->args);
	return word_file(option ? option : argument);
}

static bool command_writes(const struct command *command)
{
	for (const struct command_option *o = command->options; o && o->name; o++) {
		if (strcmp(o->name, "output") == 0)
			return true;
	}
	return false;
}

struct error *writes_no_file(const struct command *command)
{
	STR(list);

	for (const struct command *const *c = command_table; *c; c++) {
		if (command_writes(*c))
			str_printf(&list, "%s%s", list.len ? ", " : "", (*c)->name);
	}
	return error_new(ERR_USAGE, "\"%s\" writes no file; those that do: %s", command->name,
	                 str_text(&list));
}
