/* Where a function keeps its first argument: for a poll function the address of what is polled. */
#ifndef DWARF_LOOKUP_ARGUMENT_PLACE_H
#define DWARF_LOOKUP_ARGUMENT_PLACE_H

#include "dwarf/lookup/lookup.h"

/* The value of a register (DWARF number), or the memory at its sum with an offset. */
struct argument_place {
	unsigned reg;
	bool in_memory;
	int64_t offset; /* in_memory */
};

/*
 * The place of the first formal parameter at a run-time address of the function, past its prologue.
 * False if the debug info does not tell, or if it is more than a register and an offset.
 */
bool argument_place_at(const struct function *f, uint64_t addr, struct argument_place *ret);
/*
 * Whether it is in the frame from the first to the last instruction of the function, as in
 * unoptimised code.
 */
bool argument_place_stays(const struct function *f);

#endif
