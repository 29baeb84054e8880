#include "commands/shell/gdb_words.h"

#include <string.h>

/* Rows are in order of precedence: the first one that matches counts. */
static const struct gdb_word {
	const char *line; /* the first words of the line; with a / at its end a part of one */
	const char *here;
} table[] = {
	{ "start", "\"run --stop\" stops where its own code begins, \"break app::main\" in main" },
	{ "where", "\"bt\" shows the stack" },
	{ "bt full", "\"bt\", then \"frame N\" and \"info locals\"" },
	{ "backtrace full", "\"bt\", then \"frame N\" and \"info locals\"" },
	{ "thread apply", "\"bt all\" shows the stacks of all threads" },
	{ "info args", "\"info locals\" has the arguments, too" },
	{ "info frame", "\"frame\" shows the frame, \"info registers\" its registers" },
	{ "info source", "\"list\" names the file" },
	{ "info line", "\"disassemble\" shows the code of a function with its lines" },
	{ "info symbol", "\"whatis ADDR\" says what is at an address" },
	{ "info watchpoints", "\"info breakpoints\" has them, too" },
	{ "info tasks", "\"tasks\"" },
	{ "info display", "nothing is displayed automatically; \"print\" shows a value" },
	{ "info sharedlibrary", "\"whatis ADDR\" names the library of an address" },
	{ "info functions", "\"break NAME\" finds functions by their names" },
	{ "info variables", "\"print NAME\" finds statics by their names" },
	{ "info types", "\"types REGEX\"" },
	{ "info stack", "\"bt\" shows the stack" },
	{ "info proc", "\"info\"" },
	{ "info inferiors", "there is one program; \"info\" shows it" },
	{ "ptype", "\"type NAME\" shows a type, \"print\" that of a value" },
	{ "print/", "\"print\" has no formats; \"x/FMT\" shows memory, of a variable, too" },
	{ "p/", "\"print\" has no formats; \"x/FMT\" shows memory, of a variable, too" },
	{ "display", "nothing is displayed automatically; \"logpoint PLACE 'TEXT {PATH}'\" prints "
	             "at each hit" },
	{ "undisplay", "nothing is displayed automatically" },
	{ "commands", "\"logpoint PLACE 'TEXT {PATH}'\" prints at each hit" },
	{ "ignore", "\"break PLACE --after N\" skips the first N hits" },
	{ "continue", "\"break PLACE --after N\" skips the first N hits" },
	{ "advance", "\"until LINE\", or \"tbreak PLACE\" and \"continue\"" },
	{ "hbreak", "\"run --production\" and \"attach --production\" use hardware breakpoints" },
	{ "thbreak", "\"run --production\" and \"attach --production\" use hardware breakpoints" },
	{ "rbreak", "\"break NAME\" takes a function's name, of any generics" },
	{ "source", "\"-x FILE\" on the command line runs a file of commands" },
	{ "shell", "\"!COMMAND\" at the prompt" },
	{ "set args", "\"run -- PROGRAM ARGUMENT...\" starts it with arguments" },
	{ "set print", "\"info locals\" and \"print\" have a single form; --json has everything" },
	{ "set substitute-path", "\"set source-map FROM=TO\"" },
	{ "show", "\"help\" lists what there is" },
	{ "apropos", "\"help\" lists what there is" },
	{ "file", "\"run -- PROGRAM\" starts a program" },
	{ "core", "\"asyncdbg -c CORE\" opens a core" },
	{ "core-file", "\"asyncdbg -c CORE\" opens a core" },
	{ "gcore", "\"save -o FILE\" keeps all answers of this moment" },
	{ "generate-core-file", "\"save -o FILE\" keeps all answers of this moment" },
	{ "return", "a function cannot be left before it returns; \"finish\" runs until it does" },
	{ "jump", "a coroutine's drop flags and state would not fit another line" },
	{ "call", "asyncdbg never calls the program's functions; \"print\" reads memory" },
	{ "select-frame", "\"frame N\"" },
};

/* Whether the words begin with those of the line. */
static bool gdb_words_begins(const struct words *words, const char *line)
{
	for (size_t i = 0; *line; i++) {
		size_t len = strcspn(line, " ");
		bool part = line[len - 1] == '/';

		if (i >= words->n || strncmp(words->word[i], line, len) != 0 ||
		    (!part && words->word[i][len]))
			return false;
		line += len + strspn(line + len, " ");
	}
	return true;
}

const char *gdb_words_find(const struct words *words)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (gdb_words_begins(words, table[i].line))
			return table[i].here;
	}
	return NULL;
}
