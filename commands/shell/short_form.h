/* First words that select a command without being its name or a prefix of it. */
#ifndef COMMANDS_SHELL_SHORT_FORM_H
#define COMMANDS_SHELL_SHORT_FORM_H

#include <stddef.h>

#include "commands/base/words.h"
#include "debugger/base/error.h"

/*
 * The first word of the command that a short form stands for: "check" for "c"; NULL: no short form.
 * Short forms are fixed, so that new commands do not change their meaning.
 */
const char *short_form(const char *word);

/*
 * ERR_USAGE, with the replacement, for a command of other debuggers that asyncdbg does not have, or
 * for its short form. NULL for every other word.
 */
struct error *short_form_missing(const char *word) MUST_CHECK;

/*
 * Start of the format, its slash, in a word that has it without a blank behind the name of a
 * command, as gdb takes it: "x/8xb" and "disassemble/s". NULL: the word is no such name with a
 * format.
 */
const char *short_form_format(const char *word);
/*
 * The words with such a format as a word of its own; words itself where the first one has none. In
 * arena a.
 */
struct words short_form_split(struct arena *a, const struct words *words);

#endif
