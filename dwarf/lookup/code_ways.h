/* The ways that lead through the code of a function to the places of a line. */
#ifndef DWARF_LOOKUP_CODE_WAYS_H
#define DWARF_LOOKUP_CODE_WAYS_H

#include "dwarf/lookup/lookup.h"

/*
 * Whether a thread that executes the instruction at from always comes to the one at to, a few
 * instructions later, and others come there that have not executed the one at from: their code, in
 * the same function, jumps in between. Run-time addresses. False where that is not known, as in a
 * build without a disassembler.
 */
bool code_ways_join(struct debuginfo *di, uint64_t from, uint64_t to);

struct reached_place {
	uint64_t addr;   /* run-time, the begin of an instruction of the function */
	bool is_barrier; /* execution that comes here is followed no further, nothing else */
	bool first;      /* there is a way from the begin of the function, past no other place */
};

/*
 * Finds which of several places execution comes to first, in code that was compiled without
 * optimisation: sets .first. The order of addresses does not tell: rustc (1.95) puts what a line
 * does behind an await, and what unwinding does for it, before the code that makes the awaited
 * future, where that is in the body of a loop, as in `while x { s += f().await }`. A coroutine's
 * poll function is followed as in its first poll. False: the code does not tell.
 */
bool code_ways_first(struct debuginfo *di, const struct function *f, struct reached_place *places,
                     size_t n);

#endif
