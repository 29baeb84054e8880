#include "commands/shell/short_form.h"

#include <string.h>

static const struct {
	const char *word, *command, *note;
} short_forms[] = {
	{ "a", "async", NULL },
	{ "b", "break", NULL },
	{ "bt", "bt", NULL },
	{ "c", "continue", NULL },
	{ "d", "down", NULL },
	{ "f", "frame", NULL },
	{ "h", "help", NULL },
	{ "i", "info", NULL },
	{ "k", "kill", NULL },
	{ "p", "print", NULL },
	{ "l", "list", NULL },
	{ "q", "quit", NULL },
	{ "r", "run", NULL },
	{ "s", "save", "\"s\" is \"save\" as long as there is no command to step" },
	{ "si", "stepi", NULL },
	{ "tb", "tbreak", NULL },
	{ "u", "up", NULL },
};

const char *short_form(const char *word)
{
	for (size_t i = 0; i < sizeof(short_forms) / sizeof(*short_forms); i++) {
		if (strcmp(short_forms[i].word, word) == 0)
			return short_forms[i].command;
	}
	return NULL;
}

const char *short_form_note(const char *word)
{
	for (size_t i = 0; i < sizeof(short_forms) / sizeof(*short_forms); i++) {
		if (strcmp(short_forms[i].word, word) == 0)
			return short_forms[i].note;
	}
	return NULL;
}

static const char no_steps[] =
	"asyncdbg steps single instructions only, with \"stepi\"; \"break\" sets a breakpoint";
static const char no_conditions[] = "\"break\" has the options --task and --after";
static const char no_watch[] = "\"break\" sets breakpoints";
static const char no_memory[] = "\"print\" shows values, \"whatis\" what an address belongs to";

static const struct {
	const char *word, *letters; /* letters: its short form, NULL none */
	const char *instead;
} missing[] = {
	{ "catch", NULL, no_watch },
	{ "condition", NULL, no_conditions },
	{ "disassemble", NULL, no_memory },
	{ "finish", "fin", "\"up\" shows the frame that awaits this one" },
	{ "logpoint", NULL, no_watch },
	{ "next", "n", no_steps },
	{ "nexti", "ni", no_steps },
	{ "step", NULL, no_steps },
	{ "until", NULL, no_steps },
	{ "watch", NULL, no_watch },
	{ "x", NULL, no_memory },
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
