/* types, type: types in the debug info. */
#include <stdint.h>

#include "commands/ask/ask.h"
#include "commands/parts/parts.h"

enum { DEFAULT_LIMIT = 50 };

static struct error *types_read_limit(const struct call *call, size_t *ret)
{
	const char *word = option_value(call, "limit");
	uint64_t limit = DEFAULT_LIMIT;

	if (word)
		TRY(words_number(word, "a number of types", SIZE_MAX - 1, &limit));
	*ret = limit ? (size_t)limit : SIZE_MAX;
	return NULL;
}

static struct error *check_types(const struct call *call)
{
	size_t limit;

	return types_read_limit(call, &limit);
}

static struct error *run_types(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	struct type_list *list = NEW(&out->arena, struct type_list);
	size_t limit;

	TRY(types_read_limit(call, &limit));
	TRY(asyncdbg_types(s->handle, call->args.word[0], limit, &out->arena, list));
	out_begin(out, answer);
	part_types(out, list);
	return NULL;
}

static struct error *run_type(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	struct type_info *info = NEW(&out->arena, struct type_info);

	TRY(asyncdbg_type(s->handle, call->args.word[0], &out->arena, info));
	out_begin(out, answer);
	part_type(out, info);
	return NULL;
}

static const struct command_option types_options[] = {
	{ "limit", "N", false, "Show only the first N types; default 50, 0 for all" },
	{ 0 },
};

const struct command types_command = {
	.name = "types",
	.args = "REGEX",
	.min_args = 1,
	.max_args = 1,
	.options = types_options,
	.check = check_types,
	.summary = "List types whose names match, with their sizes",
	.help = "    REGEX is an extended regular expression, see regex(7), matched anywhere in\n"
		"    full names with paths: types '^app::', types 'Conn.*Pool'. An executable\n"
		"    is enough:\n"
		"        asyncdbg ./app types REGEX",
	.offline = true,
	.of_program = true,
	.run = run_types,
};

const struct command type_command = {
	.name = "type",
	.args = "NAME",
	.min_args = 1,
	.max_args = 1,
	.summary = "Show a type: members with offsets, variants or coroutine states",
	.help = "    NAME is a full path with generics, the end of one if it is unique, or an\n"
		"    async function: its states are shown with the variables kept in each. An\n"
		"    executable is enough, as for types.",
	.offline = true,
	.of_program = true,
	.run = run_type,
};
