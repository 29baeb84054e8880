/* Completion at the prompt: commands, options, values, paths of variables and places in code. */
#ifndef COMMANDS_SHELL_PROMPT_COMPLETE_H
#define COMMANDS_SHELL_PROMPT_COMPLETE_H

#include "commands/base/session.h"

/* libedit's callback has no argument: the session until prompt_complete_end(). */
void prompt_complete_begin(struct session *s);
void prompt_complete_end(void);

/* Completions of the word from start on, for rl_attempted_completion_function; for free(). */
char **prompt_complete(const char *text, int start, int end);

#endif
