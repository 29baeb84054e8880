#include "commands/shell/short_form.h"

#include <string.h>

static const struct {
	const char *word, *command;
} short_forms[] = {
	{ "a", "async" },  { "b", "break" },  { "bt", "bt" },      { "c", "continue" },
	{ "d", "down" },   { "f", "frame" },  { "fin", "finish" }, { "h", "help" },
	{ "i", "info" },   { "k", "kill" },   { "l", "list" },     { "n", "next" },
	{ "ni", "nexti" }, { "p", "print" },  { "q", "quit" },     { "r", "run" },
	{ "s", "step" },   { "si", "stepi" }, { "tb", "tbreak" },  { "u", "up" },
	{ "x", "x" },
};

const char *short_form(const char *word)
{
	for (size_t i = 0; i < sizeof(short_forms) / sizeof(*short_forms); i++) {
		if (strcmp(short_forms[i].word, word) == 0)
			return short_forms[i].command;
	}
	return NULL;
}

static const struct {
	const char *word, *letters; /* letters: its short form, NULL none */
	const char *instead;
} missing[] = {
	{ "dprintf", NULL,
	  "\"logpoint PLACE 'TEXT {PATH}'\" prints a line whenever the program reaches a place" },
};

struct error *short_form_missing(const char *word)
{
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
		if (strcmp(missing[i].word, word) == 0)
			return error_new(ERR_USAGE, "the command \"%s\" does not exist: %s", word,
			                 missing[i].instead);
		if (missing[i].letters && strcmp(missing[i].letters, word) == 0)
			return error_new(ERR_USAGE,
			                 "\"%s\" is short for \"%s\", which does not exist: %s",
			                 word, missing[i].word, missing[i].instead);
	}
	return NULL;
}

const char *short_form_format(const char *word)
{
	static const char *const names[] = { "x", "disassemble" };
	const char *slash = strchr(word, '/');
	size_t len = slash ? (size_t)(slash - word) : 0;

	for (size_t i = 0; len && i < sizeof(names) / sizeof(*names); i++) {
		/* Unambiguous prefixes of a name count: "disas". */
		if (strncmp(names[i], word, len) == 0 && (len > 3 || len == strlen(names[i])))
			return slash;
	}
	return NULL;
}

struct words short_form_split(struct arena *a, const struct words *words)
{
	const char *format = words->n ? short_form_format(words->word[0]) : NULL;

	if (!format)
		return *words;
	struct words split = { NEW_ARRAY(a, const char *, words->n + 2), 0 };
	split.word[split.n++] = arena_strndup(a, words->word[0], (size_t)(format - words->word[0]));
	split.word[split.n++] = format;
	for (size_t i = 1; i < words->n; i++)
		split.word[split.n++] = words->word[i];
	return split;
}
