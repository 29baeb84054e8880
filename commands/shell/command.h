/*
 * The commands a user can type, as a table. Look-up, help and completion all come from it. Command
 * names are words; a user may type any unique prefix of each, or a short form (short_form.h).
 *
 * To add one: write a `const struct command NAME_command` and its run function in a file of ask/,
 * files/ or another folder of commands, declare it in that folder's header, and list it in
 * command_table (command.c). CONTRIBUTING.md has all steps.
 */
#ifndef COMMANDS_SHELL_COMMAND_H
#define COMMANDS_SHELL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/base/call.h"
#include "commands/base/words.h"
#include "debugger/base/error.h"

/* Of help.c. */
extern const struct command help_command, quit_command;

/* Every command in the order of help, NULL at the end. */
extern const struct command *const command_table[];

/*
 * The command of a table that words begin with, by unique prefixes of its words; its name took
 * *depth of them. ERR_USAGE: unknown (with a suggestion), ambiguous or incomplete (with the
 * candidates).
 */
struct error *command_named(const struct command *const *table, const struct words *words,
                            const struct command **ret, size_t *depth) MUST_CHECK;

/*
 * The command that words begin with, or all whose names begin with what the words mean ("async"),
 * in the order of the table; at least one, in arena a. ERR_USAGE as command_named().
 */
struct error *command_family(struct arena *a, const struct command *const *table,
                             const struct words *words, const struct command ***ret, size_t *n)
	MUST_CHECK;

/* Whether a word alone is the first one of a command, a prefix of some, or one that is missing. */
bool command_begins_with(const struct command *const *table, const char *word);

/*
 * The same with its arguments and options; the lists are in arena a, their words are those of
 * words. Options may stand anywhere behind the name, -v behind its first word; what follows `--`
 * is no option. ERR_USAGE also for too many, too few or wrong arguments, for an option that it
 * does not take, that lacks its value or is given too often.
 */
struct error *command_find(struct arena *a, const struct command *const *table,
                           const struct words *words, struct call *ret) MUST_CHECK;

/*
 * How many words at the beginning of rest belong to an option of the command that typed begins
 * with: the option, and its values as far as they are there; 1: it is one of another command; 0:
 * rest begins with none. For what reads the words of a shell, where options of the program stand
 * among them.
 */
size_t command_option_words(const struct command *const *table, const struct words *typed,
                            const struct words *rest);

/*
 * The words that can follow `before` (complete or abbreviated) and begin with partial, each
 * once, in the order of the table; options where partial begins with a hyphen. Returns how many of
 * them *ret (in arena a) has.
 */
size_t command_complete(struct arena *a, const struct command *const *table,
                        const struct words *before, const char *partial, const char ***ret);

#endif
