/* Words of the first place that mean a command without being its name or a prefix of it. */
#ifndef COMMANDS_SHELL_SHORT_FORM_H
#define COMMANDS_SHELL_SHORT_FORM_H

#include "debugger/base/error.h"

/*
 * The first word of the command that a short form stands for: "check" for "c". NULL: it is none.
 * Short forms are fixed, so that a command that is added later does not change what they mean.
 */
const char *short_form(const char *word);
/* What whoever uses this short form should know; NULL: nothing. */
const char *short_form_note(const char *word);

/*
 * ERR_USAGE for a command of other debuggers that asyncdbg does not have, or its short form: what
 * there is in its place. NULL for every other word.
 */
struct error *short_form_missing(const char *word) MUST_CHECK;

#endif
