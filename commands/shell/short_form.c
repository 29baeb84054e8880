#include "commands/shell/short_form.h"

#include <string.h>

static const struct {
	const char *word, *command, *note;
} short_forms[] = {
	{ "a", "async", NULL },
	{ "b", "bt", NULL },
	{ "c", "check", NULL },
	{ "d", "down", NULL },
	{ "f", "frame", NULL },
	{ "h", "help", NULL },
	{ "i", "info", NULL },
	{ "p", "print", NULL },
	{ "q", "quit", NULL },
	{ "s", "save", "\"s\" is \"save\" as long as there is no command to step" },
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

static const char no_steps[] = "asyncdbg does not step; \"diff --interval 1s\" shows what moves";
static const char no_breakpoints[] =
	"asyncdbg sets no breakpoints; \"async backtrace all\" shows where every task is";
static const char no_memory[] = "\"print\" shows values, \"whatis\" what an address belongs to";

static const struct {
	const char *word, *letters; /* letters: its short form, NULL none */
	const char *instead;
} missing[] = {
	{ "attach", NULL, "the process is named at the start, with -p PID" },
	{ "break", NULL, no_breakpoints },
	{ "catch", NULL, no_breakpoints },
	{ "condition", NULL, no_breakpoints },
	{ "delete", NULL, no_breakpoints },
	{ "disable", NULL, no_breakpoints },
	{ "disassemble", NULL, no_memory },
	{ "enable", NULL, no_breakpoints },
	{ "finish", "fin", "asyncdbg does not step; \"up\" shows the frame that awaits this one" },
	{ "kill", "k", "asyncdbg ends no process; \"quit\" lets it run on" },
	{ "list", "l", "\"frame\" shows the file and line, \"locals\" the variables" },
	{ "logpoint", NULL, no_breakpoints },
	{ "next", "n", no_steps },
	{ "nexti", "ni", no_steps },
	{ "run", "r", "only guard runs a program; start it and name it with -p PID" },
	{ "step", NULL, no_steps },
	{ "stepi", "si", no_steps },
	{ "tbreak", "tb", no_breakpoints },
	{ "until", NULL, no_steps },
	{ "watch", NULL, no_breakpoints },
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
