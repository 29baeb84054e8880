#include "commands/shell/option.h"

#include <ctype.h>
#include <string.h>

#include "commands/shell/command.h"
#include "debugger/base/nearest.h"
#include "debugger/base/str.h"

const char *const option_verbose[2] = { "-v", "--verbose" };

static bool is_verbose(const char *word)
{
	return strcmp(word, option_verbose[0]) == 0 || strcmp(word, option_verbose[1]) == 0;
}

static bool option_is_long(const char *word)
{
	return strncmp(word, "--", 2) == 0;
}

struct words option_words_before(struct arena *a, const struct words *words)
{
	struct words plain = { NEW_ARRAY(a, const char *, words->n + 1), 0 };

	for (size_t i = 0; i < words->n; i++) {
		if (i && is_verbose(words->word[i]))
			continue;
		if (i && option_is_long(words->word[i]))
			break;
		plain.word[plain.n++] = words->word[i];
	}
	return plain;
}

/* "-o" */
static bool is_letter(const char *word)
{
	return word[0] == '-' && isalpha((unsigned char)word[1]) && !word[2];
}

/* Finds an option by name; NULL: unknown. *value: the text after `=`, else NULL. */
static const struct command_option *option_named(const struct command *command, const char *word,
                                                 const char **value)
{
	size_t len = strcspn(word, "=");

	*value = word[len] ? word + len + 1 : NULL;
	for (const struct command_option *o = command->options; o && o->name; o++) {
		if (option_is_long(word) && strlen(o->name) + 2 == len &&
		    memcmp(o->name, word + 2, len - 2) == 0)
			return o;
		if (strcmp(word, "-o") == 0 && strcmp(o->name, "output") == 0)
			return o;
	}
	return NULL;
}

/* The number of words of an option's value: those of its description in the table. */
static size_t value_words(const struct command_option *o)
{
	size_t n = o->arg != NULL;

	for (const char *p = o->arg; p && *p; p++)
		n += *p == ' ';
	return n;
}

size_t option_words(const struct command *command, const struct words *rest)
{
	const char *value;
	const struct command_option *o =
		rest->n ? option_named(command, rest->word[0], &value) : NULL;

	if (!o)
		return 0;
	size_t n = 1 + value_words(o) - (value && o->arg);
	return n < rest->n ? n : rest->n;
}

static bool command_writes(const struct command *command)
{
	for (const struct command_option *o = command->options; o && o->name; o++) {
		if (strcmp(o->name, "output") == 0)
			return true;
	}
	return false;
}

/* The error for -o with a command that does not take it: names the commands that do. */
static struct error *output_file_writes_none(const struct command *command)
{
	STR(list);

	for (const struct command *const *c = command_table; *c; c++) {
		if (command_writes(*c))
			str_printf(&list, "%s%s", list.len ? ", " : "", (*c)->name);
	}
	return error_new(ERR_USAGE, "\"%s\" does not write a file; these commands do: %s",
	                 command->name, str_text(&list));
}

static struct error *unknown_option(const struct command *command, const char *word, size_t len)
{
	struct nearest nearest = { .typed = word };
	const char *best = NULL;
	SCRATCH(tmp);

	if (strcmp(word, "-o") == 0 || (len == 8 && strncmp(word, "--output", len) == 0))
		return output_file_writes_none(command);
	if (command->verbose &&
	    nearest_offer(&nearest, option_verbose[1], strlen(option_verbose[1])))
		best = option_verbose[1];
	for (const struct command_option *o = command->options; o && o->name; o++) {
		const char *name = arena_printf(&tmp, "--%s", o->name);

		if (nearest_offer(&nearest, name, strlen(name)))
			best = name;
	}
	if (best)
		return error_new(ERR_USAGE, "\"%s\" has no option %.*s; did you mean %s?",
		                 command->name, (int)len, word, best);
	return error_new(ERR_USAGE, "\"%s\" has no option %.*s; \"help %s\" lists its options",
	                 command->name, (int)len, word, command->name);
}

/* Parses the option at words[*i] with its values and sets *i to its last word. */
static struct error *take_option(struct arena *a, const struct words *words, size_t *i,
                                 struct call *call)
{
	const char *word = words->word[*i], *value;
	const struct command_option *o = option_named(call->command, word, &value);
	size_t name = strcspn(word, "="), n = o ? value_words(o) : 0;

	if (!o)
		return unknown_option(call->command, word, name);
	if (!o->multiple && option_has(call, o->name))
		return error_new(ERR_USAGE, "--%s may be given only once", o->name);
	if (value && !o->arg)
		return error_new(ERR_USAGE, "--%s takes no value", o->name);
	if (words->n - *i - 1 + (value != NULL) < n)
		return error_new(ERR_USAGE, "--%s needs a value: --%s %s", o->name, o->name,
		                 o->arg);

	const char **values = n ? NEW_ARRAY(a, const char *, n) : NULL;

	for (size_t k = 0; k < n; k++)
		values[k] = k == 0 && value ? value : words->word[++*i];
	call->options[call->noptions++] = (struct chosen_option){ o, values };
	return NULL;
}

struct error *option_take_all(struct arena *a, const struct words *words, size_t name_words,
                              struct call *ret)
{
	bool all_are_args = false;

	ret->args = (struct words){ NEW_ARRAY(a, const char *, words->n + 1), 0 };
	ret->options = NEW_ARRAY(a, struct chosen_option, words->n + 1);
	ret->noptions = 0;
	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->word[i];

		if (i && !all_are_args && is_verbose(word))
			ret->verbose = true;
		else if (name_words)
			name_words--;
		else if (all_are_args || (!option_is_long(word) && !is_letter(word)))
			ret->args.word[ret->args.n++] = word;
		else if (is_letter(word) || word[2])
			TRY(take_option(a, words, &i, ret));
		else
			all_are_args = true;
	}
	return NULL;
}

void option_complete(struct arena *a, const struct command *command, const char *partial,
                     void (*found)(const char *word, void *arg), void *arg)
{
	size_t len = strlen(partial);

	for (size_t i = 0; command->verbose && i < 2; i++) {
		if (strncmp(option_verbose[i], partial, len) == 0)
			found(option_verbose[i], arg);
	}
	for (const struct command_option *o = command->options; o && o->name; o++) {
		const char *word = arena_printf(a, "--%s", o->name);

		if (strncmp(word, partial, len) == 0)
			found(word, arg);
	}
}
