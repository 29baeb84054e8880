/* Parses the options of one command. */
#ifndef COMMANDS_SHELL_OPTION_H
#define COMMANDS_SHELL_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/base/call.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* The two spellings of -v. */
extern const char *const option_verbose[2];

/*
 * The words that may have the command's name: those before its first option, without -v. In arena
 * a.
 */
struct words option_words_before(struct arena *a, const struct words *words);

/*
 * Fills args, verbose and options of ret from all words. The first name_words words that are no
 * options are the name of ret->command. Lists are in arena a. ERR_USAGE for an option that is
 * unknown, lacks a value or is repeated.
 */
struct error *option_take_all(struct arena *a, const struct words *words, size_t name_words,
                              struct call *ret) MUST_CHECK;

/* The number of words of the option of the command at the beginning of rest; 0: no such option. */
size_t option_words(const struct command *command, const struct words *rest);

/* Calls found for each option of the command that begins with partial, as "--dot". */
void option_complete(struct arena *a, const struct command *command, const char *partial,
                     void (*found)(const char *word, void *arg), void *arg);

#endif
