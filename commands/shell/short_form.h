/* First words that select a command without being its name or a prefix of it. */
#ifndef COMMANDS_SHELL_SHORT_FORM_H
#define COMMANDS_SHELL_SHORT_FORM_H

#include "debugger/base/error.h"

/*
 * The first word of the command that a short form stands for: "check" for "c"; NULL: no short form.
 * Short forms are fixed, so that new commands do not change their meaning.
 */
const char *short_form(const char *word);
/* A note to print when this short form is used; NULL: none. */
const char *short_form_note(const char *word);

/*
 * ERR_USAGE, with the replacement, for a command of other debuggers that asyncdbg does not have, or
 * for its short form. NULL for every other word.
 */
struct error *short_form_missing(const char *word) MUST_CHECK;

#endif
