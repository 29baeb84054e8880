/* The options of one command among the words that were typed. */
#ifndef COMMANDS_SHELL_OPTION_H
#define COMMANDS_SHELL_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/base/call.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* Of -v: two spellings. */
extern const char *const option_verbose[2];

/*
 * The words in which a command's name can be: those before the first option of its own, without
 * -v. In arena a.
 */
struct words option_words_before(struct arena *a, const struct words *words);

/*
 * Fills args, verbose and options of ret from all words, the first name_words of which that are no
 * option are the name of ret->command. Lists are in arena a. ERR_USAGE for an option that it
 * does not have, that lacks its value or is given too often.
 */
struct error *option_take_all(struct arena *a, const struct words *words, size_t name_words,
                              struct call *ret) MUST_CHECK;

/* How many words the option of that command takes with which rest begins; 0: it is none. */
size_t option_words(const struct command *command, const struct words *rest);

/* Calls found with each option of the command that begins with partial: "--dot". */
void option_complete(struct arena *a, const struct command *command, const char *partial,
                     void (*found)(const char *word, void *arg), void *arg);

#endif
