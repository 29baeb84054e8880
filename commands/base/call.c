#include "commands/base/call.h"

#include <string.h>

bool option_has(const struct call *call, const char *name)
{
	for (size_t i = 0; i < call->noptions; i++) {
		if (strcmp(call->options[i].option->name, name) == 0)
			return true;
	}
	return false;
}

const char *option_value(const struct call *call, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < call->noptions; i++) {
		const struct chosen_option *o = &call->options[i];

		if (strcmp(o->option->name, name) == 0 && o->values)
			value = o->values[0];
	}
	return value;
}

/* The argument that is the output file; NULL when the command takes none or it is missing. */
static const char *file_argument(const struct call *call)
{
	const struct command *c = call->command;

	return c->last_is_output && call->args.n && call->args.n == c->max_args
	               ? call->args.word[call->args.n - 1]
	               : NULL;
}

const char *output_file_of(const struct call *call)
{
	const char *option = option_value(call, "output");

	return option ? option : file_argument(call);
}

struct error *call_check_output(const struct call *call)
{
	const char *option = option_value(call, "output"), *argument = file_argument(call);

	if (option && argument)
		return error_new(ERR_USAGE, "\"%s\" writes one file: %s or %s", call->command->name,
		                 argument, option);
	if (!option && !argument)
		return error_new(ERR_USAGE, "say which file to write: %s %s", call->command->name,
		                 call->command->args);
	return words_file(option ? option : argument);
}
