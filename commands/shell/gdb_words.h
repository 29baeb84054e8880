/* What those who know gdb type, where asyncdbg has another word for it. */
#ifndef COMMANDS_SHELL_GDB_WORDS_H
#define COMMANDS_SHELL_GDB_WORDS_H

#include "commands/base/words.h"

/* What to type here instead of a line that no command takes; NULL: the line is none of gdb's. */
const char *gdb_words_find(const struct words *words);

#endif
