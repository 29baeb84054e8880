/*
 * Compressed debug sections claim how large they are; libelf allocates that much and expands them.
 * A file of 19 MB can claim 15 GB, and take 39 s until it turns out to be nothing.
 */
#ifndef DEBUGGER_ELF_CLAIMED_SIZE_H
#define DEBUGGER_ELF_CLAIMED_SIZE_H

#include "debugger/base/arena.h"

struct Elf;

/*
 * Whether the compressed sections of the file may be expanded: all together claim 2 GB at most, and
 * no more than the memory of this machine that is free. NULL, or the reason why not, a clause in a.
 */
const char *claimed_size_problem(struct Elf *elf, struct arena *a);

#endif
