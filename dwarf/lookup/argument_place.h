/*
 * Place of a function's first argument, inlined or not: for a poll function the address of what is
 * polled.
 */
#ifndef DWARF_LOOKUP_ARGUMENT_PLACE_H
#define DWARF_LOOKUP_ARGUMENT_PLACE_H

#include <elfutils/libdw.h>

#include "dwarf/lookup/lookup.h"

/* The sum of a register (DWARF number) and an offset, or the memory there. */
struct argument_place {
	unsigned reg;
	bool in_memory;
	int64_t offset;
};

/* The DIE of the first formal parameter of a function, or of an inlined call; false: it has none.
 */
bool argument_place_first_die(Dwarf_Die *function, Dwarf_Die *ret);
/*
 * The place of the first formal parameter at a run-time address of the function, past its prologue.
 * False if the debug info does not tell, or if it is more than a register and an offset.
 */
bool argument_place_at(const struct function *f, uint64_t addr, struct argument_place *ret);
/* argument_place_at() of a function that is inlined into f; site: the DIE of the inlined call. */
bool argument_place_inlined_at(const struct function *f, Dwarf_Off site, uint64_t addr,
                               struct argument_place *ret);
/*
 * The register (DWARF number) that has, where the function is entered, the bytes from offset on of
 * the parameter of that name: a value of two scalars is in two registers, of which an optimising
 * compiler leaves one out if all callers pass the same. False: it is in none, or that is unknown.
 */
bool argument_place_part(const struct function *f, const char *name, uint64_t offset,
                         unsigned *reg);
/*
 * Whether the first formal parameter is in the frame from the first to the last instruction of the
 * function, as in unoptimised code.
 */
bool argument_place_stays(const struct function *f);

#endif
