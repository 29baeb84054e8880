/* types, type: what the debug info says about types. */
#include <stdint.h>

#include "commands/ask/ask.h"

enum { DEFAULT_LIMIT = 50 };

static struct error *read_limit(const struct call *call, size_t *ret)
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

	return read_limit(call, &limit);
}

static struct error *run_types(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	struct type_list *list = NEW(&out->arena, struct type_list);
	size_t limit;

	TRY(read_limit(call, &limit));
	TRY(asyncdbg_types(s->handle, call->args.word[0], limit, &out->arena, list));
	out_begin(out, answer);
	out->ops->types(out, list);
	return NULL;
}

static struct error *run_type(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	struct type_info *info = NEW(&out->arena, struct type_info);

	TRY(asyncdbg_type(s->handle, call->args.word[0], &out->arena, info));
	out_begin(out, answer);
	out->ops->type(out, info);
	return NULL;
}

static const struct command_option types_options[] = {
	{ "limit", "N", false, "Only the first N types; 50 without it, 0 for all" },
	{ 0 },
};

const struct command types_command = {
	.name = "types",
	.args = "REGEX",
	.min_args = 1,
	.max_args = 1,
	.options = types_options,
	.check = check_types,
	.summary = "The types whose names match, with their sizes",
	.help = "    REGEX is an extended regular expression, see regex(7); it is searched for in\n"
		"    whole names with their paths: types '^app::', types 'Conn.*Pool'.\n"
		"    An executable that does not run will do: asyncdbg ./app types REGEX",
	.offline = true,
	.of_program = true,
	.run = run_types,
};

const struct command type_command = {
	.name = "type",
	.args = "NAME",
	.min_args = 1,
	.max_args = 1,
	.summary = "A type: its members with their offsets, its variants or states",
	.help = "    NAME is a whole path with generics, or its end if only one type has it, or "
		"an\n"
		"    async function: its states, with the variables that are kept in each. An\n"
		"    executable that does not run will do, as for types.",
	.offline = true,
	.of_program = true,
	.run = run_type,
};
