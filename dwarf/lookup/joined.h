/* Code into which other code jumps. */
#ifndef DWARF_LOOKUP_JOINED_H
#define DWARF_LOOKUP_JOINED_H

#include <stdbool.h>
#include <stdint.h>

struct debuginfo;

/*
 * Whether a thread that executes the instruction at from always comes to the one at to, a few
 * instructions later, and others come there that have not executed the one at from: their code, in
 * the same function, jumps in between. Run-time addresses. False where that is not known, as in a
 * build without a disassembler.
 */
bool joined_behind(struct debuginfo *di, uint64_t from, uint64_t to);

#endif
