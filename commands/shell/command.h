/*
 * The table of commands. Look-up, help and completion use it. Command names are words; a user may
 * type any unique prefix of each word, or a short form (short_form.h).
 *
 * To add one: write a `const struct command NAME_command` and its run function in a file of ask/,
 * files/ or another folder of commands, declare it in that folder's header, and list it in
 * command_table (command.c). docs/extending.md has all steps.
 */
#ifndef COMMANDS_SHELL_COMMAND_H
#define COMMANDS_SHELL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/base/call.h"
#include "commands/base/words.h"
#include "debugger/base/error.h"

/* Defined in help.c. */
extern const struct command help_command, quit_command;

/* Every command in the order of help, NULL at the end. */
extern const struct command *const command_table[];

/*
 * Finds the command at the start of words, by unique prefixes of its name's words. *depth: the
 * number of words of its name. ERR_USAGE: unknown (with a suggestion), ambiguous or incomplete
 * (with the candidates).
 */
struct error *command_named(const struct command *const *table, const struct words *words,
                            const struct command **ret, size_t *depth) MUST_CHECK;

/*
 * Finds the command at the start of words, or all commands whose names begin with these words
 * ("async"), in the order of the table. At least one, in arena a. ERR_USAGE as command_named().
 */
struct error *command_family(struct arena *a, const struct command *const *table,
                             const struct words *words, const struct command ***ret, size_t *n)
	MUST_CHECK;

/*
 * Whether a word is the first word of a command, a prefix of one, or a command of other debuggers
 * (short_form_missing()).
 */
bool command_begins_with(const struct command *const *table, const char *word);

/*
 * Parses a command with its arguments and options. The lists are in arena a and point to the words
 * of words. Options may be anywhere after the name, -v anywhere after its first word. Words after
 * `--` are no options. ERR_USAGE as command_named(), and for too many, too few or wrong arguments,
 * and for options that are unknown, lack a value or are repeated.
 */
struct error *command_find(struct arena *a, const struct command *const *table,
                           const struct words *words, struct call *ret) MUST_CHECK;

/*
 * The number of words at the beginning of rest that belong to an option of the command in typed:
 * the option and its values, as far as present. 1: it is an option of another command, or a
 * negative number; 0: it is no option. For parsing the command line, where options of the program
 * may precede those of the command.
 */
size_t command_option_words(const struct command *const *table, const struct words *typed,
                            const struct words *rest);

/*
 * Completion: the words that can follow `before` (complete or abbreviated) and begin with partial,
 * each once, in the order of the table. Options when partial begins with a hyphen. Returns the
 * number of words in *ret (in arena a).
 */
size_t command_complete(struct arena *a, const struct command *const *table,
                        const struct words *before, const char *partial, const char ***ret);

#endif
