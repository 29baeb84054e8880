#include "commands/shell/repeat.h"

#include <string.h>

#include "commands/shell/command.h"
#include "commands/shell/shell.h"
#include "debugger/base/str.h"

/* A word that says how a repeated command continues, and not where: "/4i", "-". */
static bool is_manner(const char *word)
{
	return *word == '/' || strcmp(word, "-") == 0;
}

/* The command without its place. */
static const char *without_place(struct arena *a, const struct call *call)
{
	STR(text);

	str_append(&text, call->command->name);
	for (size_t i = 0; i < call->args.n; i++) {
		if (is_manner(call->args.word[i]))
			str_printf(&text, " %s", call->args.word[i]);
	}
	return arena_strdup(a, str_text(&text));
}

static bool repeats(const struct call *call)
{
	return call->command->repeats && !option_has(call, "exec");
}

const char *repeat_line(struct arena *a, const struct command *const *table, const char *line)
{
	struct shell_line parts;
	struct words *commands;
	struct call call = { 0 };
	size_t n;
	struct error *err CLEANUP(error_freep) = shell_split(a, line, &parts);

	if (!err && (parts.shell || !parts.before))
		return NULL;
	if (!err)
		err = words_split(a, line, &commands, &n);
	if (err || !n)
		return NULL;
	for (size_t i = 0; i < n && !err; i++) {
		err = command_find(a, table, &commands[i], &call);
		if (!err && n == 1 && call.command->goes_on)
			return without_place(a, &call);
		if (!err && !repeats(&call))
			return NULL;
	}
	return err ? NULL : arena_strdup(a, line);
}
