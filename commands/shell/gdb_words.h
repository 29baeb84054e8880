/* Commands of gdb for which asyncdbg has another word. */
#ifndef COMMANDS_SHELL_GDB_WORDS_H
#define COMMANDS_SHELL_GDB_WORDS_H

#include "commands/base/words.h"

/* Advice to print for a line that no command takes; NULL: the line is not a gdb command. */
const char *gdb_words_find(const struct words *words);

#endif
